"""A web server that speaks MCP, and misbehaves where it is told to.

It runs on threads, for tests of the library and of the command line alike.
"""

import contextlib
import http.server
import json
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

MODERN = "2026-07-28"
OLD = "2025-11-25"
JSON = "application/json"

TOOLS: list[dict[str, Any]] = [
    {
        "name": "get_echo",
        "inputSchema": {
            "type": "object",
            "properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "count": {"type": "integer"},
            },
        },
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "add_note",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False},
    },
]


@dataclass(frozen=True)
class Exchange:
    """One request, and the means to answer it in any way at all."""

    verb: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    handler: http.server.BaseHTTPRequestHandler = field(repr=False)
    ended: threading.Event = field(repr=False)

    @property
    def method(self) -> str:
        return str(self.body.get("method"))

    def reply(self, status: int, body: str = "", kind: str = JSON, **headers: str) -> None:
        content = body.encode()
        self.begin(status, kind, len(content), **headers)
        self.handler.wfile.write(content)

    def begin(self, status: int, kind: str, length: int, **headers: str) -> None:
        self.handler.send_response(status)
        fields = {"Content-Type": kind, "Content-Length": str(length)}
        for name, value in (fields | headers).items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()

    def result(self, value: dict[str, Any], **headers: str) -> None:
        message = {"jsonrpc": "2.0", "id": self.body.get("id"), "result": value}
        self.reply(200, json.dumps(message), **headers)

    def error(self, status: int, code: int, message: str, number: Any = None) -> None:
        error = {"code": code, "message": message}
        self.reply(status, json.dumps({"jsonrpc": "2.0", "id": number, "error": error}))

    def drop(self) -> None:
        """Close the connection as if the server had died."""
        self.handler.close_connection = True
        with contextlib.suppress(OSError):
            self.handler.connection.shutdown(socket.SHUT_RDWR)

    def stop_listening(self) -> None:
        """Take no more connections."""
        cast("http.server.HTTPServer", self.handler.server).socket.close()

    def hang(self) -> None:
        """Answer nothing until the test is over."""
        self.ended.wait(60)
        self.handler.close_connection = True


Answer = Callable[[Exchange], None]


@dataclass
class Site:
    """The server's address, its requests, and its faults, by JSON-RPC method."""

    url: str
    faults: dict[str, Answer]
    requests: list[Exchange] = field(default_factory=list[Exchange])

    def asked(self, method: str) -> list[Exchange]:
        return [one for one in self.requests if one.method == method]


class Quiet(http.server.ThreadingHTTPServer):
    """A server that says nothing of clients that hang up: stderr may be that of a test."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a connection that was reset; else what every server says."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # pyright: ignore[reportArgumentType]


@contextlib.contextmanager
def serve_web(
    era: str = MODERN, tls: ssl.SSLContext | None = None, /, **faults: Answer
) -> Generator[Site]:
    """Serve until left. A fault is named `tools_call` for `tools/call`, `any` for all methods."""
    ended = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length) or b"{}")
            self.take(body)

        def do_DELETE(self) -> None:
            self.take({"method": "delete"})

        def do_GET(self) -> None:
            self.take({"method": "get"})

        def take(self, body: dict[str, Any]) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            exchange = Exchange(self.command, headers, body, self, ended)
            site.requests.append(exchange)
            fault = site.faults.get("any") or site.faults.get(exchange.method.replace("/", "_"))
            with contextlib.suppress(ConnectionError):
                if fault is None:
                    speak(era, exchange)
                else:
                    fault(exchange)

        def log_message(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            pass

    server = Quiet(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    base = f"http://127.0.0.1:{server.server_port}"
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        base = f"https://localhost:{server.server_port}"
    site = Site(f"{base}/mcp", dict(faults))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield site
    finally:
        ended.set()
        server.shutdown()
        thread.join(60)
        server.server_close()


def speak(era: str, exchange: Exchange) -> None:
    """Answer as a sound server of this era does."""
    about: dict[str, Any] = {"capabilities": {"tools": {}}}
    server = {"name": "web", "version": "1"}
    params = exchange.body.get("params") or {}
    match exchange.method:
        case "server/discover" if era == MODERN:
            meta = {"io.modelcontextprotocol/serverInfo": server}
            exchange.result({"supportedVersions": [MODERN], "_meta": meta, **about})
        case "server/discover":
            exchange.error(400, -32000, "Bad Request: Server not initialized")
        case "initialize":
            result = {"protocolVersion": OLD, "serverInfo": server, **about}
            exchange.result(result, Mcp_Session_Id="session-1")
        case "tools/list":
            exchange.result({"tools": TOOLS})
        case "tools/call":
            arguments = params.get("arguments")
            exchange.result({"content": [], "structuredContent": arguments})
        case "get":
            exchange.reply(405)
        case _:
            exchange.reply(202)
