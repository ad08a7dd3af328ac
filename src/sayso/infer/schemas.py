"""What the schemas of a tool say, wherever in them it stands: names, texts, values and results.

A schema is read whole, also under keywords that nobody knows: an example, or what is said of one
value, tells as much of what a tool does as its own description. Most texts there tell of values,
so words of loss count there, and not each verb that might be no read.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from sayso.infer.clauses import Reading, reading
from sayso.infer.features import parts_of
from sayso.infer.lexicon import KINDS, NOUNS, verb_of
from sayso.infer.losses import is_done_loss, is_order_to_lose, only_destroys

_LOSING: Final = frozenset({"destroy", "replace", "send"})
_MOST: Final = 1000
"""Schemas that are read of one; of more nothing is sure."""
_MOST_VALUES: Final = 5000
_LONGEST_VALUE: Final = 40
_OF_NAMES: Final = (
    *("properties", "$defs", "definitions", "patternProperties", "dependentSchemas"),
    "dependencies",
)
_OF_SAME: Final = (
    *("anyOf", "oneOf", "allOf", "items", "prefixItems", "additionalProperties"),
    *("if", "then", "else", "not", "contains", "additionalItems", "propertyNames"),
    *("unevaluatedItems", "unevaluatedProperties", "contentSchema"),
)
_TEXTS: Final = ("description", "title")
_OF_FORM: Final = frozenset(
    {*_OF_NAMES, *_OF_SAME, *_TEXTS, "type", "format", "pattern", "required", "$ref", "$schema"}
)
"""Keywords whose values are schemas, texts that are read by themselves, or forms of values."""
_COUNTS: Final = frozenset({"count", "counts", "num", "number", "total"})
_WAS: Final = re.compile(r"\b(?:be|been|being|gets|got|was|were) (?:\w+ly )?(\w+)")
_TIMES: Final = frozenset(
    {"at", "by", "date", "datetime", "day", "moment", "on", "since", "time", "timestamp", "when"}
)
"""Words by which a result tells of what others did: `deleted_at`, `When the user was removed`."""


def of_input(schema: object) -> Iterator[Reading]:
    """Read all that is said of the arguments, however deep it stands."""
    for at, (name, one) in enumerate(_schemas(schema)):
        if at == _MOST:
            yield Reading(unsure=name or "…")
            return
        yield from _of_parameter(name, one)


def of_output(schema: object) -> Iterator[Reading]:
    """Read what a result holds: who tells what it deleted has deleted it."""
    for at, (name, one) in enumerate(_schemas(schema)):
        if at == _MOST:
            return
        yield from _of_result(name, one)


def _schemas(whole: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give a schema and all in it, each with the name of the parameter that it is about."""
    waiting: list[tuple[str, object]] = [("", whole)]
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


def _of_parameter(name: str, schema: Mapping[str, Any]) -> Iterator[Reading]:
    """Read a switch and what any parameter says: `purge` makes another tool of this one."""
    said = [reading(_text(schema.get(key))) for key in _TEXTS]
    yield from filter(None, map(_losses, said))
    parts = parts_of(name)
    yield from _if_any(one for one in (*parts[:1], *parts[-1:]) if is_order_to_lose(one))
    if value := _of_values(schema):
        yield Reading(writes=(value,))
    kinds = schema.get("type")
    if "boolean" not in (cast("list[Any]", kinds) if isinstance(kinds, list) else [kinds]):
        return
    if said[0].orders:
        yield Reading(writes=said[0].orders)
    verb = verb_of(parts[0]) if parts else None
    if verb is not None and verb == parts[0] and not _LOSING.isdisjoint(KINDS[verb]):
        yield from _if_any(() if verb in NOUNS else (verb,))


def _losses(said: Reading) -> Reading | None:
    """What a text that tells of a value says of losses."""
    lost = tuple(one for one in said.writes if only_destroys(one))
    return Reading(writes=lost, loss=said.loss) if lost or said.loss else None


def _if_any(words: Iterator[str] | tuple[str, ...]) -> Iterator[Reading]:
    found = next(iter(words), None)
    if found is not None:
        yield Reading(writes=(found,))


def _of_values(schema: Mapping[str, Any]) -> str | None:
    """Return a verb by which a value that may be given, or what is said of one, is an order."""
    given = [value for key, value in schema.items() if key not in _OF_FORM]
    for at, one in enumerate(given):
        if at == _MOST_VALUES:
            return "…"
        if isinstance(one, Mapping):
            for key, value in cast("Mapping[object, Any]", one).items():
                given += [key, value]
        elif isinstance(one, list):
            given += cast("list[Any]", one)
        elif isinstance(one, str) and (lost := _of_value(one)):
            return lost
    default = parts_of(_text(schema.get("default"))[:_LONGEST_VALUE])
    return next(filter(only_destroys, default[:1]), None)


def _of_value(value: str) -> str | None:
    order = next(filter(is_order_to_lose, parts_of(value[:_LONGEST_VALUE])), None)
    said = _losses(reading(value)) if order is None and " " in value else None
    return order if said is None else next(iter(said.writes), said.loss)


def _of_result(name: str, schema: Mapping[str, Any]) -> Iterator[Reading]:
    parts = parts_of(name)
    lost = [one for one in parts if is_done_loss(one)]
    first = parts[:1] if schema.get("type") in ("array", "integer", "boolean") else []
    if lost and (lost[:1] == first or not _COUNTS.isdisjoint(parts)) and _TIMES.isdisjoint(parts):
        yield Reading(unsure=lost[0])
    for key in _TEXTS:
        if lost := _losses(reading(_text(schema.get(key)))):
            yield lost
        yield from _done(_text(schema.get(key)).lower())


def _done(text: str) -> Iterator[Reading]:
    """Read what was done, but not when: `Users that were removed by this call`."""
    if _TIMES.isdisjoint(text.split()[:3]):
        yield from _if_any(one for one in _WAS.findall(text) if is_done_loss(one))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
