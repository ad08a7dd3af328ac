"""Cursors for lists that were cut.

A cursor names a call and how many of its items the caller has. Nothing is stored: the function is
called again with the same arguments, and those items are left out, so only tools that read have
cursors. The cursor also holds a digest of those items; if they have changed, continuing would skip
or repeat some, and is refused.
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
    """An invalid cursor: made elsewhere or for another call, or its list has changed."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}. Make the call without a cursor to start again.")


@dataclass(frozen=True, slots=True)
class ListPosition:
    """The position after `given` items of a list that the tool returned for its cursor `inner`.

    `inner` is the tool's own cursor in a tuple, empty if the call had none. `seen` is the digest of
    those items.
    """

    given: int = 0
    inner: tuple[Any, ...] = ()
    seen: str = ""


async def resolve_cursor(
    call: Call, schemas: ToolSchemas, *, is_ours: bool
) -> tuple[ListPosition, Mapping[str, Any]]:
    """Return the position of a call's cursor, and the arguments for its function.

    With `is_ours` the argument `cursor` is sayso's and the function has none. Raises `CursorError`.
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
        # The content comes from the caller and has not been checked.
        if (is_ours and place.inner) or not await _takes(call, schemas, arguments):
            raise CursorError("There is no such cursor")
        return place, arguments
    if not is_ours:
        return ListPosition(inner=(cursor,)), call.arguments
    if cursor is not None:
        raise CursorError("There is no such cursor")
    return ListPosition(), others


async def continue_list(
    call: Call, place: ListPosition, answer: Answer, schemas: ToolSchemas
) -> Answer:
    """Return the items after a position, and set the call's `resume`, in case the guard cuts it.

    Raises `CursorError` if the items before the position have changed.
    """
    if answer.get("isError") is True:
        return answer
    structured: Any = answer.get("structuredContent")
    name = _list_in(structured)
    if place.given == 0 and (name is None or not schemas.is_local):
        return answer
    if name is None or not schemas.is_local:
        raise CursorError("There is no list any more")
    before: list[Any] = []
    if place.given > 0:
        # The caller never saw fields that the schema does not name, so the digest omits them.
        value = structured
        if schemas.stripper is not None:
            value = schemas.stripper.strip(structured)
        before = value[name][: place.given]
        after = value[name][place.given :]
        if len(before) < place.given or _digest(before) != place.seen:
            raise CursorError("The list has changed since")
        answer = with_structure(answer, {**value, name: after})
    if call.tool.level is Level.READ and is_list(_schema_of(name, schemas)):
        marker = _Marker(call, place, before)
        # What the schema says of one cursor it says of all: only their digits differ.
        sample = {**_others(call), CURSOR: marker.cursor(())}
        if schemas.arguments is not None and await _takes(call, schemas, sample):
            call.resume = Resume(name, marker.cursor, NEXT, CURSOR)
    return answer


async def _takes(call: Call, schemas: ToolSchemas, arguments: Mapping[str, Any]) -> bool:
    """Return whether arguments fit the tool's schema, `False` if that takes too long to check."""
    if schemas.arguments is None:
        return True
    try:
        return await schemas.arguments.is_valid(arguments, call.principal.caller)
    except UndecidedError:
        return False


@dataclass(frozen=True, slots=True)
class _Marker:
    """A maker of cursors for one answer of one call."""

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
    text = json.dumps([place.given, call, place.seen, *place.inner], separators=(",", ":"))
    return _PREFIX + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read(cursor: str, call: str) -> ListPosition:
    """Read a cursor, which is untrusted text. Raises `CursorError`."""
    text = cursor.removeprefix(_PREFIX)
    try:
        padded = text.encode() + b"=" * (-len(text) % 4)
        fields: Any = json.loads(base64.b64decode(padded, b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise CursorError("There is no such cursor") from error
    match fields:
        case [int() as given, str() as made_for, str() as seen] if given > 0:
            place = ListPosition(given, (), seen)
        case [int() as given, str() as made_for, str() as seen, inner] if given > 0:
            place = ListPosition(given, (inner,), seen)
        case _:
            raise CursorError("There is no such cursor")
    if made_for != call:
        raise CursorError("This cursor is of another call")
    return place


def _digest(value: Any) -> str:
    """Return a digest against mistakes, short since models copy it.

    A forged one only shows another part of a list that its caller may see.
    """
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def _schema_of(name: str, schemas: ToolSchemas) -> Any:
    properties: Mapping[str, Any] = (schemas.result_schema or {}).get("properties", {})
    return properties.get(name, {"type": "array"})


def _list_in(structured: Any) -> str | None:
    """Return the key of the one list of a result that may be cut, if there is exactly one."""
    if not isinstance(structured, Mapping):
        return None
    fields = cast("Mapping[str, Any]", structured)
    lists = [name for name, value in fields.items() if isinstance(value, list)]
    if len(lists) != 1 or not (NEXT in fields or set(fields) == {WRAPPED}):
        return None
    return lists[0]
