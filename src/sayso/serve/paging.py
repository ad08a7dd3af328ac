"""Cursors for lists that were cut.

A cursor contains a digest of the call, the number of items that the caller has, and a digest of
these items. Nothing is stored. To continue, the function is called again with the same arguments,
and these items are left out. So only tools that read have cursors. If the items have changed, the
cursor is refused, because continuing would skip or repeat some.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from sayso.errors import UsageError
from sayso.guard import Answer, Call, Resume, ToolSchemas, with_structure
from sayso.intent import Level
from sayso.serve.return_types import CURSOR, NEXT, WRAPPED, is_list
from sayso.workers import UndecidedError

_PREFIX: Final = "sayso."
_DIGITS: Final = 12


class CursorError(UsageError):
    """A cursor that cannot be used: unknown, made for another call, or for a changed list."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}. Make the call without a cursor to start again.")


@dataclass(frozen=True, slots=True)
class ListPosition:
    """A position in a list: `count` is the number of items before it, `digest` their digest.

    `inner` has the tool's own cursor of the call that returned the list, or is an empty tuple if
    the call had no cursor.
    """

    count: int = 0
    inner: tuple[Any, ...] = ()
    digest: str = ""


async def resolve_cursor(
    call: Call, schemas: ToolSchemas, *, is_ours: bool
) -> tuple[ListPosition, Mapping[str, Any]]:
    """Return the position of a call's cursor, and the arguments for its function.

    With `is_ours`, the function has no argument `cursor`; sayso adds it. Raises `CursorError`.
    """
    if CURSOR not in call.arguments:
        return ListPosition(), call.arguments
    others = _others(call)
    cursor = call.arguments[CURSOR]
    if isinstance(cursor, str) and cursor.startswith(_PREFIX):
        place = _read(cursor, _digest([call.name, others]))
        arguments = others
        if place.inner:
            arguments = {**others, CURSOR: place.inner[0]}
        # The tool's own cursor comes from the caller, so check it against the schema.
        if (is_ours and place.inner) or not await _takes(call, schemas, arguments):
            raise CursorError("This cursor is invalid")
        return place, arguments
    if not is_ours:
        return ListPosition(inner=(cursor,)), call.arguments
    if cursor is not None:
        raise CursorError("This cursor is invalid")
    return ListPosition(), others


async def continue_list(
    call: Call, place: ListPosition, answer: Answer, schemas: ToolSchemas
) -> Answer:
    """Return the items after a position, and set the call's `resume`, which makes a cursor.

    Raises `CursorError` if the items before the position have changed.
    """
    if answer.get("isError") is True:
        return answer
    structured: Any = answer.get("structuredContent")
    name = _list_in(structured)
    if place.count == 0 and (name is None or not schemas.is_local):
        return answer
    if name is None or not schemas.is_local:
        raise CursorError("The tool no longer returns this list")
    before: list[Any] = []
    if place.count > 0:
        # Strip first: the cursor's digest was made from the stripped items that the caller got.
        value = structured
        if schemas.stripper is not None:
            value = schemas.stripper.strip(structured)
        before = value[name][: place.count]
        after = value[name][place.count :]
        if len(before) < place.count or _digest(before) != place.digest:
            raise CursorError("The list has changed since the last page")
        answer = with_structure(answer, {**value, name: after})
    if call.tool.level is Level.READ and is_list(_schema_of(name, schemas)):
        marker = _Marker(call, place, before)
        # A sample is enough: all cursors have the same form, so the schema accepts all or none.
        sample = {**_others(call), CURSOR: marker.cursor(())}
        if schemas.arguments is not None and await _takes(call, schemas, sample):
            call.resume = Resume(name, marker.cursor, NEXT, CURSOR)
    return answer


async def _takes(call: Call, schemas: ToolSchemas, arguments: Mapping[str, Any]) -> bool:
    """Return whether arguments match the tool's schema; `False` if checking takes too long."""
    if schemas.arguments is None:
        return True
    try:
        return await schemas.arguments.is_valid(arguments, call.principal.caller)
    except UndecidedError:
        return False


@dataclass(frozen=True, slots=True)
class _Marker:
    """Makes the cursors for one answer of one call."""

    call: Call
    place: ListPosition
    before: Sequence[Any]

    def cursor(self, items: Sequence[Any]) -> str:
        seen = [*self.before, *items]
        place = ListPosition(len(seen), self.place.inner, _digest(seen))
        return _write(place, _digest([self.call.name, _others(self.call)]))


def _others(call: Call) -> dict[str, Any]:
    return {name: value for name, value in call.arguments.items() if name != CURSOR}


def _write(place: ListPosition, call: str) -> str:
    text = json.dumps([place.count, call, place.digest, *place.inner], separators=(",", ":"))
    return _PREFIX + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read(cursor: str, call: str) -> ListPosition:
    """Return the position in a cursor, which is untrusted text. Raises `CursorError`."""
    text = cursor.removeprefix(_PREFIX)
    try:
        padded = text.encode() + b"=" * (-len(text) % 4)
        fields: Any = json.loads(base64.b64decode(padded, b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise CursorError("This cursor is invalid") from error
    match fields:
        case [int() as given, str() as made_for, str() as seen] if given > 0:
            place = ListPosition(given, (), seen)
        case [int() as given, str() as made_for, str() as seen, inner] if given > 0:
            place = ListPosition(given, (inner,), seen)
        case _:
            raise CursorError("This cursor is invalid")
    if made_for != call:
        raise CursorError("This cursor belongs to another call")
    return place


def _digest(value: Any) -> str:
    """Return a digest that detects mistakes. The digest is short, since models must copy cursors.

    A forged digest only gives access to another part of a list that the caller may see anyway.
    """
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def _schema_of(name: str, schemas: ToolSchemas) -> Any:
    properties: Mapping[str, Any] = (schemas.result_schema or {}).get("properties", {})
    return properties.get(name, {"type": "array"})


def _list_in(structured: Any) -> str | None:
    """Return the key of the result's only list, or `None` if the result has no cursor field."""
    if not isinstance(structured, Mapping):
        return None
    fields = cast("Mapping[str, Any]", structured)
    lists = [name for name, value in fields.items() if isinstance(value, list)]
    if len(lists) != 1 or not (NEXT in fields or set(fields) == {WRAPPED}):
        return None
    return lists[0]
