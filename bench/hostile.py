"""A server whose tools, schemas, lists and results are as costly as it can make them.

It speaks the protocol as plain JSON over HTTP. Usage: `python bench/hostile.py PORT TOOLS`
"""

import json
import sys
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

READ: Final = {"readOnlyHint": True, "openWorldHint": False}
DESTROY: Final = {"readOnlyHint": False, "destructiveHint": True}
MEGABYTE: Final = 1_000_000
_METHOD_NOT_FOUND: Final = -32601


def group(name: str) -> dict[str, Any]:
    """Conditions of a search filter that are joined by one word."""
    items = {"type": "array", "items": {"$ref": "#/$defs/filter"}}
    return {"type": "object", "properties": {name: items}, "required": [name]}


LEAF: Final = {
    "type": "object",
    "properties": {"field": {"type": "string"}, "op": {"enum": ["eq", "ne"]}},
    "required": ["field", "op"],
}
FILTER: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"filter": {"$ref": "#/$defs/filter"}},
    "$defs": {"filter": {"anyOf": [group("and"), group("or"), LEAF]}},
}


def doubling(levels: int = 28) -> dict[str, Any]:
    """A schema of a few lines that looks at a value 2 ** levels times."""
    inner: dict[str, Any] = {
        f"level{at}": {"allOf": [{"$ref": f"#/$defs/level{at + 1}"}] * 2} for at in range(levels)
    }
    inner[f"level{levels}"] = {"type": "object"}
    return {"type": "object", "$ref": "#/$defs/level0", "$defs": inner}


def listed(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A schema of one list, `items`."""
    return {"type": "object", "properties": {"items": {"type": "array", "items": items, **more}}}


def tool(
    name: str, hints: dict[str, Any], schema: dict[str, Any], result: dict[str, Any] | None = None
) -> dict[str, Any]:
    """One entry of the list."""
    entry = {"name": name, "description": f"{name}.", "annotations": hints, "inputSchema": schema}
    return entry | ({"outputSchema": result} if result else {})


ROW: Final = {"type": "object", "properties": {"id": {"type": "integer"}}}
TOOLS: Final = [
    tool("get_filtered", READ, FILTER),
    tool("get_doubled", READ, doubling()),
    tool("get_flat", READ, listed({"type": "string"})),
    tool("get_unique", READ, listed({}, uniqueItems=True)),
    tool("get_any", READ, {"type": "object"}),
    tool("delete_any", DESTROY, {"type": "object"}),
    tool("get_text", READ, {"type": "object"}),
    tool("get_json", READ, {"type": "object"}),
    tool("get_rows", READ, {"type": "object"}, listed(ROW)),
]
TEXT: Final = "x" * (10 * MEGABYTE)
ROWS: Final = [{"id": at, "secret": "s" * 30} for at in range(200_000)]


def result_of(name: str) -> dict[str, Any]:
    """What a call answers: ten megabytes where its name says so."""
    if name == "get_rows":
        structured = {"items": ROWS}
        return {"content": [], "structuredContent": structured}
    text = {"get_text": TEXT, "get_json": json.dumps(ROWS)}.get(name, "done")
    return {"content": [{"type": "text", "text": text}]}


def make_app(tools: list[dict[str, Any]]) -> Starlette:
    """The server."""
    results = {name: result_of(name) for name in ("get_rows", "get_text", "get_json")}

    async def answer(request: Request) -> Response:
        message = json.loads(await request.body())
        method, told = message.get("method"), {"jsonrpc": "2.0", "id": message.get("id")}
        if "id" not in message:
            return Response(status_code=202)
        if method == "initialize":
            result: dict[str, Any] = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "hostile", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": tools}
        elif method == "tools/call":
            name = message["params"]["name"]
            result = results.get(name) or result_of(name)
        else:
            error = {"code": _METHOD_NOT_FOUND, "message": "Method not found"}
            return Response(json.dumps({**told, "error": error}), media_type="application/json")
        return Response(json.dumps({**told, "result": result}), media_type="application/json")

    async def none(_: Request) -> Response:
        return Response(status_code=405)

    return Starlette(
        routes=[Route("/mcp", answer, methods=["POST"]), Route("/mcp", none, methods=["GET"])]
    )


def main() -> None:
    """Serve until ended."""
    many = [
        {**TOOLS[4], "name": f"get_part_{at:05d}", "description": f"Get part {at} of the whole."}
        for at in range(int(sys.argv[2]))
    ]
    app = make_app([*TOOLS, *many])
    port = int(sys.argv[1])
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
