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
    is_of_reader,
    preceding,
    sentence_start,
    takes_back,
)
from sayso.infer.grammar import ADVERBS, AFTERMATH, ALSO_NOUNS, CLOSED, CONSEQUENCES, TAKERS
from sayso.infer.lexicon import KINDS, verb_of
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
    text = _NAME.sub(_named, _VARIABLE.sub("value", text))
    text = _ABBREVIATED.sub(",", _CAMEL.sub("_", text).lower())
    text = _QUOTES.sub("", _MAIL.sub("email", text))
    own_name = name.lower()
    text = _OTHER_TOOL.sub(lambda match: match[0] if match["tool"] == own_name else "", text)
    tokens = _TOKEN.findall(text)
    words: dict[Kind, list[str]] = {"doubt": [], "unsure": [], "writes": []}
    orders: list[str] = []
    idiom = _PERIL.search(text) or _FINAL.search(text)
    if thing := figurative(tokens):
        words["doubt"].append(thing)
    for index, word, kind in _judged(tokens):
        words[kind].append(word)
        if kind in ("writes", "unsure") and _is_order(tokens, index):
            orders.append(word)
    return Reading(
        is_english(tokens) and not is_scrambled(text),
        next(iter(words["doubt"]), None),
        next(iter(words["unsure"]), None),
        tuple(words["writes"]),
        tuple(orders),
        bool(idiom or _DENIAL.search(text) or _MORE.search(text) or _SIDE.search(text)),
        _loss(tokens) if idiom is None else idiom[0],
    )


def _loss(tokens: list[str]) -> str | None:
    for index, word in enumerate(tokens):
        if is_loss(word) and not is_negated(tokens, index) and not is_of_reader(tokens, index):
            return word
    return None


def _named(match: re.Match[str]) -> str:
    """Replace a capitalized word, which is a name, unless it is English."""
    word = _CAMEL.sub("_", match[0]).lower()
    if is_known(word) or any(map(only_writes, word.split("_"))):
        return match[0]
    return "value"


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
            if kind != "pass":
                yield index, word, kind
        first = first and word not in ".\n"


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
