"""From what a definition's function returns to a result: structured, and the same as text."""

import dataclasses
import inspect
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, cast, runtime_checkable

import anyio.to_thread

from avow.errors import UsageError
from avow.guard import Answer
from avow.serve.context import Context

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list: its items, where to go on (`None` at the end), and how many there are."""

    items: list[T] = field(default_factory=list)  # pyright: ignore[reportUnknownVariableType] - of T
    next_cursor: str | None = None
    total: int | None = None


@runtime_checkable
class _Model(Protocol):
    """What a pydantic model can do."""

    def model_dump(self, *, mode: str, by_alias: bool) -> dict[str, Any]: ...


async def as_answer(execute: Any, context: Context) -> Answer:
    """Call a definition's function and make a result of what it returns.

    A plain function runs in a worker thread. A result that it made itself is left as it is. Raises
    `UsageError` for what is no JSON.
    """
    arguments = context.arguments
    if inspect.iscoroutinefunction(execute):
        value = await execute(context, arguments)
    else:
        value = await anyio.to_thread.run_sync(execute, context, arguments)
        value = await value if inspect.isawaitable(value) else value
    if _is_answer(value):
        return cast("Answer", value)
    if value is None or isinstance(value, str):
        return {"content": [{"type": "text", "text": value or ""}]}
    return context.json(to_json(value))


def to_json(value: Any) -> Any:
    """A pydantic model, dataclass, list or object as JSON. Raises `UsageError` for all else."""
    if isinstance(value, _Model):
        return value.model_dump(mode="json", by_alias=True)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [one.name for one in dataclasses.fields(value)]
        return {name: to_json(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        found = cast("Mapping[Any, Any]", value)
        return {_key(key): to_json(one) for key, one in found.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(one) for one in cast("list[Any]", value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"the tool returned {value}, which is no JSON")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise UsageError(f"the tool returned a {type(value).__name__}, which is no JSON")


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    raise UsageError(f"the tool returned an object with the key {json.dumps(key, default=repr)}")


def _is_answer(value: Any) -> bool:
    """Whether a function has made its result itself, as `Context.json` does."""
    return isinstance(value, dict) and isinstance(
        cast("dict[str, Any]", value).get("content"), list
    )
