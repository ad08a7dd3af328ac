"""`faulty.py MODE`: a stdio server in 30 ms, made without an SDK so that it can misbehave.

It speaks 2025-11-25, or 2026-07-28 in the mode `modern`; the other modes are plain but for one
fault. Tools that log write one line to the file that their argument `log` names.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Tool = Callable[[], dict[str, Any] | None]

MODERN = "2026-07-28"
OLD = "2025-11-25"
EMPTY: dict[str, Any] = {"type": "object"}
WRITES: dict[str, Any] = {
    "readOnlyHint": False,
    "destructiveHint": False,
    "openWorldHint": False,
    "x-vendor": {"kept": [None, 1]},
}

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
    {"name": "delete_all", "inputSchema": EMPTY},
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
waiting: dict[Any, dict[str, Any]] = {}
asked: list[str] = []


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def fail(number: Any, code: int, message: str, data: Any = None) -> None:
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    send({"id": number, "error": error})


def log(arguments: dict[str, Any], line: str) -> None:
    with Path(arguments["log"]).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def text(what: Any, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": json.dumps(what)}], **more}


def get_progress(params: dict[str, Any]) -> dict[str, Any]:
    token = params["_meta"]["progressToken"]
    for step in (1, 2):
        value = {"progressToken": token, "progress": step, "total": 2, "message": f"step {step}"}
        send({"method": "notifications/progress", "params": value})
    return text("done")


def start_child() -> dict[str, Any]:
    words = [sys.executable, "-c", "import time; time.sleep(600)"]
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return text(child.pid)


def add_change() -> dict[str, Any]:
    changed.append("get_new")
    send({"method": "notifications/tools/list_changed"})
    return text("changed")


def add_hang(number: Any, arguments: dict[str, Any]) -> None:
    waiting[number] = arguments
    log(arguments, "hang")


def add_crash(arguments: dict[str, Any]) -> None:
    log(arguments, "crash")
    os._exit(1)


def call(number: Any, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a tool, or `None` where nothing more is to be said."""
    arguments = params.get("arguments") or {}
    tools: dict[str, Tool] = {
        "get_echo": lambda: text(arguments, structuredContent=arguments, **{"x-unknown": None}),
        "get_array": lambda: text([1, None, "é"], structuredContent=[1, None, "é"]),
        "get_environment": lambda: text(dict(os.environ)),
        "get_progress": lambda: get_progress(params),
        "get_refused": lambda: fail(number, -32000, "out of paper", {"tray": 2}),
        "start_child": start_child,
        "add_change": add_change,
        "add_hang": lambda: add_hang(number, arguments),
        "add_crash": lambda: add_crash(arguments),
        "delete_all": lambda: log(arguments, "deleted"),
    }
    unknown = f"Unknown tool: {params['name']}"
    return tools.get(params["name"], lambda: fail(number, -32602, unknown))()


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
    supported = {"supported": [MODERN if mode == "late" else "2099-01-01"]}
    unsupported = {"error": {"code": -32022, "message": "Unsupported version", "data": supported}}
    if method == "initialize" and mode == "late":
        return unsupported
    if method == "initialize":
        version = "1999-12-31" if mode == "ancient" else OLD
        return {"result": {"protocolVersion": version, "serverInfo": server, **about}}
    match mode:
        case "modern" | "late":
            meta = {"io.modelcontextprotocol/serverInfo": server}
            return {"result": {"supportedVersions": [MODERN], "_meta": meta, **about}}
        case "future":
            return unsupported
        case "strict":
            return {"error": {"code": -32000, "message": "Server not initialized"}}
        case "handshake-only":
            return {"result": {"supportedVersions": [OLD], **about}}
        case _:
            return {"error": {"code": -32601, "message": "Method not found"}}


def answer(mode: str, message: dict[str, Any]) -> None:
    number, params = message.get("id"), message.get("params") or {}
    match message.get("method"):
        case "server/discover" | "initialize" as method:
            send({"id": number, **greet(mode, method)})
        case "tools/list":
            send({"id": number, "result": list_tools(mode, params.get("cursor"))})
        case "tools/call" if mode == "chatty":
            send({"id": number, "result": chat(params)})
        case "tools/call" if mode == "curious":
            send({"id": number, "result": text("", structuredContent=ask_back())})
        case "tools/call":
            result = call(number, params)
            if result is not None:
                send({"id": number, "result": result})
        case "notifications/cancelled" if params.get("requestId") in waiting:
            log(waiting[params["requestId"]], "cancelled")
        case _:
            pass


def chat(params: dict[str, Any]) -> dict[str, Any]:
    """Tells as many `lines` of 100 KB as is asked for, and as often how far it is."""
    arguments = params["arguments"]
    token = (params.get("_meta") or {}).get("progressToken")
    for step in range(arguments.get("lines", 0)):
        told = {"level": "info", "data": f"{step} " + "x" * 100_000}
        send({"method": "notifications/message", "params": told})
        if token is not None:
            done = {"progressToken": token, "progress": step}
            send({"method": "notifications/progress", "params": done})
    if "log" in arguments:
        log(arguments, "told all")
    return text("done")


def ask_back() -> dict[str, Any]:
    """Return the client's answers to requests of the server."""
    answers: dict[str, Any] = {}
    for method in ("ping", "sampling/createMessage"):
        send({"id": f"mine {method}", "method": method, "params": {}})
        answers[method] = json.loads(sys.stdin.readline())
    return answers


def is_refused(mode: str, method: str) -> bool:
    """Return whether this request gets no answer, or ends the process."""
    match mode, method:
        case "fragile", "server/discover":
            sys.exit("expect initialized request")
        case "dies-listing", "tools/list":
            sys.exit("no tools today")
        case "late", "server/discover":
            asked.append(method)
            return len(asked) == 1
        case _:
            return (mode, method) in {("mute", "server/discover"), ("slow-listing", "tools/list")}


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
        message = json.loads(line)
        if not is_refused(mode, message.get("method", "")):
            answer(mode, message)


if __name__ == "__main__":
    main(sys.argv[1])
