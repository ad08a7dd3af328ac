"""`many.py COUNT`: a stdio server with that many tools that read, made without an SDK.

One of them, `find_needle`, is about something else than the others. It speaks 2025-11-25.
"""

import json
import sys
from typing import Any

KINDS = ("anvil", "barrel", "candle", "drum", "easel", "fiddle", "girder", "hammer", "jar")
READS = {"readOnlyHint": True, "openWorldHint": False}


def tool(name: str, what: str) -> dict[str, Any]:
    item = {"type": "string", "description": f"Which {what} it is about."}
    schema = {"type": "object", "properties": {"item": item}, "required": ["item"]}
    described = f"Looks one {what} up on the shelf and tells its weight. " + "It is kept dry. " * 9
    return {
        "name": name,
        "description": described,
        "inputSchema": schema,
        "annotations": READS,
    }


def tools(count: int) -> list[dict[str, Any]]:
    kinds = ((number, KINDS[number % len(KINDS)]) for number in range(count - 1))
    return [
        tool("find_needle", "needle"),
        *(tool(f"get_{kind}_{number}", kind) for number, kind in kinds),
    ]


def answer(count: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        server = {"name": "many", "version": "1.0"}
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": server,
        }
    if method == "tools/list":
        return {"tools": tools(count)}
    return {"content": [{"type": "text", "text": json.dumps(params.get("arguments"))}]}


def main() -> None:
    count = int(sys.argv[1])
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answer(count, message["method"], message.get("params") or {})
            sys.stdout.write(
                json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
