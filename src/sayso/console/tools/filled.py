"""Reading a filled-in form: the arguments, and the errors by field."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from sayso.console.tools.fields import Field, Kind, flat
from sayso.errors import UsageError
from sayso.schema import Problem, parse_json
from sayso.workers import BoundedChecker, UndecidedError

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,400}", re.ASCII)
_NUMBER: Final = re.compile(
    r"[+-]?([0-9]{1,400}(\.[0-9]{0,400})?|\.[0-9]{1,400})([eE][+-]?[0-9]{1,3})?", re.ASCII
)
_MISSING: Final = object()
_YES_NO: Final = {"yes": True, "no": False}
_NEEDED: Final = "A value is required."
_NEEDED_TEXT: Final = "A value is required. To send an empty text, write the arguments as JSON."
_REQUIRED: Final = "is a required property"
_MOST_LEVELS: Final = 64
_TEXTS: Final = (Kind.TEXT, Kind.LONG, Kind.SECRET)


@dataclass(slots=True)
class Filled:
    """A filled-in form. `errors` are by field key, `/` for the whole form.

    `arguments` are valid only without errors.
    """

    entries: Mapping[str, str]
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    errors: dict[str, list[str]] = field(default_factory=dict[str, "list[str]"])

    def entry(self, key: str) -> str:
        return self.entries.get(key, "")

    def wrong(self, key: str) -> list[str]:
        return self.errors.get(key, [])

    def note(self, key: str, what: str) -> None:
        self.errors.setdefault(key, []).append(what)


class _WrongError(Exception):
    """An error in one entry."""


async def read_checked(
    fields: tuple[Field, ...],
    entries: Mapping[str, str],
    checker: BoundedChecker | None,
    caller: str = "",
) -> Filled:
    """Return the arguments in `entries`, validated for `caller` as the guard does."""
    filled = read(fields, entries)
    if checker is not None:
        try:
            problems = await checker.problems(filled.arguments, caller)
        except UndecidedError as error:
            problems = (Problem("", f"The arguments cannot be validated: {error}."),)
        _note(fields, filled, problems)
    return filled


def read(fields: tuple[Field, ...], entries: Mapping[str, str]) -> Filled:
    """Return the arguments in `entries`, not validated against a schema."""
    filled = Filled(entries)
    if fields and not fields[0].path:
        value = _value(fields[0], filled)
        if isinstance(value, dict):
            filled.arguments = cast("dict[str, Any]", value)
        elif not filled.errors:
            filled.note("/", "The arguments must be a JSON object.")
    else:
        filled.arguments = _members(fields, filled)
    return filled


def _note(fields: tuple[Field, ...], filled: Filled, problems: Iterable[Problem]) -> None:
    keys = {entry.where: entry.key for entry in flat(fields)}
    known = set(filled.errors)
    for problem in problems:
        key = _nearest(problem.path, keys)
        if key not in known and not (known and problem.message.endswith(_REQUIRED)):
            filled.note(key, problem.message)


def _nearest(path: str, keys: Mapping[str, str]) -> str:
    while path:
        if path in keys:
            return keys[path]
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return "/"


def _members(fields: Iterable[Field], filled: Filled) -> dict[str, Any]:
    members = {entry.name: _value(entry, filled) for entry in fields}
    return {name: value for name, value in members.items() if value is not _MISSING}


def _value(entry: Field, filled: Filled) -> Any:
    if entry.kind is Kind.GROUP:
        members = _group(entry, filled)
        return members if members or entry.is_required else _MISSING
    if entry.kind is Kind.MANY:
        ticks = [
            index for index in range(len(entry.choices)) if f"{entry.key}/{index}" in filled.entries
        ]
        return [entry.choices[index] for index in ticks] if ticks or entry.is_required else _MISSING
    text = filled.entry(entry.key).replace("\r\n", "\n")
    if not text or (entry.kind not in _TEXTS and not text.strip()):
        return _empty(entry, filled)
    try:
        return _read(entry, text)
    except _WrongError as error:
        filled.note(entry.key, str(error))
        return _MISSING


def _group(entry: Field, filled: Filled) -> dict[str, Any]:
    if not entry.is_required and not any(_is_given(inner, filled) for inner in flat(entry.fields)):
        return {}
    return _members(entry.fields, filled)


def _is_given(entry: Field, filled: Filled) -> bool:
    ticks = (f"{entry.key}/{index}" for index in range(len(entry.choices)))
    return bool(filled.entry(entry.key).strip()) or any(key in filled.entries for key in ticks)


def _empty(entry: Field, filled: Filled) -> Any:
    if not entry.is_required:
        return _MISSING
    if entry.kind is Kind.LINES:
        return []
    if not entry.path:
        return {}
    filled.note(entry.key, _NEEDED_TEXT if entry.kind in _TEXTS else _NEEDED)
    return _MISSING


def _read(entry: Field, text: str) -> Any:
    if entry.kind is Kind.CHOICE:
        if not text.isascii() or not text.isdigit() or int(text[:4]) >= len(entry.choices):
            raise _WrongError("Choose one of the listed values.")
        return entry.choices[int(text[:4])]
    if entry.kind is Kind.LINES:
        return [_scalar(entry.item, line) for line in text.split("\n") if line.strip()]
    if entry.kind is Kind.JSON:
        return _json(text)
    return _scalar(entry.kind, text)


def _scalar(kind: Kind, text: str) -> Any:
    bare = text.strip()
    if kind is Kind.BOOLEAN:
        if bare not in _YES_NO:
            raise _WrongError("Choose yes or no.")
        return _YES_NO[bare]
    if kind is Kind.INTEGER:
        if not _INTEGER.fullmatch(bare):
            raise _WrongError(f"“{bare[:80]}” is not a whole number.")
        return int(bare)
    if kind is Kind.NUMBER:
        if not _NUMBER.fullmatch(bare):
            raise _WrongError(f"“{bare[:80]}” is not a number. Write a number such as 12.5.")
        return _number(bare)
    if kind is Kind.DATE_TIME:
        return _moment(bare)
    return bare if kind in (Kind.DATE, Kind.TIME) else text


def _number(text: str) -> int | float:
    if _INTEGER.fullmatch(text):
        return int(text)
    if math.isinf(value := float(text)):
        raise _WrongError("This number is too large.")
    return value


def _moment(text: str) -> str:
    """Return an RFC 3339 time. A time without a zone is taken as UTC, as the form states."""
    if re.fullmatch(r"[0-9-]{10}T[0-9]{2}:[0-9]{2}", text):
        return f"{text}:00Z"
    if re.fullmatch(r"[0-9-]{10}T[0-9:.]{8,}", text):
        return f"{text}Z"
    return text


def _json(text: str) -> Any:
    try:
        value = parse_json(text)
    except (UsageError, ValueError) as error:
        raise _WrongError(f"This is not JSON: {error}.") from error
    if _depth(value) > _MOST_LEVELS:
        raise _WrongError(f"This is nested deeper than {_MOST_LEVELS} levels.")
    return value


def _depth(value: Any) -> int:
    level = [value]
    depth = 0
    while level and depth <= _MOST_LEVELS:
        inner: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                inner += cast("dict[str, Any]", part).values()
            elif isinstance(part, list):
                inner += cast("list[Any]", part)
        level = inner
        depth += 1
    return depth


def entries_of(fields: tuple[Field, ...], arguments: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the form entries for `arguments`; `None` if the fields cannot express them."""
    entries = dict(_entries(fields, arguments))
    again = read(fields, entries)
    if again.errors or again.arguments != dict(arguments):
        return None
    return entries


def _entries(fields: Iterable[Field], arguments: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for entry in fields:
        if not entry.path:
            yield entry.key, as_text(arguments)
        elif entry.name in arguments:
            yield from _entry(entry, arguments[entry.name])


def _entry(entry: Field, value: Any) -> Iterable[tuple[str, str]]:
    if entry.kind is Kind.GROUP and isinstance(value, dict):
        yield from _entries(entry.fields, cast("dict[str, Any]", value))
    elif entry.kind is Kind.MANY and isinstance(value, list):
        chosen = cast("list[Any]", value)
        yield from (
            (f"{entry.key}/{at}", "on") for at, it in enumerate(entry.choices) if it in chosen
        )
    elif entry.kind is Kind.LINES and isinstance(value, list):
        yield entry.key, "\n".join(str(it) for it in cast("list[Any]", value))
    elif entry.kind is Kind.CHOICE:
        yield entry.key, str(entry.choices.index(value)) if value in entry.choices else ""
    elif entry.kind is Kind.BOOLEAN:
        yield entry.key, "yes" if value else "no"
    elif entry.kind is Kind.JSON:
        yield entry.key, as_text(value)
    else:
        yield entry.key, value if isinstance(value, str) else json.dumps(value)


def as_text(value: Any) -> str:
    """Return JSON for editing, in ASCII, so that hidden characters are not changed."""
    return json.dumps(value, indent=2)
