"""A call's arguments as form fields, and a reviewer's changes of them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from sayso.approvals import patched
from sayso.errors import UsageError
from sayso.schema import MASK, canonical, is_hidden, parse_json
from sayso.workers import BoundedChecker

Json = Mapping[str, Any]

NAMES: Final = "names"
_MOST: Final = 100
_LINE: Final = 80

TEXT: Final = "text"
OPTIONAL: Final = "optional"
JSON: Final = "json"
"""The kinds of fields; an empty `OPTIONAL` text is omitted, and an empty `TEXT` is not."""


@dataclass(frozen=True, slots=True)
class Field:
    """An argument in a form. If `key` is empty, the value is masked and cannot be changed."""

    name: str
    key: str
    text: str
    is_long: bool
    is_given: bool


def fields_of(arguments: Mapping[str, Any], schema: Mapping[str, Any] | None) -> list[Field]:
    """Return a field for each argument of the call, then for each other one in the schema."""
    names = _names(arguments, schema)
    return [_field(names, at, arguments, schema) for at in range(len(names))]


def names_of(fields: Iterable[Field]) -> str:
    """Return the fields' names as JSON, which the form sends back."""
    return json.dumps([field.name for field in fields])


def read_arguments(form: Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return a form's arguments; masked ones come from `before`. Raises `UsageError`."""
    entered: dict[str, Any] = {}
    for at, name in enumerate(_read_names(form)):
        if f"{TEXT}.{at}" in form:
            entered[name] = _lines(form[f"{TEXT}.{at}"])
        elif form.get(f"{OPTIONAL}.{at}"):
            entered[name] = _lines(form[f"{OPTIONAL}.{at}"])
        elif form.get(f"{JSON}.{at}", "").strip():
            entered[name] = _value(name, form[f"{JSON}.{at}"])
        elif f"{JSON}.{at}" not in form and name in before:
            entered[name] = before[name]
    return entered


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Merge Patch (RFC 7396) that turns `before` into `after`.

    Raises `UsageError` if no patch does so, because a patch cannot set `null` inside an object.

    >>> difference({"to": {"a": 1, "b": 2}, "n": 3}, {"to": {"a": 1}, "n": 4})
    {'to': {'b': None}, 'n': 4}
    """
    patch = _patch(before, after)
    if canonical(patched(before, patch)) != canonical(after):
        raise UsageError("a change cannot set null inside an object")
    return patch


async def misfits(
    checker: BoundedChecker | None,
    before: Mapping[str, Any],
    edit: Mapping[str, Any],
    caller: str = "",
) -> list[str]:
    """Return the schema violations that an edit adds. Raises `UndecidedError`."""
    if checker is None:
        return []
    known = set(await checker.problems(before, caller))
    problems = await checker.problems(patched(before, edit), caller)
    return [str(problem) for problem in problems if problem not in known]


def _names(arguments: Mapping[str, Any], schema: Mapping[str, Any] | None) -> list[str]:
    return [*arguments, *(name for name in _properties(schema) if name not in arguments)][:_MOST]


def _properties(schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    properties: Any = (schema or {}).get("properties")
    if isinstance(properties, Mapping):
        return cast("Mapping[str, Any]", properties)
    return {}


def _field(
    names: list[str], at: int, arguments: Mapping[str, Any], schema: Mapping[str, Any] | None
) -> Field:
    name = names[at]
    if name not in arguments:
        kind = OPTIONAL if _is_text(schema, name) else JSON
        return Field(name, f"{kind}.{at}", "", is_long=False, is_given=False)
    value = arguments[name]
    if MASK in json.dumps(value, ensure_ascii=False):
        return Field(name, "", MASK, is_long=False, is_given=True)
    if isinstance(value, str) and not any(is_hidden(char) and char != "\n" for char in value):
        is_long = "\n" in value or len(value) > _LINE
        return Field(name, f"{TEXT}.{at}", value, is_long=is_long, is_given=True)
    # Escape hidden characters. Otherwise the page shows marks, and the form sends the marks back.
    text = json.dumps(value)
    if len(text) > _LINE:
        text = json.dumps(value, indent=2)
    return Field(name, f"{JSON}.{at}", text, is_long=len(text) > _LINE, is_given=True)


def _is_text(schema: Mapping[str, Any] | None, name: str) -> bool:
    part: Any = _properties(schema).get(name)
    return isinstance(part, Mapping) and cast("Mapping[str, Any]", part).get("type") == "string"


def _read_names(form: Mapping[str, str]) -> list[str]:
    try:
        names: Any = json.loads(form.get(NAMES, ""))
    except ValueError:
        names = None
    if not isinstance(names, list):
        raise UsageError("the form lacks the names of its arguments")
    return [str(name) for name in cast("list[Any]", names)]


def _value(name: str, text: str) -> Any:
    try:
        return parse_json(text)
    except UsageError as error:
        fix = "Write a number, true, false, a list, an object, or a text in quotes."
        raise UsageError(f"“{name}” is {error.what}", fix=fix) from None


def _lines(text: str) -> str:
    """Replace the line ends that browsers send, which are two characters (HTML standard)."""
    return text.replace("\r\n", "\n")


def _patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    patch: dict[str, Any] = {name: None for name in before if name not in after}
    for name, value in after.items():
        old = before.get(name)
        if name in before and canonical(old) == canonical(value):
            continue
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            patch[name] = _patch(cast("Json", old), cast("Json", value))
        else:
            patch[name] = value
    return patch
