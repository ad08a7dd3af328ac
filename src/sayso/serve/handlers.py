"""What handlers a low-level server gets where it has none, and what becomes of its own."""

import logging
from typing import Any, Final, cast

import mcp_types as types
from mcp.shared.exceptions import MCPError

from sayso.intent import WIRE_NAMES

_log: Final = logging.getLogger(__name__)


def read_raw(handler: Any) -> Any:
    """The handler of lists without hints that are no booleans: the SDK would make them some."""

    async def listed(ctx: Any, params: Any) -> Any:
        result = await handler(ctx, params)
        if not isinstance(result, dict):
            return result
        found = cast("dict[str, Any]", result)
        tools = cast("list[dict[str, Any]]", found.get("tools") or [])
        return {**found, "tools": [_with_booleans(tool) for tool in tools]}

    return listed


def _with_booleans(entry: dict[str, Any]) -> dict[str, Any]:
    annotations: dict[str, Any] = entry.get("annotations") or {}
    wrong = [
        key
        for key in WIRE_NAMES.values()
        if key in annotations and not isinstance(annotations[key], bool)
    ]
    for key in wrong:
        _log.warning("%s of the tool %r is no boolean; it counts as unset", key, entry.get("name"))
    if not wrong:
        return entry
    kept = {key: value for key, value in annotations.items() if key not in wrong}
    return {**entry, "annotations": kept}


async def list_none(_ctx: Any, _params: Any) -> types.ListToolsResult:
    """The list of a server without tools."""
    return types.ListToolsResult(tools=[])


async def know_none(_ctx: Any, params: Any) -> dict[str, Any]:
    """A call of a tool that a server without tools does not have."""
    raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
