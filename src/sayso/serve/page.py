"""A part of a list, as what a tool returns, and what schemas say of going on with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar, cast, get_args, get_origin

from typing_extensions import TypedDict

from sayso.intent import Intent

T = TypeVar("T")

CURSOR: Final = "cursor"
NEXT: Final = "next_cursor"
WRAPPED: Final = "result"
"""The name under which a list that is a whole result stands in it, since a result is an object."""
_TEXT_OR_NULL: Final = ({"type": "string"}, {"type": "null"})
_ARGUMENT: Final[Mapping[str, Any]] = {
    "anyOf": list(_TEXT_OR_NULL),
    "default": None,
    "description": "Where to go on: the next_cursor of the same call before.",
}
_FIELD: Final[Mapping[str, Any]] = {"anyOf": list(_TEXT_OR_NULL), "default": None}


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A list or a part of one: its items, where to go on (`None` at the end), how many there are.

    `next_cursor` is what the tool's function takes as `cursor` for the items that come next. A list
    that is too long for a result needs none: sayso makes one, for the page as well.
    """

    items: list[T] = field(default_factory=list)  # pyright: ignore[reportUnknownVariableType] - of T
    next_cursor: str | None = None
    total: int | None = None


def as_object_type(annotation: Any) -> Any:
    """What all frameworks make the same schema of, for a function that returns a page."""
    if annotation is not Page and get_origin(annotation) is not Page:
        return annotation
    (item,) = get_args(annotation) or (Any,)
    fields = {"items": list[item], "next_cursor": str | None, "total": int | None}
    return TypedDict("Page", fields)  # pyright: ignore[reportArgumentType, reportGeneralTypeIssues] - of a type that is known when it runs


def unpaged(value: Any) -> Any:
    """A page as that object; all else as it is."""
    if not isinstance(value, Page):
        return value  # pyright: ignore[reportUnknownVariableType] - whatever it is
    page = cast("Page[Any]", value)
    return {"items": page.items, "next_cursor": page.next_cursor, "total": page.total}


def with_cursor(
    intent: Intent, arguments: Mapping[str, Any], result: Mapping[str, Any] | None
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """The schemas of a tool that gives a list, with a cursor; `None` where it gets none from here.

    That is a tool which writes, gives no list or a list of a fixed length, or has a cursor itself.
    """
    given: Mapping[str, Any] = arguments.get("properties", {})
    found: Mapping[str, Any] = (result or {}).get("properties", {})
    lists = [schema for schema in found.values() if is_list(schema)]
    is_wrapped = set(found) == {WRAPPED}
    is_page = NEXT in found
    if intent.hints.read_only is not True or CURSOR in given or len(lists) != 1:
        return None
    if result is None or not (is_wrapped or is_page):
        return None
    return (
        {**arguments, "properties": {**given, CURSOR: dict(_ARGUMENT)}},
        {**result, "properties": {**found, NEXT: found.get(NEXT, dict(_FIELD))}},
    )


def is_list(schema: Any) -> bool:
    """Whether a schema is of a list that may be of any length."""
    if not isinstance(schema, Mapping):
        return False
    found = cast("Mapping[str, Any]", schema)
    return found.get("type") == "array" and not found.get("minItems") and "prefixItems" not in found
