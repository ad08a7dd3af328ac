"""From what a function returns to a result: structured, and the same as text."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import mcp_types as types
from pydantic import ValidationError

from sayso.schema import truncate
from sayso.serve.call_context import Context, Made, structure_of
from sayso.serve.functions import called, surviving
from sayso.serve.result import Result, parted
from sayso.serve.values import ShapeError, to_json

if TYPE_CHECKING:
    from sayso.guard import Answer

MOST: Final = 1_000_000
"""Characters of a result that cannot be cut: more is no use to any model."""

_encode: Final = json.JSONEncoder(allow_nan=False, ensure_ascii=False).encode
"""Made once: `json.dumps` makes its encoder anew for each value."""
_RESULT: Final = frozenset({"content", "structuredContent", "isError", "_meta"})
_FRAMEWORKS: Final = ("mcp", "mcp_types", "fastmcp")


async def as_answer(execute: Any, context: Context) -> "Answer":
    """Call a definition's function and make a result of what it returns.

    A plain function runs in a worker thread. A result that it made itself is left as it is. Raises
    `ShapeError` for what is no JSON.
    """
    value = await called(execute, context, context.arguments)
    with surviving():
        return _answer_of(value)


def _answer_of(value: Any) -> "Answer":
    if isinstance(value, Made):
        return fitting(dict(value))
    if isinstance(value, Result):
        data, text = parted(cast("Any", value))
        return with_text({}, data, text)
    if _is_answer(value):
        try:
            return fitting(_wire(types.CallToolResult.model_validate(to_json(value))))
        except ValidationError as error:
            raise ShapeError("the tool returned what is no result of MCP") from error
    if is_made(value):
        return fitting(_wire(value))
    if value is None or isinstance(value, str):
        return fitting({"content": [{"type": "text", "text": value or ""}]})
    return _said({}, structure_of(to_json(value)))


def agreed(answer: "Answer", value: Any) -> "Answer":
    """A framework's result for `value`, with text that says what its structure says, and no more.

    A result that the author has made is left as it is.
    """
    if is_made(value) or answer.get("isError") is True:
        return fitting(answer)
    structured = answer.get("structuredContent")
    if structured is None and (value is None or isinstance(value, str | bytes)):
        return fitting(answer)
    if structured is None:
        with surviving():
            structured = structure_of(to_json(value))
    if isinstance(value, str):
        return fitting({**answer, "structuredContent": structured})
    return _said(answer, structured)


def with_text(answer: "Answer", value: Any, text: str | None) -> "Answer":
    """`answer` with the text that the author gave beside `value`, if any, and always structured."""
    if text is None or answer.get("isError") is True:
        return answer
    structured = answer.get("structuredContent")
    if structured is None:
        with surviving():
            structured = structure_of(to_json(value))
    block = {"type": "text", "text": text}
    return fitting({**answer, "structuredContent": structured, "content": [block]})


def _said(answer: "Answer", structured: Any) -> "Answer":
    text = _json(structured)
    block = {"type": "text", "text": text}
    return fitting({**answer, "structuredContent": structured, "content": [block]}, text)


def fitting(answer: "Answer", text: str = "") -> "Answer":
    """`answer`, as long as it can be sent, and brought to a size that a model can read.

    What no transport can write would end the connection, for all calls on it. `text` is the
    structure as JSON, where that was made already: it is not made again. Raises `ShapeError`.
    """
    others = {**answer, "structuredContent": None} if text else answer
    if (size := len(text.encode()) + len(_json(others).encode())) > MOST:
        structured = answer.get("structuredContent")
        if structured is not None and not truncate(structured).fits:
            raise ShapeError(f"the tool returned {size:,} characters")
        if (long := sum(_texts(answer, is_cut=structured is not None))) > MOST:
            raise ShapeError(f"the tool returned {long:,} characters")
    return answer


def _json(value: Any) -> str:
    try:
        text = _encode(value)
        text.encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise ShapeError("the tool returned what is no JSON") from error
    return text


def _texts(answer: "Answer", *, is_cut: bool) -> Iterable[int]:
    """How long its texts are, but for those that are cut with the structure that they repeat."""
    from sayso.guard import is_json_text  # noqa: PLC0415 - for what is too long

    for block in cast("list[dict[str, Any]]", answer.get("content") or []):
        if block.get("type") == "text" and not (is_cut and is_json_text(block)):
            yield len(str(block.get("text", "")))


def is_made(value: Any) -> bool:
    """Whether an author has made a result, or blocks of one, with what the framework has."""
    if isinstance(value, list | tuple):
        return any(is_made(item) for item in cast("list[Any]", value)[:100])
    return type(value).__module__.partition(".")[0] in _FRAMEWORKS


def _is_answer(value: Any) -> bool:
    """Whether an object is a result as MCP has it, and nothing else that has a `content`."""
    if not isinstance(value, dict) or not cast("dict[Any, Any]", value).keys() <= _RESULT:
        return False
    blocks: Any = cast("dict[str, Any]", value).get("content")
    return isinstance(blocks, list) and all(
        isinstance(block, Mapping) and isinstance(cast("Mapping[str, Any]", block).get("type"), str)
        for block in cast("list[Any]", blocks)
    )


def _wire(model: Any) -> "Answer":
    return cast("Answer", model.model_dump(mode="json", by_alias=True, exclude_none=True))
