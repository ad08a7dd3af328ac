"""Shapes of settings, which check values and describe themselves in JSON Schema.

Check and schema come from the same definition, so they always match.
"""

import difflib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, cast

from sayso.fields import is_number
from sayso.settings.toml_positions import Path

Report = Callable[[Path, str, str | None], None]
"""A function that takes the path of a mistake, the problem and the fix."""

Schema = dict[str, Any]

DURATION: Final = re.compile(r"([1-9][0-9]{0,5})(s|m|h|d)")
_SECONDS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_KINDS: Final[Mapping[type, str]] = {
    dict: "a table",
    list: "an array",
    str: "a text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
}


class Shape(Protocol):
    """The shape of a value in a settings file."""

    def check(self, value: object, path: Path, report: Report) -> None:
        """Report each mistake in `value` at `path`."""
        ...

    def schema(self) -> Schema:
        """Return the shape as JSON Schema."""
        ...


def seconds(duration: str) -> float:
    """Return the seconds of a valid duration such as `30m`."""
    return float(duration[:-1]) * _SECONDS[duration[-1]]


def nearest(word: str, known: Sequence[str]) -> str:
    """Return a suggestion: the most similar known word, or else all known words."""
    if close := difflib.get_close_matches(word, known, n=1):
        return f"Did you mean “{close[0]}”?"
    return f"Known: {', '.join(known)}."


@dataclass(frozen=True, slots=True)
class Text:
    """A text that is not empty and matches `pattern`; `what` describes it in messages."""

    what: str = "a text"
    pattern: re.Pattern[str] | None = None

    def check(self, value: object, path: Path, report: Report) -> None:
        if not isinstance(value, str):
            report(path, f"this must be {self.what}, not {kind(value)}", None)
        elif not value.strip():
            report(path, f"this must be {self.what}, not empty", None)
        elif self.pattern and not self.pattern.fullmatch(value):
            report(path, f"“{value}” is not {self.what}", None)

    def schema(self) -> Schema:
        pattern = rf"^(?:{self.pattern.pattern})$" if self.pattern else r"\S"
        return {"type": "string", "pattern": pattern}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of these `words`."""

    words: tuple[str, ...]

    def check(self, value: object, path: Path, report: Report) -> None:
        if not isinstance(value, str):
            report(path, f"this must be one of {', '.join(self.words)}, not {kind(value)}", None)
        elif value not in self.words:
            what = f"“{value}” is not one of {', '.join(self.words)}"
            report(path, what, nearest(value, self.words))

    def schema(self) -> Schema:
        return {"type": "string", "enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Boolean:
    """`true` or `false`."""

    def check(self, value: object, path: Path, report: Report) -> None:
        if not isinstance(value, bool):
            report(path, f"this must be true or false, not {kind(value)}", None)

    def schema(self) -> Schema:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Number:
    """A number within inclusive bounds; an integer if `is_whole`."""

    least: float | None = None
    most: float | None = None
    is_whole: bool = False

    def check(self, value: object, path: Path, report: Report) -> None:
        wanted = int | float
        what = "a number"
        if self.is_whole:
            wanted = int
            what = "a whole number"
        if not isinstance(value, wanted) or not is_number(value):
            report(path, f"this must be {what}, not {_number(value)}", None)
        elif self.least is not None and value < self.least:
            report(path, f"this must be at least {self.least:.12g}, not {value}", None)
        elif self.most is not None and value > self.most:
            report(path, f"this must be at most {self.most:.12g}, not {value}", None)

    def schema(self) -> Schema:
        schema: Schema = {"type": "integer" if self.is_whole else "number"}
        if self.least is not None:
            schema["minimum"] = self.least
        if self.most is not None:
            schema["maximum"] = self.most
        return schema


@dataclass(frozen=True, slots=True)
class Json:
    """Any value that JSON can represent, so no dates, `nan` or `inf`."""

    def check(self, value: object, path: Path, report: Report) -> None:
        if isinstance(value, list):
            for index, item in enumerate(cast("list[object]", value)):
                self.check(item, (*path, index), report)
        elif isinstance(value, dict):
            for key, item in cast("dict[str, object]", value).items():
                self.check(item, (*path, key), report)
        elif not isinstance(value, str | bool | int | float) or (
            isinstance(value, float) and not math.isfinite(value)
        ):
            report(path, f"an argument cannot be {kind(value)}", "Use a text.")

    def schema(self) -> Schema:
        return {"type": ["string", "boolean", "number", "array", "object"]}


@dataclass(frozen=True, slots=True)
class Items:
    """An array of at least `least` items of one shape."""

    item: Shape
    least: int = 1

    def check(self, value: object, path: Path, report: Report) -> None:
        if not isinstance(value, list):
            # `[rules]` instead of `[[rules]]` is a common mistake.
            fix = None
            if isinstance(self.item, Table) and kind(value) == kind({}):
                fix = f"Write [[{path[-1]}]], with two brackets."
            report(path, f"this must be an array, not {kind(value)}", fix)
            return
        items = cast("list[object]", value)
        if len(items) < self.least:
            report(path, "this array must not be empty", "Add an item, or remove the key.")
        for index, item in enumerate(items):
            self.item.check(item, (*path, index), report)

    def schema(self) -> Schema:
        schema: Schema = {"type": "array", "items": self.item.schema()}
        if self.least:
            schema["minItems"] = self.least
        return schema


@dataclass(frozen=True, slots=True)
class Either:
    """The shape `nested` for values of type `nested_type`, and `plain` for all others."""

    plain: Shape
    nested: Shape
    nested_type: type

    def check(self, value: object, path: Path, report: Report) -> None:
        chosen = self.nested if isinstance(value, self.nested_type) else self.plain
        chosen.check(value, path, report)

    def schema(self) -> Schema:
        return {"anyOf": [self.plain.schema(), self.nested.schema()]}


def one_or_more(item: Shape) -> Either:
    """Return the shape of one value, or an array of such values."""
    return Either(item, Items(item), list)


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table: the shape of its value, and its description."""

    shape: Shape
    doc: str
    is_required: bool = False
    default: Any = None


@dataclass(frozen=True, slots=True)
class Named:
    """A table with free keys (names of servers, tools, roles), except for `keys`."""

    item: Shape
    keys: Mapping[str, Key] = field(default_factory=dict[str, Key])

    def check(self, value: object, path: Path, report: Report) -> None:
        for key, item in (_table(value, path, report) or {}).items():
            known = self.keys.get(key)
            shape = known.shape if known else self.item
            shape.check(item, (*path, key), report)

    def schema(self) -> Schema:
        schema: Schema = {"type": "object"}
        if self.keys:
            schema["properties"] = _properties(self.keys)
        return {**schema, "additionalProperties": self.item.schema()}


@dataclass(frozen=True, slots=True)
class Table:
    """A table with fixed keys; at least `least` of the keys must be present."""

    keys: Mapping[str, Key]
    doc: str | None = None
    least: int = 0

    def check(self, value: object, path: Path, report: Report) -> None:
        table = _table(value, path, report)
        if table is None:
            return
        for key, item in table.items():
            known = self.keys.get(key)
            if known is None:
                report((*path, key), f"unknown key “{key}”", nearest(key, tuple(self.keys)))
            else:
                known.shape.check(item, (*path, key), report)
        for key, known in self.keys.items():
            if known.is_required and key not in table:
                report(path, f"the key “{key}” is missing", f"Add it: {known.doc}.")
        if len(table) < self.least:
            report(path, "this table is empty", f"Known: {', '.join(self.keys)}.")

    def schema(self) -> Schema:
        schema: Schema = {
            "type": "object",
            "additionalProperties": False,
            "properties": _properties(self.keys),
        }
        if required := [name for name, key in self.keys.items() if key.is_required]:
            schema["required"] = required
        if self.least:
            schema["minProperties"] = self.least
        if self.doc:
            schema["description"] = self.doc
        return schema


def kind(value: object) -> str:
    """Return the TOML name of the type of `value`, with its article."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value}"
    return _KINDS.get(type(value), "a date or a time")


def _number(value: object) -> str:
    return f"{value}" if isinstance(value, float) else kind(value)


def _properties(keys: Mapping[str, Key]) -> Schema:
    properties: Schema = {}
    for name, key in keys.items():
        properties[name] = {**key.shape.schema(), "description": key.doc}
        if key.default is not None:
            properties[name]["default"] = key.default
    return properties


def _table(value: object, path: Path, report: Report) -> dict[str, object] | None:
    if isinstance(value, dict):
        return cast("dict[str, object]", value)
    report(path, f"this must be a table, not {kind(value)}", None)
    return None
