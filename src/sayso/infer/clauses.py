"""Clause analysis: checks that every possible action in a text is a known read.

Unknown words weigh nothing in the model. Here they count against a read: a word in a verb's place
that is not certainly a read makes the whole text unsure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from unicodedata import normalize

from sayso.infer.context import (
    BREAKS,
    ENDS,
    denies_keeping,
    following,
    is_main_verb,
    is_nominal,
    is_of_reader,
    preceding,
    sentence_start,
    takes_back,
)
from sayso.infer.features import parts_of
from sayso.infer.grammar import (
    ADVERBS,
    AFTERMATH,
    ALSO_NOUNS,
    BE,
    CLOSED,
    CONSEQUENCES,
    DETERMINERS,
    OBJECTS,
    TAKERS,
)
from sayso.infer.lexicon import KINDS, SURELY_READ, verb_of
from sayso.infer.losses import is_loss
from sayso.infer.predicates import figurative
from sayso.infer.script import (
    is_english,
    is_known,
    is_participle,
    is_plain,
    is_scrambled,
    is_stative,
    is_verb,
)
from sayso.infer.verdict import JOINING, LASTING, LOSING, Kind, is_negated, judge, only_writes

MAX_TEXT_CHARACTERS: Final = 20_000
"""Longer texts are never certain."""

_TOKEN: Final = re.compile(r"\w+(?:['’-]\w+)*|->|[^\w\s]|\n")
_ABBREVIATED: Final = re.compile(r"\b(?:e\.g\.|i\.e\.|etc\.|vs\.)")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z]\w+")
"""A capitalized word within a sentence."""
_WRAPPED: Final = re.compile(
    r"(?<=[^\n.:;!?]{30})[ \t]*\n[ \t]*(?=[`'\"]?[a-z]\w*[`'\"]?[ ,.;)\n](?! *[:=]))"
)
"""The end of a line in the middle of a sentence."""
_ACRONYM: Final = re.compile(r"(?<![A-Z] )\bIT\b(?! [A-Z]{2})")
_STATES_SEEN: Final = frozenset(
    {"read", "seen", "viewed", "opened", "delivered", "acknowledged", "processed", "consumed"}
    | {"used"}
)
_PLACES: Final = frozenset(
    {"disk", "file", "files", "folder", "directory", "path", "filesystem", "machine", "workspace"}
)
_READS: Final = ("read", "safe", "harmless", "passive", "inspection", "query")
"""A denial of a read has one of these."""
_ONLY: Final = ("only", "just", "merely", "simply", "solely")
_NOTHING: Final = frozenset({"no", "nothing", "none"})
_TAKES: Final = re.compile(
    r" (?:it|them|the|this|that|these|those|all|any|each|every|its|their|his|her|my|our|your"
    r"|an?)\b",
    re.IGNORECASE,
)
_MAIL: Final = re.compile(r"\be-mail")
_VARIABLE: Final = re.compile(r"[$@%]\w[\w.-]*|\bhttps?://[^\s\"'`)]+")
"""Placeholders and URLs."""
_QUOTES: Final = re.compile(r"[`\"“”*]|(?<!\w)['\u2018]|['’](?:s\b)?(?!\w)")
_OTHER_TOOL: Final = re.compile(
    r"(?:^|(?<=[.;:,(]\s)|(?<=\n))(?:to|for|if|when) [^.;:\n]{0,120}?"
    r"\b(?:use|call|see|prefer|try) (?:the )?[`'\"]?(?P<tool>[a-z0-9]+(?:[_.-][a-z0-9]+)+)[`'\"]?"
    r"(?: tool)?(?: instead)?"
)
"""A clause that recommends another tool by name."""
_DENIAL: Final = re.compile(
    r"\b(?:not|non|never|isn['’]?t|hardly|barely|neither|anything but|far from|rather than"
    r"|instead of|other than|more than|besides|beyond|no longer|false|untrue|no)\b"
    r"[\s:–-]*(?:(?:an?|strictly|necessarily|really|be|called|considered|the|just|only|merely)"
    r"[\s-]+){0,3}[\"'“`]*(?:read(?:s|ing)?(?:[- ]?only)?|safe|harmless|passive|inspection|query)\b"
    r"|\b(?:wrong|incorrect|inaccurate|mistake\w*|mislead\w*|mislabel\w*)\b[^.\n]{0,60}\bread"
    r"|\bunsafe\b|\bun-?read-?only\b"
)
_CLAIM: Final = re.compile(
    r"(?:^|[.;:(\n]\s*|\b(?:is|are|strictly|purely) )read[- ]only\b"
    r"(?!\?)(?! (?:access|mode|user|role))"
)
"""The statement that a tool only reads."""
_MORE: Final = re.compile(
    r"\b(?:not|n['’]t|never|more than|cannot)\b[\s-]*(?:\w+\s){0,2}?"
    r"(?:just|only|merely|simply|solely)\b(?!\s+(?:the|when|if|by|in|with|supported)\b)"
)
_PERIL: Final = re.compile(
    r"\bdata loss\b|\bloss of (?:the |all )?(?:data|matches|records|rows)\b|\bdanger(?:ous)?\b"
    r"|\bno (?:way|going|turning) back\b|\birreversibl[ey]\b|/dev/null\b"
    r"|:(?:wastebasket|trash\w*|put_litter\w*|bomb|fire|scissors|no_entry\w*|skull\w*):"
    r"|\bleaves? (?:the|its|their) (?:queue|list|inbox|stack|pool|server|system)\b"
    r"|\b(?:becomes?|goes|go|turns?|rendered|is|are) (?:then |thereby |thereafter )?"
    r"(?:invalid|void|unusable|unreadable|unrecoverable|inaccessible)(?: (?:then|afterwards?|"
    r"thereafter|after)\b)"
    r"|\b(?:becomes?|go(?:es)?|turns?|rendered) (?:invalid|void|unusable|unrecoverable|"
    r"inaccessible|obsolete)\b|\bstops? working\b"
)
"""Idioms for a loss."""
_FINAL: Final = re.compile(
    r"\b(?:is|are|be|gets?|was|were) (?:gone|lost|wasted)\b"
    r"|\b(?:for good|for ?ever|once and for all|(?:for the|one) last time|never again)\b"
    r"|\b(?:irretrievabl|irrecoverabl|irrevocabl|unrecoverabl)[ey]\b|\bpermanently\b"
    r"|\bno longer (?:exists?|there)\b|\b(?:clean|blank) slate\b|\bgood as new\b"
    r"|\bstart(?:s|ed|ing)? (?:over|afresh|anew|from scratch)\b"
    r"|\b(?:make|makes|making) (?:way|room|space)\b|\b(?:say|wave)s? (?:good-?bye|farewell)\b"
    r"|\b(?:cannot|can't|can not|never|impossible to) (?:be |get )?(?:\w+ )?(?:back|undone)\b"
    r"|\b(?:without|leav\w+ no) (?:a |any )?trace\b|\blocked out\b"
    r"|\b(?:goes?|tak(?:es?|en|ing)) (?:\w+ ){0,3}(?:offline|down|away)\b"
    r"|\b(?:goes?|put|puts|moved?|moves|ends? up|sent|drops?|throws?|thrown) (?:\w+ ){0,3}"
    r"(?:bin|trash|dustbin|shredder|wastebasket|garbage|landfill|scrapheap)\b"
)
"""Phrases for a permanent change, or for a final place."""
_SEEN: Final = re.compile(
    r"(?<!not )(?<!n't )(?<!never )(?<!without )(?<!that )(?<!which )(?<!who )"
    r"\b(?:(?:mark|count|flag|set|turn)(?:s|ting|ing)?|(?:is|are|be|gets?|been) (?:\w+ ){0,2}?"
    r"(?:marked|counted|flagged|set|considered)) (?:[\w']+ ){0,4}?(?:as|to) (?:\w+ )?"
    r"(?:read|seen|viewed|opened|delivered|acknowledged|processed|consumed|used)\b(?![- ]?only)"
)
"""A change of what counts as seen. That nothing is marked is no change."""
_KEEPS_COPY: Final = re.compile(
    r"(?<!not )(?<!never )(?<!without )(?<!that )(?<!which )"
    r"\b(?:(?:download|export|capture|dump|render|generate)(?:s|ing)?|(?:is|are|be|gets?) "
    r"(?:downloaded|exported|captured|dumped|rendered|saved|written|stored|copied))\b"
    r"[^.;\n]{0,60}?\b(?:to|in|into|on|under) (?:(?!memory\b)\w+ ){0,4}?"
    r"(?:disk|files?|folder|directory|path|filesystem|machine|workspace)\b"
)
"""A copy that is kept where the server runs."""
_SIDE: Final = re.compile(r"(?<!no )(?<!without )(?<!without any )\bside[- ]?effects?\b")


@dataclass(frozen=True, slots=True)
class Reading:
    """The analysis of one text.

    `is_readable` is false for another script or language. `doubt` is the first word that is hardly
    an action, but not certainly none. `unsure` is the first word that may be an action other than a
    read. `writes` are verbs that write, in a verb's place; `orders` are certainly the tool's own
    action. `denies`: the text denies that the tool only reads. `loss` is a word or idiom of loss.
    """

    is_readable: bool = True
    doubt: str | None = None
    unsure: str | None = None
    writes: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    denies: bool = False
    loss: str | None = None

    @property
    def may_read(self) -> bool:
        """True if nothing contradicts a read."""
        is_write = self.unsure is not None or self.writes or self.denies or self.loss is not None
        return self.is_readable and not is_write

    @property
    def is_certain(self) -> bool:
        """True if every word is known and every action is a read."""
        return self.may_read and self.doubt is None


@lru_cache(maxsize=1024)
def reading(text: str, name: str = "") -> Reading:
    """Analyze the clauses of a text; `name` is the name of its own tool.

    >>> reading("Show the queue and purge what is stale.").writes
    ('purge',)
    >>> reading("Look up the voucher, then void it.").unsure
    'void'
    """
    text = normalize("NFKC", text)
    if len(text) > MAX_TEXT_CHARACTERS or not is_plain(text):
        return Reading(is_readable=False)
    if "\n" in text:
        text = _WRAPPED.sub(" ", text)
    if "IT" in text:
        text = _ACRONYM.sub("value", text)
    text = _NAME.sub(_named, _without_product(_VARIABLE.sub("value", text), name))
    text = _ABBREVIATED.sub(",", _CAMEL.sub("_", text).lower())
    if "e-mail" in text:
        text = _MAIL.sub("email", text)
    text = _QUOTES.sub("", text)
    own_name = name.lower()
    text = _OTHER_TOOL.sub(lambda match: match[0] if match["tool"] == own_name else "", text)
    tokens = _TOKEN.findall(text)
    words: dict[Kind, list[str]] = {"doubt": [], "unsure": [], "writes": []}
    orders: list[str] = []
    idiom = _PERIL.search(text) or _FINAL.search(text)
    words["unsure"] += _changes(text, tokens)
    if thing := figurative(tokens):
        words["doubt"].append(thing)
    says_it_reads = "read" in text and bool(_CLAIM.search(text))
    for index, word, kind in _judged(tokens):
        is_order = kind in ("writes", "unsure") and _is_order(tokens, index)
        if is_order:
            orders.append(word)
        elif says_it_reads and _is_mild(word):
            kind = "doubt"  # noqa: PLW2901 - the text itself excludes that the word is an action
        words[kind].append(word)
    return Reading(
        is_english(tokens) and not is_scrambled(text),
        next(iter(words["doubt"]), None),
        next(iter(words["unsure"]), None),
        tuple(words["writes"]),
        tuple(orders),
        bool(idiom) or _denies(text),
        _loss(tokens) if idiom is None else idiom[0],
    )


def _denies(text: str) -> bool:
    """Return whether a text denies that the tool only reads; a word rules most patterns out."""
    tried = ((_DENIAL, _READS), (_MORE, _ONLY), (_SIDE, ("effect",)))
    return any(
        any(word in text for word in words) and pattern.search(text) is not None
        for pattern, words in tried
    )


def _changes(text: str, tokens: list[str]) -> Iterator[str]:
    """Yield phrases that say that something counts as seen, or that a copy is kept."""
    for words, pattern in ((_STATES_SEEN, _SEEN), (_PLACES, _KEEPS_COPY)):
        change = None if words.isdisjoint(tokens) else pattern.search(text)
        if change is not None:
            start = text[: change.start()].rpartition(".")[2]
            if _NOTHING.isdisjoint(start.split()):
                yield change[0]


def _is_mild(word: str) -> bool:
    """Return whether a word is at worst a write that loses and sends nothing."""
    verb = verb_of(word)
    return (
        not is_loss(word)
        and not is_nominal(word)
        and (verb is None or LASTING.isdisjoint(KINDS[verb]))
    )


def _loss(tokens: list[str]) -> str | None:
    for index, word in enumerate(tokens):
        if is_loss(word) and not is_negated(tokens, index) and not is_of_reader(tokens, index):
            return word
    return None


def _named(match: re.Match[str]) -> str:
    """Replace a capitalized word, which is a name, unless it is English.

    A dictionary verb without an object is a name too: `messages of the Slack channel`.
    """
    word = _CAMEL.sub("_", match[0]).lower()
    if any(map(only_writes, word.split("_"))) or is_loss(word):
        return match[0]
    has_object = _TAKES.match(match.string, match.end()) is not None
    if is_known(word) and (has_object or not _is_only_in_dictionary(word)):
        return match[0]
    return "value"


def _without_product(text: str, name: str) -> str:
    """Replace the product that a tool's name begins with: `Brave Search` in `brave_web_search`."""
    first, *others = parts_of(name) or [""]
    ends = {*others[:1], *others[-1:]}
    if not _is_only_in_dictionary(first) or is_loss(first) or SURELY_READ.isdisjoint(ends):
        return text
    return re.sub(rf"\b{first.capitalize()}\b", "value", text)


def _is_only_in_dictionary(word: str) -> bool:
    return is_verb(word) and verb_of(word) is None and not is_stative(word)


def _judged(tokens: list[str]) -> Iterator[tuple[int, str, Kind]]:
    first = True
    for index, word in enumerate(tokens):
        is_bad = word in CONSEQUENCES or tokens[index : index + 2] == ["no", "longer"]
        if is_bad or denies_keeping(tokens, index):
            yield index, word, "unsure"
        elif word in AFTERMATH:
            if tokens[index + 1 : index + 2] != ["of"] and takes_back(tokens, index):
                yield index, word, "doubt"
        elif word[0].isalnum() and not word.isdigit() and word not in CLOSED:
            kind = judge(tokens, index)
            if kind == "writes" and not first and not _is_lasting(tokens, index):
                kind = "doubt"
            if kind in ("unsure", "writes") and not first and _is_aside(tokens, index):
                kind = "doubt"
            if kind != "pass":
                yield index, word, kind
        first = first and word not in ".\n"


def _is_aside(tokens: list[str], index: int) -> bool:
    """Return whether a word of a later sentence is hardly what the tool does.

    It is an order to the reader (`Lists the notes. Confirm the choice.`), or a verb without an
    object in the middle of a sentence. An effect has an object, a passive or a sentence of its own.
    """
    word = tokens[index]
    verb = verb_of(word)
    if is_loss(word) or is_nominal(word) or (verb is not None and KINDS[verb] == ("destroy",)):
        return False
    if _is_to_reader(tokens, index):
        return True
    if verb is not None and not LASTING.isdisjoint(KINDS[verb]):
        return False
    before = preceding(tokens, index)
    after = following(tokens, index)
    if before in _PURPOSES and after not in OBJECTS - DETERMINERS:
        return True
    return (
        after not in TAKERS
        and not is_main_verb(tokens, index)
        and before not in BE
        and before not in BREAKS
        and before not in JOINING
    )


_PURPOSES: Final = frozenset({"to", "can", "could", "may", "for"})


def _is_to_reader(tokens: list[str], index: int) -> bool:
    """Return whether a sentence has the imperative, and the first sentence has not."""
    start = sentence_start(tokens, index)
    while start < index and (tokens[start] in ADVERBS or tokens[start] in BREAKS):
        start += 1
    says_it_itself = tokens[0].endswith("s") and verb_of(tokens[0]) is not None
    head = tokens[start]
    is_imperative = (verb_of(head) == head or is_verb(head)) and not head.endswith("s")
    return says_it_itself and is_imperative and not is_participle(head)


def _is_order(tokens: list[str], index: int) -> bool:
    """Return whether a verb is certainly the tool's own action, and loses or sends data.

    The verb starts a sentence, or is joined to one that does: `Compare and overwrite.` An unknown
    verb must be joined and have an object: `then void it`.
    """
    start = sentence_start(tokens, index)
    while start < index and (tokens[start] in ADVERBS or tokens[start] in BREAKS):
        start += 1
    word = tokens[index]
    head = tokens[start]
    if is_participle(word) or word.endswith("ing") or word.endswith("s") != head.endswith("s"):
        return False
    verb = verb_of(word)
    takes = following(tokens, index) in TAKERS
    if start < index:
        joined = preceding(tokens, index) in JOINING or tokens[index - 1] == "then"
        if not joined or not (verb_of(head) or is_stative(head)):
            return False
        if takes:
            return verb is not None or is_verb(word)
    if verb is None or verb in ALSO_NOUNS or LOSING.isdisjoint(KINDS[verb]):
        return False
    # After another sentence `delete` may start a compound noun; `deletes` cannot.
    surely = word != verb and KINDS[verb] == ("destroy",)
    return takes or start < index or surely or ENDS.isdisjoint(tokens[:index])


def _is_lasting(tokens: list[str], index: int) -> bool:
    """Return whether a write in a later sentence is real, unlike `Set x=1 to see all`."""
    verb = verb_of(tokens[index])
    return verb is None or following(tokens, index) in TAKERS or not LASTING.isdisjoint(KINDS[verb])
