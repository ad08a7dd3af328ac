"""Candidate values (options) of a parameter: tests against its schema, labels and order."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from sayso.verify.inputs.drawing import draw
from sayso.verify.inputs.flattener import Schema, items_of, table_of, types_of
from sayso.verify.inputs.numbers import bounds, integer_range
from sayso.verify.inputs.patterns import compile_pattern, pattern_of
from sayso.verify.inputs.roles import IN_WORLD, Meaning, Role, is_reader, words_of_tool

_MOST: Final = 40
_WORD: Final = "text"


@dataclass(frozen=True, slots=True)
class Option:
    """A candidate value of a parameter.

    `label` is the value's class; one successful value per class is enough. `origin` is the value's
    source, such as `example`.
    """

    value: Any
    label: str
    origin: str


PROPOSALS: Final = ("default", "examples", "example")


def proposed(schema: Schema) -> Iterator[Option]:
    """Yield the values that a schema proposes: its default and examples."""
    if schema.get("default") is not None:
        yield Option(schema["default"], "default", "default")
    for value in items_of(schema.get("examples")):
        yield Option(value, "example", "example")
    if "example" in schema:
        yield Option(schema["example"], "example", "example")


def with_proposed(
    proposed_options: list[Option], meaning: Meaning, options: list[Option]
) -> list[Option]:
    """Return the options after the proposed ones. Values that exist in the world come first."""
    good = [option for option in options if option.origin in ("harvest", "role")]
    if meaning.role in IN_WORLD and good:
        labels = {"existing", "directory", "new"}
        if meaning.role is Role.SQL:
            labels.add(good[0].label)
        known = [option for option in good if option.label in labels]
        return [*known, *proposed_options, *options]
    return [*proposed_options, *options]


def fitting(options: Iterable[Option], schema: Schema) -> Iterator[Option]:
    """Yield options that fit a schema of one type, converted to the text or number it requires."""
    kind = (types_of(schema) or ("string",))[0]
    for option in options:
        value = _as_kind(option.value, kind)
        if isinstance(value, str):
            is_fit = kind == "string" and fits_text(value, schema)
        else:
            is_fit = value is not None and fits_number(value, schema)
        if is_fit:
            yield replace(option, value=value)


def _as_kind(value: Any, kind: str) -> str | float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if kind == "string":
        return str(value)
    if not isinstance(value, str):
        return value
    if value.isdecimal() and value.isascii():
        return int(value)
    return None


def fits_text(text: str, schema: Schema) -> bool:
    """Return whether a text fits the lengths and the pattern of a schema."""
    shortest = schema.get("minLength", 0)
    longest = schema.get("maxLength")
    if len(text) < shortest or (isinstance(longest, int) and len(text) > longest):
        return False
    pattern = schema.get("pattern")
    if not isinstance(pattern, str):
        return True
    compiled = compile_pattern(pattern)
    return compiled is not None and compiled.search(text) is not None


def fits_number(value: float, schema: Schema) -> bool:
    """Return whether a number fits the bounds of a schema."""
    low, high = bounds(schema)
    if schema.get("type") == "integer" and value != int(value):
        return False
    if (low is not None and value < low) or (high is not None and value > high):
        return False
    return value not in (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))


def number_options(schema: Schema) -> Iterator[Option]:
    """Yield numbers for a schema: a plain one and its bounds."""
    found = integer_range(schema)
    if found is None:
        low, high = bounds(schema)
        if low is not None and high is not None:
            yield Option((low + high) / 2, "plain", "generated")
        return
    low, high = bounds(schema)
    index = min(max(1, found.least), found.most)
    yield Option(found.at(index), "plain", "generated")
    if low is not None:
        yield Option(found.at(found.least), "minimum", "boundary")
    elif high is None or high >= 0:
        yield Option(0, "zero", "boundary")
    if high is not None:
        yield Option(found.at(found.most), "maximum", "boundary")


@lru_cache(maxsize=1000)
def draw_texts(pattern: str, least: int, most: int, seed: int) -> tuple[str, ...]:
    """Draw a few texts that fit a pattern. Cached, because parameters share patterns."""
    strategy = pattern_of(pattern, least, most)
    if strategy is None:
        return ()
    return tuple(draw(strategy, 2, seed=seed))


def implied_type(schema: Schema) -> str:
    """Return the type that the keywords of a schema without `type` imply."""
    if "properties" in schema or "additionalProperties" in schema or "required" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema:
        return "array"
    if "minimum" in schema or "maximum" in schema:
        return "integer"
    return "string"


def branch_label(part: Schema, number: int, parts: list[Schema]) -> str:
    """Return the label of one branch: its type, numbered if other branches have the same type."""
    kinds = types_of(part) or (implied_type(part),)
    same = [branch for branch in parts if (types_of(branch) or (implied_type(branch),)) == kinds]
    if len(same) == 1:
        return kinds[0]
    return f"{kinds[0]} {number}"


def without_null(schema: Schema) -> Schema:
    """Return the schema of a value that is not null.

    A schema with `anyOf` or `oneOf` is merged with its first branch that is not null.
    """
    for key in ("anyOf", "oneOf"):
        parts = [table_of(part) for part in items_of(schema.get(key))]
        real = [part for part in parts if part.get("type") != "null"]
        if real:
            kinds = {kind for part in real for kind in types_of(part) or ()}
            for kind in ("string", "integer", "array"):
                if kind in kinds:
                    return {**real[0], "type": kind, **schema}
            return {**real[0], **schema}
    return schema


def statements_by_verb(
    kinds: Mapping[str, tuple[Any, ...]], tool: Mapping[str, Any]
) -> dict[str, Any]:
    """Return SQL statements by kind. The first kind is the likeliest for the tool.

    This is a kind that the tool's name contains. Without such a name, it is `select` for a tool
    that reads and `insert` for a tool that writes.
    """
    words = words_of_tool(tool)
    first = "insert"
    if is_reader(tool) or ("query" in words and "write" not in words):
        first = "select"
    first = next((kind for kind in kinds if kind in words), first)
    return {kind: kinds[kind] for kind in (first, *kinds) if kind in kinds}


def filled(value: Any, values: list[Any], count: int) -> list[Any]:
    """Return `count` items: `value`, the other `values`, then `value` again if they run out."""
    others = [other for other in values if other != value]
    return [value, *others][:count] + [value] * max(0, count - 1 - len(others))


def text_of_length(length: int) -> str:
    """Return a plain text of this length."""
    return (_WORD + " words " * (length // 7 + 1))[:length].replace(" ", "-")


def label_of(value: Any) -> str:
    """Return the label of a value: the start of its text."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)[:60]


def without_repeats(options: list[Option]) -> list[Option]:
    """Drop repeated options, and all options beyond the maximum number."""
    kept: list[Option] = []
    for option in options:
        if not any(
            _is_same(option.value, other.value) and option.label == other.label for other in kept
        ):
            kept.append(option)
        if len(kept) == _MOST:
            break
    return kept


def _is_same(value: Any, other: Any) -> bool:
    return type(value) is type(other) and value == other
