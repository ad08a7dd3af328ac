"""A part of a list, as what a tool returns."""

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast, get_args, get_origin

from typing_extensions import TypedDict

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A list or a part of one: its items, where to go on (`None` at the end), how many there are.

    `next_cursor` is what the tool's function takes as `cursor` for the items that come next. A list
    that is too long for a result needs none: avow makes one, for the page as well.
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
