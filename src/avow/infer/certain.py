"""How certain it is that a tool only reads, from every text that it carries."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from avow.infer.clauses import Reading, reading
from avow.infer.features import lead_of, parts_of
from avow.infer.grammar import ALSO_NOUNS, CLOSED
from avow.infer.lexicon import KINDS, NOUNS, READS, SURELY_READ, verb_of
from avow.infer.script import (
    is_known,
    is_noun,
    is_participle,
    is_plain,
    is_scrambled,
    is_stative,
    is_verb,
)

_LOSING: Final = frozenset({"destroy", "replace", "send"})
_REPLACES: Final = frozenset({"overwrite", "override", "replace"})
_JOINTS: Final = frozenset({"and", "or", "then"})
_SEPARATORS: Final = re.compile(r"[^0-9A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Certainty:
    """What the texts of a tool leave open.

    `is_readable`: every text is in English and in plain letters. `may_read`: no clause is, or may
    be, anything but a read. `is_certain`: in addition every word is known. `order`: a verb by which
    a text says outright that the tool does something else, the worst one first. `loses`: it may
    lose or send something.
    """

    is_readable: bool
    may_read: bool
    is_certain: bool
    order: str | None
    loses: bool


def certainty(tool: Mapping[str, Any]) -> Certainty:
    """Return how certain it is that `tool`, an entry of `tools/list`, only reads."""
    name = _text(tool.get("name"))
    readings = [reading(one, name) for one in _texts(tool)]
    named = _of_name(name)
    said = [*readings, named, *_of_parameters(tool), *_of_output(tool)]
    orders = [word for one in readings for word in one.orders]
    return Certainty(
        is_readable=all(one.is_readable for one in said),
        may_read=all(one.may_read for one in said),
        is_certain=all(one.is_certain for one in said),
        order=next(iter(sorted(orders, key=surely_loses, reverse=True)), None),
        loses=any(_loses(one) for one in said),
    )


def surely_loses(order: str) -> bool:
    """Return whether an order can hardly be one that only adds, as `purge`, unlike `save`.

    A verb that is not known counts as one that loses.
    """
    verb = verb_of(order)
    return verb is None or KINDS[verb] == ("destroy",) or verb in _REPLACES


def _loses(said: Reading) -> bool:
    if not said.is_readable:
        return True
    verbs = [verb_of(one) for one in said.writes]
    return bool(said.orders) or any(one is None or "destroy" in KINDS[one] for one in verbs)


def _texts(tool: Mapping[str, Any]) -> Iterator[str]:
    yield _text(tool.get("title"))
    yield _text(tool.get("description"))
    annotations = tool.get("annotations")
    if isinstance(annotations, Mapping):
        yield _text(cast("Mapping[str, Any]", annotations).get("title"))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _of_name(name: str) -> Reading:
    """Read a name word by word: a verb that is not known may stand at either end of it."""
    words = [one for one in _SEPARATORS.split(name) if one]
    if not is_plain(name) or not name.isascii() or any(is_scrambled(one.lower()) for one in words):
        return Reading(is_readable=False)
    parts = parts_of(name)
    lead = lead_of(parts)
    unsure = next((one for at, one in enumerate(parts) if _may_act(parts, at)), None)
    unknown = None
    if unsure is not None and _is_object(parts, unsure):
        unsure, unknown = None, unsure
    if lead is None:
        unknown = unknown or next((one for one in parts if not is_known(one)), None)
    return Reading(doubt=unknown, unsure=unsure)


def _is_object(parts: list[str], word: str) -> bool:
    """Whether a word that only a dictionary knows is a noun: `get_oncall_shift`, `helm_list`."""
    is_got = parts[0] in SURELY_READ and parts[0] not in NOUNS and _JOINTS.isdisjoint(parts)
    if len(parts) > 1 and parts[0] == word and parts[1] in _GETS:
        return verb_of(word) is None
    return is_got and parts[-1] == word and verb_of(word) is None


_GETS: Final = frozenset({"get", "list", "search"})


def _may_act(parts: list[str], at: int) -> bool:
    """Whether one word of a name may be an action that is no read."""
    word = parts[at]
    verb = verb_of(word)
    joined = at > 0 and parts[at - 1] in _JOINTS
    if verb is not None:
        if READS.issuperset(KINDS[verb]) or is_participle(word):
            return False
        return joined or (verb not in NOUNS and verb not in ALSO_NOUNS and word == verb)
    if word in CLOSED or is_noun(word) or is_stative(word):
        return False
    if at == len(parts) - 1 and at > 1 and word.endswith("s") and not parts[0].endswith("s"):
        return joined and is_verb(word)
    return is_verb(word) and (joined or at in (0, len(parts) - 1))


def _of_parameters(tool: Mapping[str, Any]) -> Iterator[Reading]:
    """Read all schemas of the arguments, however deep they stand; of very many nothing is sure."""
    for at, (name, schema) in enumerate(_schemas(tool.get("inputSchema"))):
        if at == _MOST_SCHEMAS:
            yield Reading(unsure=name or "…")
            return
        if found := _of_parameter(name, schema):
            yield found


def _schemas(whole: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give a schema and all in it, each with the name of the parameter that it is about."""
    waiting: list[tuple[str, Any]] = [("", whole)]
    for name, one in waiting:
        if not isinstance(one, Mapping):
            continue
        schema = cast("Mapping[str, Any]", one)
        yield name, schema
        for key in _OF_NAMES:
            inner = schema.get(key)
            if isinstance(inner, Mapping):
                waiting += cast("Mapping[str, Any]", inner).items()
        for key in _OF_SAME:
            inner = schema.get(key)
            same = cast("list[Any]", inner) if isinstance(inner, list) else [inner]
            waiting += [(name, part) for part in same if part is not None]


_MOST_SCHEMAS: Final = 1000
_OF_NAMES: Final = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_OF_SAME: Final = (
    *("anyOf", "oneOf", "allOf", "items", "prefixItems", "additionalProperties"),
    *("if", "then", "else"),
)


def _of_parameter(name: str, schema: Mapping[str, Any]) -> Reading | None:
    """Read a switch and what any parameter says: `purge` makes another tool of this one."""
    said = [reading(_text(schema.get(key))) for key in ("description", "title")]
    lost = tuple(word for one in said for word in one.writes if _is_lost(word))
    kinds = schema.get("type")
    if "boolean" not in (cast("list[Any]", kinds) if isinstance(kinds, list) else [kinds]):
        chosen = next(filter(_is_lost, _values(schema)), None)
        return Reading(unsure=chosen, writes=lost) if lost or chosen else None
    first = next(iter(parts_of(name)), "")
    verb = verb_of(first)
    writes = verb is not None and verb == first and not _LOSING.isdisjoint(KINDS[verb])
    if writes and verb not in NOUNS:
        return Reading(writes=(first,))
    orders = said[0].orders or lost
    return Reading(writes=orders) if orders else None


def _values(schema: Mapping[str, Any]) -> Iterator[str]:
    """Give the verbs with which values begin that are orders: `delete`, but not `deleted`."""
    given = schema.get("enum")
    values = cast("list[Any]", given) if isinstance(given, list) else []
    for one in (*values, schema.get("const"), schema.get("default")):
        words = parts_of(one[:_LONGEST_VALUE]) if isinstance(one, str) else []
        if words and verb_of(words[0]) == words[0]:
            yield words[0]


_LONGEST_VALUE: Final = 40


def _of_output(tool: Mapping[str, Any]) -> Iterator[Reading]:
    """Read what a result holds: who tells how many it deleted has deleted them."""
    for name, _ in _schemas(tool.get("outputSchema")):
        parts = parts_of(name)
        if not _COUNTS.isdisjoint(parts):
            lost = next((one for one in parts if is_participle(one) and _is_lost(one)), None)
            if lost is not None:
                yield Reading(unsure=lost)


_COUNTS: Final = frozenset({"count", "counts", "num", "number", "total"})


def _is_lost(word: str) -> bool:
    """Whether a verb can only destroy, so that no value of a parameter that reads is told by it."""
    verb = verb_of(word)
    return verb is not None and KINDS[verb] == ("destroy",) and verb not in _OF_VALUES


_OF_VALUES: Final = frozenset(
    {"cancel", "clear", "close", "drop", "empty", "expire", "force", "invalidate"}
    | {"leave", "merge", "reset", "strip", "truncate"}
)
"""Verbs that parameters' descriptions use of values and states: `leave empty for all`."""
