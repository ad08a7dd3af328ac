"""A small MCP server without the SDK, which starts at once: its tools are plain functions."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

Tool = tuple[Callable[..., str], Mapping[str, Any]]


def listed(name: str, tool: Tool) -> dict[str, Any]:
    function, hints = tool
    known = {"str": "string", "int": "integer"}
    properties = {
        key: {"type": known[getattr(kind, "__name__", str(kind))]}
        for key, kind in function.__annotations__.items()
        if key != "return"
    }
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {
        "name": name,
        "description": function.__doc__ or name,
        "inputSchema": schema,
        "annotations": dict(hints),
    }


def answer(message: dict[str, Any], tools: Mapping[str, Tool]) -> dict[str, Any]:
    params = message.get("params") or {}
    if message["method"] == "initialize":
        info = {"name": "speaker", "version": "1"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if message["method"] == "tools/list":
        return {"tools": [listed(name, one) for name, one in tools.items()]}
    if message["method"] != "tools/call":
        raise LookupError(message["method"])
    try:
        text, is_error = tools[params["name"]][0](**params["arguments"]), False
    except Exception as error:  # noqa: BLE001 - a tool's own failure is its result
        text, is_error = f"{type(error).__name__}: {error}", True
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def serve(tools: Mapping[str, Tool]) -> None:
    """Answer until standard input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = answer(message, tools)
        except LookupError as error:
            reply["error"] = {"code": -32601, "message": str(error)}
        print(json.dumps(reply), flush=True)  # noqa: T201 - how it speaks
