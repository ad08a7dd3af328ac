"""Evidence in a tool's schemas: names, texts, values and results.

A schema is read completely, including unknown keywords: an example or the text of one value can
reveal what a tool does. Most texts there describe values, so only words of loss count.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, cast

from sayso.infer.clauses import Reading, reading
from sayso.infer.features import parts_of
from sayso.infer.lexicon import KINDS, NOUNS
from sayso.infer.losses import is_done_loss, is_order_to_lose, only_destroys
from sayso.schema import list_of, object_of, text_of

_LOSING: Final = frozenset({"destroy", "replace", "send"})
_MAX_SCHEMAS: Final = 1000
"""A tool whose input has more subschemas never counts as a sure read."""
_MAX_VALUES: Final = 5000
_MAX_VALUE_CHARACTERS: Final = 40
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
"""Keywords for subschemas, for texts that are read separately, and for types."""
_COUNTS: Final = frozenset({"count", "counts", "num", "number", "total"})
_WAS: Final = re.compile(r"\b(?:be|been|being|gets|got|was|were) (?:\w+ly )?(\w+)")
_TIMES: Final = frozenset(
    {"at", "by", "date", "datetime", "day", "moment", "on", "since", "time", "timestamp", "when"}
)
"""Words for past events that this call did not cause: `deleted_at`, `When it was removed`."""


def of_input(schema: object) -> Iterator[Reading]:
    """Analyze everything about the arguments, at any depth."""
    for index, (name, part) in enumerate(_schemas(schema)):
        if index == _MAX_SCHEMAS:
            yield Reading(unsure=name or "…")
            return
        yield from _of_parameter(name, part)


def of_output(schema: object) -> Iterator[Reading]:
    """Analyze a result: a tool that returns what it deleted has deleted it."""
    for name, part in islice(_schemas(schema), _MAX_SCHEMAS):
        yield from _of_result(name, part)


def _schemas(whole: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield a schema and all subschemas, each with the name of its parameter."""
    waiting: list[tuple[str, object]] = [("", whole)]
    for name, part in waiting:
        if not isinstance(part, Mapping):
            continue
        schema = cast("Mapping[str, Any]", part)
        yield name, schema
        for key in _OF_NAMES:
            waiting += object_of(schema.get(key)).items()
        for key in _OF_SAME:
            inner = schema.get(key)
            waiting += [(name, part) for part in (list_of(inner) or [inner]) if part is not None]


def _of_parameter(name: str, schema: Mapping[str, Any]) -> Iterator[Reading]:
    """Analyze a parameter; a switch such as `purge` changes what the tool does."""
    texts = [reading(text_of(schema.get(key))) for key in _TEXTS]
    yield from filter(None, map(_losses, texts))
    parts = parts_of(name)
    yield from _first_of(filter(is_order_to_lose, (*parts[:1], *parts[-1:])))
    if value := _of_values(schema):
        yield Reading(writes=(value,))
    kinds = schema.get("type")
    if "boolean" not in (list_of(kinds) or [kinds]):
        return
    if texts[0].orders:
        yield Reading(writes=texts[0].orders)
    verb = next(iter(parts), "")
    if verb not in NOUNS and not _LOSING.isdisjoint(KINDS.get(verb, ())):
        yield Reading(writes=(verb,))


def _losses(text: Reading) -> Reading | None:
    """Return only the losses in a text about a value."""
    lost = tuple(filter(only_destroys, text.writes))
    if not lost and not text.loss:
        return None
    return Reading(writes=lost, loss=text.loss)


def _first_of(words: Iterator[str]) -> Iterator[Reading]:
    for word in islice(words, 1):
        yield Reading(writes=(word,))


def _of_values(schema: Mapping[str, Any]) -> str | None:
    """Return a word of loss in a possible value or in the description of one."""
    values = [value for key, value in schema.items() if key not in _OF_FORM]
    for index, item in enumerate(values):
        if index == _MAX_VALUES:
            return "…"
        values += list_of(item)
        for key, value in object_of(item).items():
            values += [key, value]
        if lost := _of_value(text_of(item)):
            return lost
    default = parts_of(text_of(schema.get("default"))[:_MAX_VALUE_CHARACTERS])
    return next(filter(only_destroys, default[:1]), None)


def _of_value(value: str) -> str | None:
    for word in filter(is_order_to_lose, parts_of(value[:_MAX_VALUE_CHARACTERS])):
        return word
    if " " in value and (losses := _losses(reading(value))):
        return next(iter(losses.writes), losses.loss)
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
    """Analyze what was done, but not when: `Users that were removed by this call`."""
    if _TIMES.isdisjoint(text.split()[:3]):
        yield from _first_of(filter(is_done_loss, _WAS.findall(text)))
