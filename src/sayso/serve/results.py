"""Conversion of a function's return value to a result, as structured content and as text."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import mcp_types as types
from pydantic import ValidationError

from sayso.schema import truncate
from sayso.serve.call_context import Context, RawResult, structure_of
from sayso.serve.functions import called, containing_exits
from sayso.serve.return_types import Result, split_result
from sayso.serve.values import ShapeError, to_json

if TYPE_CHECKING:
    from sayso.guard import Answer

MAX_BYTES: Final = 1_000_000
"""The maximum size of a result that sayso cannot cut. No model can read more."""

_encode: Final = json.JSONEncoder(allow_nan=False, ensure_ascii=False).encode
"""A shared encoder, because `json.dumps` creates a new one for each value."""
_RESULT: Final = frozenset({"content", "structuredContent", "isError", "_meta"})
_FRAMEWORKS: Final = ("mcp", "mcp_types", "fastmcp")


async def as_answer(execute: Any, context: Context) -> "Answer":
    """Call a definition's function and return its value as a result.

    A plain function runs in a worker thread. A finished result is returned unchanged. Raises
    `ShapeError` if the value is not JSON.
    """
    value = await called(execute, context, context.arguments)
    with containing_exits():
        return _answer_of(value)


def _answer_of(value: Any) -> "Answer":
    if isinstance(value, RawResult):
        return check_size(dict(value))
    if isinstance(value, Result):
        data, text = split_result(cast("Any", value))
        return with_text({}, data, text)
    if _is_answer(value):
        try:
            return check_size(_wire(types.CallToolResult.model_validate(to_json(value))))
        except ValidationError as error:
            raise ShapeError("the tool returned an invalid MCP result") from error
    if is_sdk_result(value):
        return check_size(_wire(value))
    if value is None or isinstance(value, str):
        return check_size({"content": [{"type": "text", "text": value or ""}]})
    return _with_json_text({}, structure_of(to_json(value)))


def with_matching_text(answer: "Answer", value: Any) -> "Answer":
    """Return a framework's result for `value`, with text that matches its structured content.

    A result that the author made is returned unchanged.
    """
    if is_sdk_result(value) or answer.get("isError") is True:
        return check_size(answer)
    structured = answer.get("structuredContent")
    if structured is None and (value is None or isinstance(value, str | bytes)):
        return check_size(answer)
    if structured is None:
        with containing_exits():
            structured = structure_of(to_json(value))
    if isinstance(value, str):
        return check_size({**answer, "structuredContent": structured})
    return _with_json_text(answer, structured)


def with_text(answer: "Answer", value: Any, text: str | None) -> "Answer":
    """Return `answer` with the author's `text`, and `value` if it has no structured content."""
    if text is None or answer.get("isError") is True:
        return answer
    structured = answer.get("structuredContent")
    if structured is None:
        with containing_exits():
            structured = structure_of(to_json(value))
    block = {"type": "text", "text": text}
    return check_size({**answer, "structuredContent": structured, "content": [block]})


def _with_json_text(answer: "Answer", structured: Any) -> "Answer":
    text = _json(structured)
    block = {"type": "text", "text": text}
    return check_size({**answer, "structuredContent": structured, "content": [block]}, text)


def check_size(answer: "Answer", text: str = "") -> "Answer":
    """Return `answer`. Raises `ShapeError` if it is not JSON, or too large and cannot be cut.

    Without this check, an answer that cannot be written would end the connection with all its
    calls. `text` is the structured content as JSON, if already made.
    """
    others = {**answer, "structuredContent": None} if text else answer
    if (size := len(text.encode()) + len(_json(others).encode())) > MAX_BYTES:
        structured = answer.get("structuredContent")
        if structured is not None and not truncate(structured).fits:
            raise _too_large(size)
        if (long := sum(_texts(answer, is_cut=structured is not None))) > MAX_BYTES:
            raise _too_large(long)
    return answer


def _too_large(size: int) -> ShapeError:
    return ShapeError(f"the tool returned {size:,} bytes; at most {MAX_BYTES:,} are possible")


def _json(value: Any) -> str:
    try:
        text = _encode(value)
        text.encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise ShapeError("the tool returned a value that is not JSON") from error
    return text


def _texts(answer: "Answer", *, is_cut: bool) -> Iterable[int]:
    """Yield the bytes of each text block. Skip blocks that are cut with the structured content."""
    from sayso.guard import is_json_text  # noqa: PLC0415 - only for long results

    for block in cast("list[dict[str, Any]]", answer.get("content") or []):
        if block.get("type") == "text" and not (is_cut and is_json_text(block)):
            yield len(str(block.get("text", "")).encode("utf-8", "surrogatepass"))


def is_sdk_result(value: Any) -> bool:
    """Return whether a value is a result or content blocks, in the framework's own classes."""
    if isinstance(value, list | tuple):
        return any(is_sdk_result(item) for item in cast("list[Any]", value)[:100])
    return type(value).__module__.partition(".")[0] in _FRAMEWORKS


def _is_answer(value: Any) -> bool:
    if not isinstance(value, dict) or not cast("dict[Any, Any]", value).keys() <= _RESULT:
        return False
    blocks: Any = cast("dict[str, Any]", value).get("content")
    return isinstance(blocks, list) and all(
        isinstance(block, Mapping) and isinstance(cast("Mapping[str, Any]", block).get("type"), str)
        for block in cast("list[Any]", blocks)
    )


def _wire(model: Any) -> "Answer":
    return cast("Answer", model.model_dump(mode="json", by_alias=True, exclude_none=True))
