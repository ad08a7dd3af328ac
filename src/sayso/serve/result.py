"""A result with a text of its own, as what a tool returns."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast, get_args, get_origin

from sayso.errors import UsageError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Result(Generic[T]):
    """Structured data, and the text that a person or a model reads instead of its JSON.

    The data must fit the tool's output schema, which is that of `T` in `Result[T]`. Clients get it
    as `structuredContent`, and `text` as the only block of `content`.

    >>> Result({"total": 3}, text="Three notes.").text
    'Three notes.'
    """

    data: T
    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - servers are seldom typed
            raise UsageError(f"text must be a text, not {self.text!r}", where="Result")


def data_type(annotation: Any) -> Any:
    """The type of the data, for a function that returns a `Result`; any other type as it is."""
    if annotation is not Result and get_origin(annotation) is not Result:
        return annotation
    (data,) = get_args(annotation) or (Any,)
    return data


def parted(value: Any) -> tuple[Any, str | None]:
    """The data and the text of a `Result`; any other value has no text."""
    if not isinstance(value, Result):
        return value, None  # pyright: ignore[reportUnknownVariableType] - whatever it is
    result = cast("Result[Any]", value)
    return result.data, result.text
