"""Going on with a list that was cut: the cursor that is made for it, and where that leads.

A cursor says after how many items of which call to go on, and nothing is kept here: the function
is called again, as it was called then, and what was given before is left out. So only what reads
has such cursors. It also holds a digest of the items given before, as its caller saw them: where
they are others by now, going on would skip some or give some twice, and is refused.
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
from sayso.serve.page import CURSOR, NEXT, WRAPPED, is_list
from sayso.workers import UndecidedError

_PREFIX: Final = "sayso."
_DIGITS: Final = 12


class CursorError(UsageError):
    """A cursor leads nowhere: made elsewhere or for another call, or its list has changed."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}. Make the call without a cursor to begin anew.")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a list a call goes on: after `given` items of what it gave with the cursor `inner`.

    `inner` is the tool's own cursor in a tuple, or empty where the call had none. `seen` is the
    digest of those items.
    """

    given: int = 0
    inner: tuple[Any, ...] = ()
    seen: str = ""


async def opened(
    call: Call, schemas: ToolSchemas, *, is_ours: bool
) -> tuple[Place, Mapping[str, Any]]:
    """Where a call goes on, and the arguments that its function gets.

    `is_ours` is whether the argument `cursor` is sayso's, so that the function has none. Raises
    `CursorError`.
    """
    if CURSOR not in call.arguments:
        return Place(), call.arguments
    others = _others(call)
    cursor = call.arguments[CURSOR]
    if isinstance(cursor, str) and cursor.startswith(_PREFIX):
        place = _read(cursor, _digest([call.name, others]))
        arguments = others
        if place.inner:
            arguments = {**others, CURSOR: place.inner[0]}
        # What is inside comes from the caller like any argument, and has passed no check so far.
        if (is_ours and place.inner) or not await _takes(call, schemas, arguments):
            raise CursorError("There is no such cursor")
        return place, arguments
    if not is_ours:
        return Place(inner=(cursor,)), call.arguments
    if cursor is not None:
        raise CursorError("There is no such cursor")
    return Place(), others


async def continued(call: Call, place: Place, answer: Answer, schemas: ToolSchemas) -> Answer:
    """What comes after that place; the call learns how to go on, should the guard cut it.

    Raises `CursorError` where the items before it are not those that were given.
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
        # What its schema does not name, the caller never saw: it must not be in a digest either.
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
    """Return whether arguments fit the tool; those that cannot be checked in time do not."""
    if schemas.arguments is None:
        return True
    try:
        return await schemas.arguments.is_valid(arguments, call.principal.caller)
    except UndecidedError:
        return False


@dataclass(frozen=True, slots=True)
class _Marker:
    """Makes cursors for one answer of one call."""

    call: Call
    place: Place
    before: Sequence[Any]

    def cursor(self, items: Sequence[Any]) -> str:
        """Return the cursor after these items."""
        seen = [*self.before, *items]
        place = Place(len(seen), self.place.inner, _digest(seen))
        return _write(place, _digest([self.call.name, _others(self.call)]))


def _others(call: Call) -> dict[str, Any]:
    return {name: value for name, value in call.arguments.items() if name != CURSOR}


def _write(place: Place, call: str) -> str:
    text = json.dumps([place.given, call, place.seen, *place.inner], separators=(",", ":"))
    return _PREFIX + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read(cursor: str, call: str) -> Place:
    """Where a cursor leads, which is anybody's text. Raises `CursorError`."""
    text = cursor.removeprefix(_PREFIX)
    try:
        padded = text.encode() + b"=" * (-len(text) % 4)
        found: Any = json.loads(base64.b64decode(padded, b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise CursorError("There is no such cursor") from error
    match found:
        case [int() as given, str() as made_for, str() as seen] if given > 0:
            place = Place(given, (), seen)
        case [int() as given, str() as made_for, str() as seen, inner] if given > 0:
            place = Place(given, (inner,), seen)
        case _:
            raise CursorError("There is no such cursor")
    if made_for != call:
        raise CursorError("This cursor is of another call")
    return place


def _digest(value: Any) -> str:
    """Short, since a model copies it; what it tells apart are mistakes, not attacks.

    Whoever makes one up sees another part of a list that they may see.
    """
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def _schema_of(name: str, schemas: ToolSchemas) -> Any:
    properties: Mapping[str, Any] = (schemas.result_schema or {}).get("properties", {})
    return properties.get(name, {"type": "array"})


def _list_in(structured: Any) -> str | None:
    """The name of the one list of a result that may be cut; `None` where there is no one list."""
    if not isinstance(structured, Mapping):
        return None
    found = cast("Mapping[str, Any]", structured)
    lists = [name for name, value in found.items() if isinstance(value, list)]
    if len(lists) != 1 or not (NEXT in found or set(found) == {WRAPPED}):
        return None
    return lists[0]
