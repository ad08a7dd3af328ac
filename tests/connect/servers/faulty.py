"""`faulty.py MODE`: a stdio server in 30 ms, made without an SDK so that it can misbehave.

It speaks 2025-11-25, or 2026-07-28 in the mode `modern`; the other modes are plain but for one
fault. Tools that log write one line to the file that their argument `log` names.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MODERN = "2026-07-28"
OLD = "2025-11-25"
EMPTY: dict[str, Any] = {"type": "object"}
WRITES = {"readOnlyHint": False, "destructiveHint": False, "x-vendor": {"kept": [None, 1]}}

TOOLS: list[dict[str, Any]] = [
    {"name": "get_echo", "inputSchema": EMPTY, "annotations": {"readOnlyHint": True}},
    {"name": "get_array", "inputSchema": EMPTY, "annotations": {"readOnlyHint": True}},
    {"name": "get_environment", "inputSchema": EMPTY, "annotations": {"readOnlyHint": True}},
    {"name": "get_progress", "inputSchema": EMPTY, "annotations": {"readOnlyHint": True}},
    {"name": "get_refused", "inputSchema": EMPTY, "annotations": {"readOnlyHint": True}},
    {"name": "start_child", "inputSchema": EMPTY, "annotations": WRITES},
    {"name": "add_change", "inputSchema": EMPTY, "annotations": WRITES},
    {"name": "add_hang", "inputSchema": EMPTY, "annotations": WRITES},
    {"name": "add_crash", "inputSchema": EMPTY, "annotations": WRITES},
]

ODD_TOOLS: list[Any] = [
    {
        "name": f"odd_{index}",
        "inputSchema": EMPTY,
        "annotations": {"readOnlyHint": value, "x-vendor": {"deep": [1, None, "é"]}},
        "x-unknown": [{"a": None}],
    }
    for index, value in enumerate(["banana", "true", None, 1, {"yes": True}, [True], True])
]

changed: list[str] = []


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def log(arguments: dict[str, Any], line: str) -> None:
    with Path(arguments["log"]).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def text(what: Any, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": json.dumps(what)}], **more}


def call(number: Any, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a tool, or `None` where no answer is sent."""
    arguments = params.get("arguments") or {}
    match params["name"]:
        case "get_echo":
            return text(arguments, structuredContent=arguments, **{"x-unknown": None})
        case "get_array":
            return text([1, None, "é"], structuredContent=[1, None, "é"])
        case "get_environment":
            return text(dict(os.environ))
        case "get_progress":
            token = params["_meta"]["progressToken"]
            for step in (1, 2):
                value = {"progressToken": token, "progress": step, "total": 2, "message": "…"}
                send({"method": "notifications/progress", "params": value})
            return text("done")
        case "get_refused":
            error = {"code": -32000, "message": "out of paper", "data": {"tray": 2}}
            send({"id": number, "error": error})
        case "start_child":
            words = [sys.executable, "-c", "import time; time.sleep(600)"]
            child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return text(child.pid)
        case "add_change":
            changed.append("get_new")
            send({"method": "notifications/tools/list_changed"})
            return text("changed")
        case "add_hang":
            waiting[number] = arguments
            log(arguments, "hang")
        case "add_crash":
            log(arguments, "crash")
            os._exit(1)
        case name:
            error = {"code": -32602, "message": f"Unknown tool: {name}"}
            send({"id": number, "error": error})
    return None


waiting: dict[Any, dict[str, Any]] = {}


def list_tools(mode: str, cursor: str | None) -> dict[str, Any]:
    page = int(cursor or 0)
    match mode:
        case "odd":
            return {"tools": ODD_TOOLS}
        case "endless":
            return {"tools": [], "nextCursor": str(page + 1)}
        case "pages" if page < len(TOOLS) - 1:
            return {"tools": TOOLS[page : page + 1], "nextCursor": str(page + 1)}
        case "pages":
            return {"tools": TOOLS[page:]}
        case "no-list":
            return {"tools": "none"}
        case _:
            return {"tools": TOOLS + [{"name": name, "inputSchema": EMPTY} for name in changed]}


def greet(mode: str, method: str) -> dict[str, Any]:
    """The part of an answer to `server/discover` or `initialize` that is a result or an error."""
    about = {"capabilities": {"tools": {"listChanged": True}}, "instructions": "Be kind."}
    server = {"name": "faulty", "version": "1.0", "x-unknown": True}
    if method == "initialize":
        version = "1999-12-31" if mode == "ancient" else OLD
        return {"result": {"protocolVersion": version, "serverInfo": server, **about}}
    match mode:
        case "modern":
            meta = {"io.modelcontextprotocol/serverInfo": server}
            return {"result": {"supportedVersions": [MODERN], "_meta": meta, **about}}
        case "future":
            supported = {"supported": ["2099-01-01"]}
            return {"error": {"code": -32022, "message": "Unsupported version", "data": supported}}
        case "strict":
            return {"error": {"code": -32000, "message": "Server not initialized"}}
        case "handshake-only":
            return {"result": {"supportedVersions": [OLD], **about}}
        case _:
            return {"error": {"code": -32601, "message": "Method not found"}}


def answer(mode: str, message: dict[str, Any]) -> None:
    number, params = message.get("id"), message.get("params") or {}
    match message.get("method"):
        case "server/discover" if mode == "mute":
            pass
        case "server/discover" if mode == "fragile":
            sys.exit("expect initialized request")
        case "server/discover" | "initialize" as method:
            send({"id": number, **greet(mode, method)})
        case "tools/list" if mode == "dies-listing":
            sys.exit("no tools today")
        case "tools/list" if mode == "slow-listing":
            pass
        case "tools/list":
            send({"id": number, "result": list_tools(mode, params.get("cursor"))})
        case "tools/call":
            result = call(number, params)
            if result is not None:
                send({"id": number, "result": result})
        case "notifications/cancelled" if params.get("requestId") in waiting:
            log(waiting[params["requestId"]], "cancelled")
        case _:
            pass


def main(mode: str) -> None:
    if mode == "exits":
        sys.exit("The variable API_KEY=sk-0123456789abcdefghij is refused.")
    if mode == "garbage":
        sys.stdout.write("Welcome to the best server!\n")
        sys.stdout.flush()
        time.sleep(600)
    if mode == "garbage-exits":
        sys.stdout.write("\N{ESCAPE}[31mWelcome!\n")
        sys.exit(3)
    if mode == "banner":
        sys.stdout.buffer.write(b"Listening \xff on stdio\n")
    if mode == "silent":
        sys.stdin.read()
    if mode == "deaf":
        time.sleep(600)
    for line in sys.stdin:
        answer(mode, json.loads(line))


if __name__ == "__main__":
    main(sys.argv[1])
