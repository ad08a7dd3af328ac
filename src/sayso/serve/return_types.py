"""Types that a tool's function may return: a page of a list, and data with its own text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar, cast, get_args, get_origin

from typing_extensions import TypedDict

from sayso.errors import UsageError
from sayso.intent import Intent

T = TypeVar("T")

CURSOR: Final = "cursor"
NEXT: Final = "next_cursor"
WRAPPED: Final = "result"
"""The key for a result that is only a list, since structured content must be an object."""
_TEXT_OR_NULL: Final = ({"type": "string"}, {"type": "null"})
_ARGUMENT: Final[Mapping[str, Any]] = {
    "anyOf": list(_TEXT_OR_NULL),
    "default": None,
    "description": "The position to continue from: next_cursor of the previous, same call.",
}
_FIELD: Final[Mapping[str, Any]] = {"anyOf": list(_TEXT_OR_NULL), "default": None}


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A list or a part of one: its items, the next cursor (`None` at the end), and the total.

    Called again with `next_cursor` as the argument `cursor`, the function returns the next items.
    Lists and pages that are too long for one result need no cursor, because sayso adds one.
    """

    items: list[T] = field(default_factory=list)  # pyright: ignore[reportUnknownVariableType] - of T
    next_cursor: str | None = None
    total: int | None = None


def object_type(annotation: Any) -> Any:
    """Return a type to use in place of `Page`, so that all frameworks make the same schema."""
    if annotation is not Page and get_origin(annotation) is not Page:
        return annotation
    (item,) = get_args(annotation) or (Any,)
    fields = {"items": list[item], "next_cursor": str | None, "total": int | None}
    return TypedDict("Page", fields)  # pyright: ignore[reportArgumentType, reportGeneralTypeIssues] - of a type that is known when it runs


def page_to_dict(value: Any) -> Any:
    """Return a page as an object, and any other value unchanged."""
    if not isinstance(value, Page):
        return value  # pyright: ignore[reportUnknownVariableType] - whatever it is
    page = cast("Page[Any]", value)
    return {"items": page.items, "next_cursor": page.next_cursor, "total": page.total}


def with_cursor(
    intent: Intent, arguments: Mapping[str, Any], result: Mapping[str, Any] | None
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """Return the schemas of a tool that returns a list, with a cursor added.

    Returns `None` if the tool writes, has a cursor already, or returns no list of variable length.
    """
    inputs: Mapping[str, Any] = arguments.get("properties", {})
    outputs: Mapping[str, Any] = (result or {}).get("properties", {})
    lists = [schema for schema in outputs.values() if is_list(schema)]
    if intent.hints.read_only is not True or CURSOR in inputs or len(lists) != 1:
        return None
    if result is None or not (set(outputs) == {WRAPPED} or NEXT in outputs):
        return None
    return (
        {**arguments, "properties": {**inputs, CURSOR: dict(_ARGUMENT)}},
        {**result, "properties": {**outputs, NEXT: outputs.get(NEXT, dict(_FIELD))}},
    )


def is_list(schema: Any) -> bool:
    """Return whether a schema describes a list of any length."""
    if not isinstance(schema, Mapping):
        return False
    keys = cast("Mapping[str, Any]", schema)
    return keys.get("type") == "array" and not keys.get("minItems") and "prefixItems" not in keys


@dataclass(frozen=True, slots=True)
class Result(Generic[T]):
    """Structured data, with the text that a person or a model reads instead of its JSON.

    The data must match the tool's output schema, which is made from `T` in `Result[T]`. Clients get
    the data as `structuredContent`, and `text` as the only block of `content`.

    >>> Result({"total": 3}, text="Three notes.").text
    'Three notes.'
    """

    data: T
    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - servers are seldom typed
            raise UsageError(f"text must be a string, got {self.text!r}", where="Result")


def data_type(annotation: Any) -> Any:
    """Return the data type of a `Result` type, and any other type unchanged."""
    if annotation is not Result and get_origin(annotation) is not Result:
        return annotation
    (data,) = get_args(annotation) or (Any,)
    return data


def split_result(value: Any) -> tuple[Any, str | None]:
    """Return the data and the text of a `Result`. For any other value, the text is `None`."""
    if not isinstance(value, Result):
        return value, None  # pyright: ignore[reportUnknownVariableType] - whatever it is
    result = cast("Result[Any]", value)
    return result.data, result.text
