"""From what a function returns to a result: structured, and the same as text."""

import dataclasses
import datetime as dt
import decimal
import enum
import json
import math
import uuid
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, cast, runtime_checkable

from avow.errors import UsageError
from avow.schema import truncate
from avow.serve.context import Context, Made
from avow.serve.functions import called

if TYPE_CHECKING:
    from avow.guard import Answer

MOST: Final = 1_000_000
"""Characters of a result that cannot be cut: more is no use to any model."""

_strictly: Final = json.JSONEncoder(allow_nan=False).encode
_as_text: Final = json.JSONEncoder(ensure_ascii=False).encode
"""Made once: `json.dumps` makes its encoder anew for each value."""
_RESULT: Final = frozenset({"content", "structuredContent", "isError", "_meta"})
_DEEPEST: Final = 64
_FRAMEWORKS: Final = ("mcp", "mcp_types", "fastmcp")
_AS_TEXT: Final = (
    dt.date,
    dt.time,
    uuid.UUID,
    decimal.Decimal,
)


class ShapeError(UsageError):
    """What a tool returned is no JSON, or too much of it."""


@runtime_checkable
class _Model(Protocol):
    """What a pydantic model can do."""

    def model_dump(self, *, mode: str, by_alias: bool) -> dict[str, Any]: ...


async def as_answer(execute: Any, context: Context) -> "Answer":
    """Call a definition's function and make a result of what it returns.

    A plain function runs in a worker thread. A result that it made itself is left as it is. Raises
    `ShapeError` for what is no JSON.
    """
    value = await called(execute, context, context.arguments)
    if isinstance(value, Made) or _is_answer(value):
        return fitting(dict(value))
    if is_made(value):
        return fitting(value.model_dump(mode="json", by_alias=True, exclude_none=True))
    if value is None or isinstance(value, str):
        return fitting({"content": [{"type": "text", "text": value or ""}]})
    return fitting(dict(context.json(to_json(value))))


def agreed(answer: "Answer", value: Any) -> "Answer":
    """A framework's result for `value`, with text that says what its structure says, and no more.

    A result that the author has made is left as it is.
    """
    if is_made(value) or answer.get("isError") is True:
        return answer
    structured = answer.get("structuredContent")
    if structured is None and (value is None or isinstance(value, str | bytes)):
        return fitting(answer)
    if structured is None:
        plain = to_json(value)
        structured = cast("Any", plain) if isinstance(plain, Mapping) else {"result": plain}
    if isinstance(value, str):
        return fitting({**answer, "structuredContent": structured})
    text = {"type": "text", "text": _as_text(structured)}
    return fitting({**answer, "structuredContent": structured, "content": [text]})


def fitting(answer: "Answer") -> "Answer":
    """`answer`, as long as it is JSON, and can be brought to a size that a model can read.

    Raises `ShapeError`.
    """
    structured = answer.get("structuredContent")
    if structured is not None:
        try:
            text = _strictly(structured)
        except (ValueError, TypeError, RecursionError) as error:
            raise ShapeError("the tool returned what is no JSON") from error
        if len(text) > MOST and not truncate(structured).fits:
            raise ShapeError(f"the tool returned {len(text):,} characters")
    elif (long := sum(_texts(answer))) > MOST:
        raise ShapeError(f"the tool returned {long:,} characters")
    return answer


def _texts(answer: "Answer") -> Iterable[int]:
    for block in cast("list[Any]", answer.get("content") or []):
        text = cast("Mapping[str, Any]", block).get("text") if isinstance(block, Mapping) else None
        yield len(text) if isinstance(text, str) else 0


def is_made(value: Any) -> bool:
    """Whether an author has made a result, or blocks of one, with what the framework has."""
    if isinstance(value, list | tuple):
        return any(is_made(one) for one in cast("list[Any]", value)[:100])
    return type(value).__module__.partition(".")[0] in _FRAMEWORKS


def to_json(value: Any, depth: int = 0) -> Any:
    """A pydantic model, dataclass, list or object as JSON. Raises `ShapeError` for all else."""
    if depth > _DEEPEST:
        raise ShapeError(f"the tool returned what is more than {_DEEPEST} levels deep")
    if isinstance(value, _Model):
        return to_json(value.model_dump(mode="json", by_alias=True), depth + 1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [one.name for one in dataclasses.fields(value)]
        return {name: to_json(getattr(value, name), depth + 1) for name in names}
    if isinstance(value, Mapping):
        found = cast("Mapping[Any, Any]", value)
        return {_key(key): to_json(one, depth + 1) for key, one in found.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(one, depth + 1) for one in cast("list[Any]", value)]
    if isinstance(value, enum.Enum):
        return to_json(value.value, depth + 1)
    if isinstance(value, float) and not math.isfinite(value):
        raise ShapeError(f"the tool returned {value}, which is no JSON")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, _AS_TEXT):
        return value.isoformat() if isinstance(value, dt.date | dt.time) else str(value)
    raise ShapeError(f"the tool returned a {type(value).__name__}, which is no JSON")


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    raise ShapeError(f"the tool returned an object with the key {json.dumps(key, default=repr)}")


def _is_answer(value: Any) -> bool:
    """Whether an object is a result as MCP has it, and nothing else that has a `content`."""
    if not isinstance(value, dict) or not cast("dict[Any, Any]", value).keys() <= _RESULT:
        return False
    blocks: Any = cast("dict[str, Any]", value).get("content")
    return isinstance(blocks, list) and all(
        isinstance(one, Mapping) and isinstance(cast("Mapping[str, Any]", one).get("type"), str)
        for one in cast("list[Any]", blocks)
    )
