"""Features of one tool, each with the place where it was found.

Words count by position, not as substrings: the verb of `delete-list-item` is *delete*, that of
`memory.show` is *show*. The server's name is not a feature.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice, repeat
from typing import Any, Final, NamedTuple

from sayso.infer.cues import CUES
from sayso.infer.lexicon import KINDS, NOUNS, READS, verb_of
from sayso.schema import list_of, object_of, text_of

_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WORD: Final = re.compile(r"[a-z]+(?:['’-][a-z]+)*")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_OTHER: Final = re.compile(r"\b(?:instead|prefer|sibling|use this|see also)\b|\buse `")
"""Words of sentences about other tools, which are ignored."""
_NEGATED: Final = re.compile(
    r"\b(?:not|non|isn['’]t|never)[\s-]+(?:(?:an?|strictly|necessarily)\s+)?\Z"
)
"""A negation before a cue."""
_PURPOSE: Final = re.compile(r"\bto (?:be )?([a-z]+)")
_OUTPUT: Final = re.compile(
    r"(?:output|save|dest|target|new|to)?_?(?:file_?(?:name|path)?|path|dest\w*|out\w*)",
    re.IGNORECASE,
)
_PLACES: Final = frozenset(
    "destination dir directory file filename folder location out output path target".split()
)
_SAVES: Final = re.compile(
    r"\b(?:(?:to|will be|is|are|be) (?:saved?|write|written|stored?|downloaded|exported|dumped)"
    r"|(?:save|write|store)s?|(?:to|for) (?:the )?(?:saved?|downloaded|exported))\b"
)
_NAMING: Final = re.compile(r".*(?:id|name|key|slug)", re.IGNORECASE | re.DOTALL)

_CODE: Final = frozenset(
    """
    args cmd code command cypher expression function javascript program script shell sql
    """.split()
)
_QUERIES: Final = frozenset({"query", "queries", "sql", "statement", "statements"})
_BODY: Final = frozenset(
    """
    body config configuration content data definition document fields html items manifest
    payload properties rules spec text value values
    """.split()
)
_PAGING: Final = frozenset(
    """
    after before count cursor expand fields filter filters include limit offset order orderby
    page q query search select since size skip sort top until
    """.split()
)

_FIRST: Final = ("d0k:", "dv:")
_JOINED: Final = ("c:replaces", "c:changes a part", "c:live", "c:people", "c:saves", "px:")

MAX_TEXT_CHARACTERS: Final = 1_500
"""The rest of a longer description is not read; the beginning says what the tool does."""
_MAX_SENTENCE: Final = 300
_MAX_WORDS: Final = 40
_MAX_PARTS: Final = 16
_MAX_PARAMETERS: Final = 40
_MAX_VALUES: Final = 20

Features = dict[str, tuple[str, ...]]
"""The features of a tool, each with the kind of place and the text there."""


class Lead(NamedTuple):
    """The verb of a name, with its position among the words and its kinds."""

    place: int
    verb: str
    kinds: tuple[str, ...]


def parts_of(name: str) -> list[str]:
    """Return the lower-case words of a name in any spelling, at most sixteen."""
    return list(_parts(name[:256]))


@lru_cache(maxsize=4096)
def _parts(name: str) -> tuple[str, ...]:
    return tuple(map(str.lower, _PART.findall(name)[:_MAX_PARTS]))


def lead_of(parts: list[str]) -> Lead | None:
    """Return the verb of a name: its first word, else the second, after a prefix, else the last.

    If the first word is often a noun, use the next sure verb: `note_delete`. After a noun that may
    also be a read, use only the last word: `report_delete`, but not `list_merge_requests`.
    """
    verbs = [
        Lead(index, verb, KINDS[verb])
        for index, part in enumerate(parts)
        if (verb := verb_of(part))
    ]
    if not verbs:
        return None
    first = verbs[0]
    if first.verb in NOUNS:
        may_read = not READS.isdisjoint(first.kinds)
        for lead in verbs[1:]:
            is_last = lead.place == len(parts) - 1
            if parts[lead.place] == lead.verb not in NOUNS and (is_last or not may_read):
                return lead
    if first.place <= 1:
        return first
    return verbs[-1]


def features(tool: Mapping[str, Any]) -> Features:
    """Return all features of `tool`, an entry of `tools/list`; ignore values of a wrong type."""
    found: Features = {}
    parts = parts_of(text_of(tool.get("name")))
    _from_name(parts, found)
    _from_title(text_of(tool.get("title")), parts, found)
    _from_description(text_of(tool.get("description")), found)
    _from_schema(tool.get("inputSchema"), found)
    _join(lead_of(parts), found)
    _join_object(parts, found)
    return found


def _join(lead: Lead | None, found: Features) -> None:
    """Add features joined with the verb's kind: a file name means more if the verb saves."""
    if lead is None:
        return
    joined = [feature for feature in found if feature.startswith(_JOINED)]
    for kind in lead.kinds:
        for feature in joined:
            found[f"{kind}+{feature}"] = found[feature]


def _join_object(parts: list[str], found: Features) -> None:
    """Add the object of the name's verb, with the verb's kind: removing a label loses little.

    A name without a verb leaves the verb to the description.
    """
    lead = lead_of(parts)
    if lead is None:
        for name in [name for name in found if name.startswith(_FIRST)]:
            found[f"v:none+{name}"] = found[name]
        return
    words = [part for place, part in enumerate(parts) if place != lead.place]
    if words:
        for kind in lead.kinds:
            found[f"vo:{kind}+{words[-1]}"] = ("name", words[-1])


def _from_name(parts: list[str], found: Features) -> None:
    if not parts:
        return
    for part in parts:
        found[f"n:{part}"] = ("name", part)
    found[f"nf:{parts[0]}"] = ("name", parts[0])
    found[f"nl:{parts[-1]}"] = ("name", parts[-1])
    lead = lead_of(parts)
    if lead is None:
        found["v:none"] = ("no verb",)
        return
    _from_lead(lead, parts, found)
    for index, part in enumerate(parts):
        if index != lead.place:
            for kind in _kinds(part):
                found[f"v2:{kind}"] = ("name", part)


def _from_lead(lead: Lead, parts: list[str], found: Features) -> None:
    last = len(parts) - 1
    place = {0: "0", 1: "1", last: "e"}.get(lead.place, "m")
    where = {"0": "starts", "e": "ends"}.get(place, "goes on")
    origin = (where, parts[lead.place])
    found[f"v:{lead.verb}"] = found[f"vp:{place}"] = found[f"n:{origin[1]}"] = origin
    for zone, index in (("nf", 0), ("nl", last)):
        if index == lead.place:
            found[f"{zone}:{origin[1]}"] = origin
    if len(lead.kinds) == 1:
        found[f"vk1:{lead.kinds[0]}"] = origin
    number = "P" if parts[-1].endswith("s") else "S"
    for kind in lead.kinds:
        found[f"vk:{kind}"] = found[f"vkp:{kind}{place}"] = origin
        if lead.place < last:
            found[f"vn:{kind}{number}"] = origin
    if lead.place == last:
        found["vonly"] = origin
    elif number == "P":
        found["plural"] = ("name", parts[-1])
    else:
        found["sing"] = ("name", parts[-1])


def _from_title(title: str, parts: list[str], found: Features) -> None:
    words = parts_of(title)[:10]
    if not words or words == parts:
        return
    for word in words:
        found[f"t:{word}"] = ("title", word)
    for kind in _kinds(words[0]):
        found[f"tk:{kind}"] = ("title", words[0])


def _kinds(word: str) -> tuple[str, ...]:
    return KINDS.get(verb_of(word) or "", ())


def _from_description(description: str, found: Features) -> None:
    found[f"dl:{min(6, len(description) // 100)}"] = ("length",)
    text = description[:MAX_TEXT_CHARACTERS].lower().strip(" #*-\n")
    sentences = [part for part in _SENTENCE.split(text) if part and not _OTHER.search(part)]
    if not sentences:
        return
    _from_first(sentences[0][:_MAX_SENTENCE], found)
    for index, sentence in enumerate(sentences):
        start = _WORD.search(sentence)
        if start and (verb := verb_of(start.group())):
            origin = ("sentence" if index else "begins", start.group())
            for name in (f"dsl:{verb}", *(f"ds:{kind}" for kind in KINDS[verb])):
                found.setdefault(name, origin)
    starts = [name for name in found if name.startswith("ds:")]
    if starts:
        found["ds+:" + ("reads" if all(name[3:] in READS for name in starts) else "mixed")] = (
            "starts of sentences",
        )
    _from_cues(" ".join(sentences), found)


def _from_first(sentence: str, found: Features) -> None:
    """Add features of the first sentence, which says what the tool does."""
    words = _WORD.findall(sentence)[:_MAX_WORDS]
    zones = (("begins", "d0k"), *repeat(("description", "dxk"), 2))
    before = ""
    for word, (place, zone) in zip(
        words, chain(zones, repeat(("description", "dr"))), strict=False
    ):
        found[f"d:{word}"] = ("description", word)
        if before:
            found[f"db:{before}_{word}"] = ("description", f"{before} {word}")
        before = word
        for kind in _kinds(word):
            found[f"{zone}:{kind}"] = (place, word)
    if words:
        found[f"d0:{verb_of(words[0]) or 'none'}"] = ("begins", words[0])
    first = next((word for word in words if (verb := verb_of(word)) and verb not in NOUNS), "")
    for kind in _kinds(first):
        found[f"dv:{kind}"] = ("description", first)


def _from_cues(text: str, found: Features) -> None:
    words = set(_WORD.findall(text))
    words.update(*(word.split("-") for word in words))
    for cue in CUES:
        if cue.words.isdisjoint(words):
            continue
        for match in cue.pattern.finditer(text):
            if not _NEGATED.search(text, max(0, match.start() - 24), match.start()):
                found[f"c:{cue.name}"] = ("says", match.group())
                break


def _from_schema(schema: Any, found: Features) -> None:
    holder = object_of(schema)
    properties = object_of(holder.get("properties"))
    required = {name for name in list_of(holder.get("required")) if isinstance(name, str)}
    found[f"pn:{min(len(properties), 8)}"] = ("number",)
    found[f"rn:{min(len(required), 5)}"] = ("number",)
    found[f"on:{min(max(0, len(properties) - len(required)), 6)}"] = ("number",)
    if not properties:
        found["noparams"] = ("number",)
    for name, parameter in islice(properties.items(), _MAX_PARAMETERS):
        need = "!" if name in required else "?"
        _from_parameter(name, object_of(parameter), need, found)
    if required and all(map(_NAMING.fullmatch, required)):
        found["onlyids" if len(required) == len(properties) else "reqids"] = ("ids",)


def _from_parameter(name: str, schema: Mapping[str, Any], need: str, found: Features) -> None:
    parts = parts_of(name)
    if not parts:
        return
    origin = ("parameter", name)
    found[f"pf:{parts[0]}"] = found[f"pl:{parts[-1]}"] = origin
    found[f"pr:{parts[-1]}{need}"] = origin
    found[f"pt:{text_of(schema.get('type'))}{need}"] = ("number",)
    text = text_of(schema.get("description"))[:200].lower()
    for use in _uses(name, parts[-1], text, need):
        found[f"px:{use}"] = origin
    _from_values(name, list_of(schema.get("enum")), found)
    for word in _PURPOSE.findall(text):
        if verb := verb_of(word):
            for feature in (f"pdl:{verb}", *(f"pd:{kind}" for kind in KINDS[verb])):
                found[feature] = ("purpose", name, f"to {word}")
    if "new " in text[:60]:
        found["pd:new"] = ("purpose", name, "new")


def _uses(name: str, last: str, text: str, need: str) -> Iterator[str]:
    if name.lower() in _CODE:
        yield f"code{need}"
    if last in _BODY:
        yield f"body{need}"
    if last in _PAGING:
        yield "page"
    if last in _QUERIES and "sql" in text:
        yield f"sql{need}"
    if _OUTPUT.fullmatch(name):
        yield f"out{need}"
    if (last in _PLACES or _OUTPUT.fullmatch(name)) and _SAVES.search(text):
        yield "saves"


def _from_values(name: str, values: list[Any], found: Features) -> None:
    for value in values[:_MAX_VALUES]:
        words = parts_of(text_of(value))
        if words and (verb := verb_of(words[0])):
            found[f"el:{verb}"] = ("value", name, value)
            for kind in KINDS[verb]:
                found[f"e:{kind}"] = ("value", name, value)
