"""Shapes: what may stand where in a policy; each checks a value and describes it in JSON Schema.

One description serves both, so the published schema cannot say other than what is checked.
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
"""Takes where a mistake is, what it is, and what to do about it."""

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
    """Something that may stand in a policy."""

    def check(self, value: object, path: Path, report: Report) -> None:
        """Report each mistake in `value`, which stands at `path`."""
        ...

    def schema(self) -> Schema:
        """The same in JSON Schema."""
        ...


def seconds(duration: str) -> float:
    """How many seconds a checked duration such as `30m` has."""
    return float(duration[:-1]) * _SECONDS[duration[-1]]


def nearest(word: str, known: Sequence[str]) -> str:
    """Return a sentence that helps to correct `word` where only `known` words may stand."""
    if close := difflib.get_close_matches(word, known, n=1):
        return f"Did you mean “{close[0]}”?"
    return f"Known: {', '.join(known)}."


@dataclass(frozen=True, slots=True)
class Text:
    """A text that is not empty; with `pattern`, one that fits it, called `what`."""

    what: str = "a text"
    pattern: re.Pattern[str] | None = None

    def check(self, value: object, path: Path, report: Report) -> None:
        if not isinstance(value, str):
            report(path, f"this must be {self.what}, not {kind(value)}", None)
        elif not value.strip():
            report(path, f"this must be {self.what}, and it is empty", None)
        elif self.pattern and not self.pattern.fullmatch(value):
            report(path, f"“{value}” is not {self.what}", None)

    def schema(self) -> Schema:
        pattern = rf"^(?:{self.pattern.pattern})$" if self.pattern else r"\S"
        return {"type": "string", "pattern": pattern}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some words."""

    words: tuple[str, ...]

    def check(self, value: object, path: Path, report: Report) -> None:
        if not isinstance(value, str):
            report(path, f"this must be one of {', '.join(self.words)}, not {kind(value)}", None)
        elif value not in self.words:
            what = f"“{value}” is none of {', '.join(self.words)}"
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
    """A number within bounds, both included; only whole ones with `is_whole`."""

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
    """Any value that JSON can hold; TOML's dates and its `nan` and `inf` are none."""

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
            report(path, f"{kind(value)} is nothing that an argument can hold", "Write a text.")

    def schema(self) -> Schema:
        return {"type": ["string", "boolean", "number", "array", "object"]}


@dataclass(frozen=True, slots=True)
class Items:
    """An array of at least `least` items of one shape."""

    item: Shape
    least: int = 1

    def check(self, value: object, path: Path, report: Report) -> None:
        if not isinstance(value, list):
            # `[rules]` instead of `[[rules]]` is easily written.
            fix = None
            if isinstance(self.item, Table) and kind(value) == kind({}):
                fix = f"Write [[{path[-1]}]], with two brackets."
            report(path, f"this must be an array, not {kind(value)}", fix)
            return
        items = cast("list[object]", value)
        if len(items) < self.least:
            report(path, "this array is empty", "Name something, or leave the key out.")
        for index, item in enumerate(items):
            self.item.check(item, (*path, index), report)

    def schema(self) -> Schema:
        schema: Schema = {"type": "array", "items": self.item.schema()}
        if self.least:
            schema["minItems"] = self.least
        return schema


@dataclass(frozen=True, slots=True)
class Either:
    """A table or an array of one shape, or else a value of another."""

    plain: Shape
    nested: Shape
    nested_type: type

    def check(self, value: object, path: Path, report: Report) -> None:
        chosen = self.nested if isinstance(value, self.nested_type) else self.plain
        chosen.check(value, path, report)

    def schema(self) -> Schema:
        return {"anyOf": [self.plain.schema(), self.nested.schema()]}


def one_or_more(item: Shape) -> Either:
    """One value, or an array of such values."""
    return Either(item, Items(item), list)


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table: what may stand there, and what it is for."""

    shape: Shape
    doc: str
    is_required: bool = False
    default: Any = None


@dataclass(frozen=True, slots=True)
class Named:
    """A table whose keys are the writer's own (names of servers, tools, roles), but for `keys`."""

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
    """A table whose keys sayso knows; with `least`, one that has at least so many."""

    keys: Mapping[str, Key]
    doc: str | None = None
    least: int = 0

    def check(self, value: object, path: Path, report: Report) -> None:
        table = _table(value, path, report)
        if table is None:
            return
        for key, item in table.items():
            if (known := self.keys.get(key)) is None:
                report(
                    (*path, key), f"there is no key “{key}” here", nearest(key, tuple(self.keys))
                )
            else:
                known.shape.check(item, (*path, key), report)
        for key, known in self.keys.items():
            if known.is_required and key not in table:
                report(path, f"the key “{key}” is missing here", f"It says {known.doc}.")
        if len(table) < self.least:
            report(path, "this table says nothing", f"Known: {', '.join(self.keys)}.")

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
    """What TOML calls the type of `value`, with its article."""
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
