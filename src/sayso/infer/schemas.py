"""What the schemas of a tool say, wherever in them it stands: names, texts, values and results.

A schema is read whole, also under keywords that nobody knows: an example, or what is said of one
value, tells as much of what a tool does as its own description. Most texts there tell of values,
so words of loss count there, and not each verb that might be no read.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, cast

from sayso.infer.clauses import Reading, reading
from sayso.infer.features import list_of, mapping_of, parts_of, text_of
from sayso.infer.lexicon import KINDS, NOUNS
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
    for at, (name, part) in enumerate(_schemas(schema)):
        if at == _MOST:
            yield Reading(unsure=name or "…")
            return
        yield from _of_parameter(name, part)


def of_output(schema: object) -> Iterator[Reading]:
    """Read what a result holds: who tells what it deleted has deleted it."""
    for name, part in islice(_schemas(schema), _MOST):
        yield from _of_result(name, part)


def _schemas(whole: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give a schema and all in it, each with the name of the parameter that it is about."""
    waiting: list[tuple[str, object]] = [("", whole)]
    for name, part in waiting:
        if not isinstance(part, Mapping):
            continue
        schema = cast("Mapping[str, Any]", part)
        yield name, schema
        for key in _OF_NAMES:
            waiting += mapping_of(schema.get(key)).items()
        for key in _OF_SAME:
            inner = schema.get(key)
            waiting += [(name, part) for part in (list_of(inner) or [inner]) if part is not None]


def _of_parameter(name: str, schema: Mapping[str, Any]) -> Iterator[Reading]:
    """Read a switch and what any parameter says: `purge` makes another tool of this one."""
    said = [reading(text_of(schema.get(key))) for key in _TEXTS]
    yield from filter(None, map(_losses, said))
    parts = parts_of(name)
    yield from _first_of(filter(is_order_to_lose, (*parts[:1], *parts[-1:])))
    if value := _of_values(schema):
        yield Reading(writes=(value,))
    kinds = schema.get("type")
    if "boolean" not in (list_of(kinds) or [kinds]):
        return
    if said[0].orders:
        yield Reading(writes=said[0].orders)
    verb = next(iter(parts), "")
    if verb not in NOUNS and not _LOSING.isdisjoint(KINDS.get(verb, ())):
        yield Reading(writes=(verb,))


def _losses(said: Reading) -> Reading | None:
    """What a text that tells of a value says of losses."""
    lost = tuple(filter(only_destroys, said.writes))
    if not lost and not said.loss:
        return None
    return Reading(writes=lost, loss=said.loss)


def _first_of(words: Iterator[str]) -> Iterator[Reading]:
    for word in islice(words, 1):
        yield Reading(writes=(word,))


def _of_values(schema: Mapping[str, Any]) -> str | None:
    """Return a verb by which a value that may be given, or what is said of one, is an order."""
    given = [value for key, value in schema.items() if key not in _OF_FORM]
    for at, item in enumerate(given):
        if at == _MOST_VALUES:
            return "…"
        given += list_of(item)
        for key, value in mapping_of(item).items():
            given += [key, value]
        if lost := _of_value(text_of(item)):
            return lost
    default = parts_of(text_of(schema.get("default"))[:_LONGEST_VALUE])
    return next(filter(only_destroys, default[:1]), None)


def _of_value(value: str) -> str | None:
    for word in filter(is_order_to_lose, parts_of(value[:_LONGEST_VALUE])):
        return word
    if " " in value and (said := _losses(reading(value))):
        return next(iter(said.writes), said.loss)
    return None


def _of_result(name: str, schema: Mapping[str, Any]) -> Iterator[Reading]:
    parts = parts_of(name)
    lost = list(filter(is_done_loss, parts))
    if lost and _TIMES.isdisjoint(parts):
        is_first = lost[0] == parts[0] and schema.get("type") in ("array", "integer", "boolean")
        if is_first or not _COUNTS.isdisjoint(parts):
            yield Reading(unsure=lost[0])
    for key in _TEXTS:
        if lost := _losses(reading(text_of(schema.get(key)))):
            yield lost
        yield from _done(text_of(schema.get(key)).lower())


def _done(text: str) -> Iterator[Reading]:
    """Read what was done, but not when: `Users that were removed by this call`."""
    if _TIMES.isdisjoint(text.split()[:3]):
        yield from _first_of(filter(is_done_loss, _WAS.findall(text)))
