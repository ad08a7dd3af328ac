"""The certainty that a tool only reads, from all its texts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.infer.clauses import Reading, reading
from sayso.infer.features import lead_of, parts_of
from sayso.infer.grammar import ALSO_NOUNS, CLOSED
from sayso.infer.lexicon import KINDS, NOUNS, READS, SURELY_READ, verb_of
from sayso.infer.losses import is_loss, is_lost
from sayso.infer.schemas import of_input, of_output
from sayso.infer.script import (
    is_homograph,
    is_known,
    is_noun,
    is_participle,
    is_plain,
    is_scrambled,
    is_stative,
    is_verb,
)
from sayso.schema import object_of, text_of

_REPLACES: Final = frozenset({"overwrite", "override", "replace"})
_JOINTS: Final = frozenset({"and", "or", "then"})
_SEPARATORS: Final = re.compile(r"[^0-9A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Certainty:
    """The certainty that a tool only reads.

    `is_readable`: every text is English in plain letters. `may_read`: every action is, or may be,
    a read. `is_certain`: also every word is known. `order`: the worst verb by which a text plainly
    states an action other than a read. `loses`: the tool may lose or send data.
    """

    is_readable: bool
    may_read: bool
    is_certain: bool
    order: str | None
    loses: bool


def certainty(tool: Mapping[str, Any]) -> Certainty:
    """Return how certain it is that `tool`, an entry of `tools/list`, only reads."""
    name = text_of(tool.get("name"))
    titles = [text_of(tool.get("title")), text_of(object_of(tool.get("annotations")).get("title"))]
    texts = [reading(text, name) for text in (text_of(tool.get("description")), *titles)]
    inputs = of_input(tool.get("inputSchema"))
    outputs = of_output(tool.get("outputSchema"))
    readings = [*texts, _of_name(name), *map(_of_title, titles), *inputs, *outputs]
    orders = [word for text in texts for word in text.orders]
    return Certainty(
        is_readable=all(part.is_readable for part in readings),
        may_read=all(part.may_read for part in readings),
        is_certain=all(part.is_certain for part in readings),
        order=max(orders, key=surely_loses, default=None),
        loses=any(map(_loses, readings)),
    )


def surely_loses(order: str) -> bool:
    """Return whether a verb surely loses data: `purge`, unlike `save`. An unknown verb counts."""
    verb = verb_of(order)
    return verb is None or KINDS[verb] == ("destroy",) or verb in _REPLACES


def _loses(reading: Reading) -> bool:
    if not reading.is_readable or reading.orders or reading.loss:
        return True
    verbs = map(verb_of, reading.writes)
    return any(verb is None or "destroy" in KINDS[verb] for verb in verbs)


def _of_title(title: str) -> Reading:
    """Analyze a title: `Workspace removal`, `Spring cleaning`."""
    lost = [word for word in parts_of(title) if is_lost(word) and not is_participle(word)]
    return Reading(unsure=next(iter(lost), None))


def _of_name(name: str) -> Reading:
    """Analyze a name word by word; an unknown verb may be at either end."""
    words = _SEPARATORS.split(name.lower())
    if not is_plain(name) or not name.isascii() or any(map(is_scrambled, words)):
        return Reading(is_readable=False)
    parts = parts_of(name)
    lead = lead_of(parts)
    unsure = next((part for index, part in enumerate(parts) if _may_act(parts, index)), None)
    unknown = None
    if unsure is not None and (
        _is_object(parts, unsure) or _is_modifier(parts, parts.index(unsure))
    ):
        unsure, unknown = None, unsure
    if lead is None:
        unknown = unknown or next((part for part in parts if not is_known(part)), None)
    return Reading(doubt=unknown, unsure=unsure)


def _is_object(parts: list[str], word: str) -> bool:
    """Return whether a verb may be none here: `get_oncall_shift`, `helm_list`, `generate_types`."""
    verb = verb_of(word)
    if verb is not None and _JOINTS.isdisjoint(parts):
        return not READS.isdisjoint(KINDS[verb])
    if len(parts) < _PAIR or verb is not None or not _JOINTS.isdisjoint(parts):
        return False
    if parts[0] == word:
        return not is_loss(word) and (parts[1] in _GETS or parts[-1] in _GETS)
    may_be_noun = is_homograph(word) or any(part in SURELY_READ for part in parts[:_PAIR])
    return parts[-1] == word and may_be_noun


_PAIR: Final = 2
_GETS: Final = frozenset({"get", "list", "search"})


def _is_modifier(parts: list[str], index: int) -> bool:
    """Return whether a verb between a read and a noun is none: `get_delete_protection`."""
    is_inside = 0 < index < len(parts) - 1
    return is_inside and parts[0] in SURELY_READ and _JOINTS.isdisjoint(parts)


def _may_act(parts: list[str], index: int) -> bool:
    """Return whether a word of a name may be an action other than a read."""
    word = parts[index]
    verb = verb_of(word)
    joined = index > 0 and parts[index - 1] in _JOINTS
    if verb is not None:
        if READS.issuperset(KINDS[verb]) or is_participle(word):
            return False
        return joined or (verb not in NOUNS and verb not in ALSO_NOUNS and word == verb)
    if word in CLOSED or is_noun(word) or is_stative(word):
        return False
    if index == len(parts) - 1 and index > 1 and word.endswith("s") and not parts[0].endswith("s"):
        return joined and is_verb(word)
    return is_verb(word) and (joined or index in (0, len(parts) - 1))
