"""From raw JSON to the SDK's own types: a call that has run must not fail for how it is told."""

import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import mcp_types as types
from pydantic import ConfigDict, TypeAdapter, ValidationError

from sayso.guard import Answer

_BLOCK: Final[TypeAdapter[types.ContentBlock]] = TypeAdapter(types.ContentBlock)
_OWN: Final = ("content", "structuredContent", "isError", "_meta", "resultType")

_log: Final = logging.getLogger(__name__)


class _Result(types.CallToolResult):
    """A result with keys that the SDK does not know; they are in `model_extra`."""

    model_config = ConfigDict(extra="allow")


def call_result(answer: Answer) -> types.CallToolResult:
    """The SDK's result. A block of content that the SDK does not know becomes its JSON as text."""
    blocks = answer.get("content")
    meta = answer.get("_meta")
    more = {key: value for key, value in answer.items() if key not in _OWN}
    fields: dict[str, Any] = {
        **more,
        "content": [_block(block) for block in _listed(blocks)],
        "isError": answer.get("isError") is True,
        "_meta": meta if isinstance(meta, dict) else None,
    }
    if "structuredContent" in answer:
        fields["structuredContent"] = answer["structuredContent"]
    return (_Result if more else types.CallToolResult).model_validate(fields)


def tools_result(entries: Iterable[Mapping[str, Any]]) -> types.ListToolsResult:
    """The SDK's list. A tool that its model cannot hold is left out, and the log says so."""
    tools: list[types.Tool] = []
    for entry in entries:
        try:
            tools.append(types.Tool.model_validate({"inputSchema": {"type": "object"}, **entry}))
        except ValidationError as error:
            _log.warning("the tool %r is not listed: %s", entry.get("name"), error)
    return types.ListToolsResult(tools=tools)


def _block(raw: Any) -> types.ContentBlock:
    try:
        return _BLOCK.validate_python(raw)
    except ValidationError:
        return types.TextContent(text=json.dumps(raw, ensure_ascii=False, default=str))


def _listed(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
