"""A call's arguments as rows that a person can read, whole: what is long is folded, never cut."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from avow.schema.redact import MASK

_LONG_CHARACTERS: Final = 400
_LONG_LINES: Final = 12
_START: Final = 80
_SHORT: Final = 80
_SHORT_VALUE: Final = 32


@dataclass(frozen=True, slots=True)
class ArgumentRow:
    """One argument: its name, what kind of value it is, and the value as text.

    A value with a `start` is long: `start` is its beginning in one line, `size` how long it is.
    """

    name: str
    kind: str
    text: str
    start: str = ""
    size: str = ""


def argument_rows(arguments: Mapping[str, Any]) -> list[ArgumentRow]:
    """One row for each argument, in the order in which they were sent."""
    return [_row(name, value) for name, value in arguments.items()]


def plan_rows(plan: Mapping[str, Any]) -> list[str]:
    """One text for each change that a plan shows."""
    return [_text_of(one) for one in plan["changes"]]


def in_short(arguments: Mapping[str, Any]) -> str:
    """The arguments in part of a line, to tell one call from another; empty without any.

    >>> in_short({"customer_id": 12, "name": "Amy"})
    'customer_id 12, name “Amy”'
    """
    return _clip(", ".join(f"{name} {_short(value)}" for name, value in arguments.items()), _SHORT)


def _short(value: Any) -> str:
    text = _clip(" ".join(_text_of(value).split()), _SHORT_VALUE)
    return f"“{text}”" if isinstance(value, str) and value != MASK else text


def _clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _row(name: str, value: Any) -> ArgumentRow:
    kind, text = _kind_of(value), _text_of(value)
    lines = text.count("\n") + 1
    if len(text) <= _LONG_CHARACTERS and lines <= _LONG_LINES:
        return ArgumentRow(name, kind, text)
    size = f"{len(text):,} characters" + (f", {lines:,} lines" if lines > 1 else "")
    return ArgumentRow(name, kind, text, " ".join(text[:_START].split()) + "…", size)


def _kind_of(value: Any) -> str:
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
    return json.dumps(value, ensure_ascii=False, indent=2)
