"""A call's arguments as readable rows; long values are folded, never cut."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from sayso.schema import MASK, unquoted

_LONG_CHARACTERS: Final = 400
_LONG_LINES: Final = 12
_START: Final = 80
_SHORT: Final = 80
_SHORT_VALUE: Final = 32
_SHORT_LOOKED_AT: Final = 200
_MOST_COLUMNS: Final = 6
_ONE_LINE: Final = 60


@dataclass(frozen=True, slots=True)
class ArgumentRow:
    """One argument: its name, the kind of its value, and the value as text.

    A long value has a `start`, its beginning in one line, and a `size` in words.
    """

    name: str
    kind: str
    text: str
    start: str = ""
    size: str = ""


def argument_rows(arguments: Mapping[str, Any]) -> list[ArgumentRow]:
    """Return a row for each argument, in the given order."""
    return [_row(name, value) for name, value in arguments.items()]


@dataclass(frozen=True, slots=True)
class PlanTable:
    """A plan's changes as a table; plain texts have no columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def plan_table(plan: Mapping[str, Any]) -> PlanTable:
    """Return a plan's changes, one row each; changes with too many fields become texts."""
    changes: list[Any] = plan["changes"]
    objects = [cast("dict[str, Any]", change) for change in changes if isinstance(change, dict)]
    columns = tuple(dict.fromkeys(key for change in objects for key in change))
    if len(objects) < len(changes) or not 0 < len(columns) <= _MOST_COLUMNS:
        return PlanTable((), tuple((_text_of(change),) for change in changes))
    rows = (
        tuple(_text_of(change[key]) if key in change else "" for key in columns)
        for change in objects
    )
    return PlanTable(columns, tuple(rows))


def in_short(arguments: Mapping[str, Any]) -> str:
    """Return a short text of the arguments, which distinguishes calls in a list.

    >>> in_short({"customer_id": 12, "name": "Amy"})
    'customer_id 12, name “Amy”'
    """
    return _clip(", ".join(f"{name} {_short(value)}" for name, value in arguments.items()), _SHORT)


def _short(value: Any) -> str:
    text = _clip(unquoted(_text_of(value), limit=_SHORT_LOOKED_AT), _SHORT_VALUE)
    if isinstance(value, str) and value != MASK:
        return f"“{text}”"
    return text


def _clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _row(name: str, value: Any) -> ArgumentRow:
    kind = kind_of(value)
    text = _text_of(value)
    lines = text.count("\n") + 1
    if len(text) <= _LONG_CHARACTERS and lines <= _LONG_LINES:
        return ArgumentRow(name, kind, text)
    size = f"{len(text):,} characters"
    if lines > 1:
        size += f", {lines:,} lines"
    return ArgumentRow(name, kind, text, " ".join(text[:_START].split()) + "…", size)


def kind_of(value: Any) -> str:
    """Return the kind of a JSON value in words."""
    if value == MASK:
        return "secret, masked"
    if isinstance(value, str):
        return "text" if value else "empty text"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, list):
        return f"list of {len(cast('list[Any]', value))}"
    if isinstance(value, dict):
        return f"object of {len(cast('dict[str, Any]', value))}"
    return "null"


def _text_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    line = json.dumps(value, ensure_ascii=False)
    if len(line) <= _ONE_LINE:
        return line
    return json.dumps(value, ensure_ascii=False, indent=2)
