"""Small servers for tests of connections, as processes and over HTTP."""

import json
import os
import socket
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from mcp import Client
from tests.connect.servers import real

import sayso
from sayso.connect import CommandTarget, UrlTarget
from sayso.connect.envelope import HANDSHAKE_VERSIONS, MODERN, Envelope

KINDS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
}
SERVERS = Path(__file__).parent / "servers"

# A server gets only a few variables: coverage and a checkout that is not installed need theirs.
ENVIRONMENT = {name: text for name, text in os.environ.items() if "COV" in name} | {
    "PYTHONPATH": str(Path(sayso.__file__).parents[1])
}


def faulty(mode: str, name: str = "faulty") -> CommandTarget:
    """The server that misbehaves in one way."""
    return CommandTarget(name, sys.executable, (str(SERVERS / "faulty.py"), mode))


def real_command(*, is_old: bool) -> CommandTarget:
    """The server made with the SDK, over stdio."""
    words = (str(SERVERS / "real.py"), *(["old"] if is_old else []))
    return CommandTarget("real", sys.executable, words, ENVIRONMENT)


@asynccontextmanager
async def real_url(*, is_old: bool) -> AsyncGenerator[UrlTarget]:
    """The server made with the SDK, over HTTP."""
    async with serve_app(real.build(is_old=is_old).streamable_http_app()) as base:
        yield UrlTarget("real", f"{base}/mcp")


@asynccontextmanager
async def serve_app(app: Any, port: int = 0) -> AsyncGenerator[str]:
    """An application on loopback, and its address."""
    with socket.create_server(("127.0.0.1", port)) as listener:
        config = uvicorn.Config(app, ws="none", log_config=None, timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        async with anyio.create_task_group() as group:
            group.start_soon(server.serve, [listener])
            try:
                yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            finally:
                server.should_exit = True


def free_port(host: str) -> int:
    """A port that nobody listens on just now."""
    with socket.create_server((host, 0)) as listener:
        return listener.getsockname()[1]


async def until(is_so: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for what happens outside the event loop; bounded, since it must come."""
    with anyio.fail_after(seconds):
        while not is_so():
            await anyio.sleep(0.01)


def until_listed(url: str) -> None:
    """Wait until a gateway lists tools: it waits 5 seconds for a server to start, a busy one more.

    A blocking function, for fixtures.
    """
    body, headers = modern("tools/list", {})
    end = time.monotonic() + 60
    while True:
        answer = httpx2.post(
            url, content=body, headers=KINDS | headers, timeout=60, trust_env=False
        )
        if answer.raise_for_status().json()["result"]["tools"]:
            return
        assert time.monotonic() < end, "the gateway lists no tool"


async def listed(client: Client) -> set[str]:
    """The names of the tools that a gateway lists, once its servers have started."""
    with anyio.fail_after(60):
        while not (tools := (await client.list_tools(cache_mode="refresh")).tools):
            await anyio.sleep(0.05)
    return {tool.name for tool in tools}


def modern(method: str, params: Mapping[str, Any]) -> tuple[bytes, dict[str, str]]:
    """A request of 2026-07-28: its body, and the headers that belong to it."""
    envelope = Envelope(MODERN, {"name": "amy", "version": "1"}, {})
    said = {"jsonrpc": "2.0", "id": 7, "method": method, "params": envelope.params(params)}
    return json.dumps(said).encode(), dict(envelope.headers(method, params))


async def until_there(path: Path, wanted: str) -> None:
    """Wait for a file that holds `wanted`."""
    await until(lambda: path.exists() and wanted in path.read_text())


@dataclass
class RawClient:
    """Speaks JSON as it stands to an MCP server over HTTP, in one era; no SDK looks at it."""

    url: str
    era: str
    http: httpx2.AsyncClient
    session: dict[str, str]
    capabilities: Any = field(default_factory=dict[str, Any])
    name: str = "amy"

    async def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The JSON-RPC message that answers a request."""
        return (await self.messages(method, params))[-1]

    async def messages(
        self, method: str, params: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """All messages that come back for a request; the last one answers it."""
        envelope = Envelope(self.era, {"name": self.name, "version": "1"}, self.capabilities)
        given = params or {}
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": envelope.params(given)}
        headers = envelope.headers(method, given) | self.session
        return _messages(await self.post(json.dumps(message), **headers))

    async def open(self, method: str, params: Mapping[str, Any]) -> "Stream":
        """A request whose answer is read message by message; to be left by `close`."""
        envelope = Envelope(self.era, {"name": self.name, "version": "1"}, self.capabilities)
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": envelope.params(params)}
        headers = envelope.headers(method, params) | self.session | KINDS
        request = self.http.build_request("POST", self.url, json=message, headers=headers)
        response = await self.http.send(request, stream=True)
        return Stream(response, response.aiter_lines())

    async def tell(self, **message: Any) -> httpx2.Response:
        """Send a message that is no request."""
        version = {"mcp-protocol-version": self.era}
        return await self.post(json.dumps({"jsonrpc": "2.0", **message}), **version, **self.session)

    async def result(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The result of a request; fails for an error."""
        message = await self.ask(method, params)
        assert "result" in message, message
        return message["result"]

    async def call(self, name: str, arguments: Any = None, **meta: Any) -> dict[str, Any]:
        """The result of a tool; `meta` travels with the call."""
        params = {"name": name, "arguments": arguments or {}}
        return await self.result("tools/call", {**params, "_meta": meta} if meta else params)

    async def post(self, body: str | bytes, **headers: str) -> httpx2.Response:
        return await self.http.post(self.url, content=body, headers=KINDS | headers)


@dataclass
class Stream:
    """The messages of one answer, as they come."""

    response: httpx2.Response
    lines: AsyncIterator[str]

    async def next(self) -> dict[str, Any]:
        """The next message; bounded, since it must come."""
        with anyio.fail_after(60):
            async for line in self.lines:
                if line.startswith(("data: {", "{")):
                    return json.loads(line.removeprefix("data: "))
        pytest.fail("the stream has ended")

    async def close(self) -> None:
        await self.response.aclose()


@asynccontextmanager
async def raw_client(
    url: str, era: str, *, capabilities: Any = None, **headers: str
) -> AsyncGenerator[RawClient]:
    """A client of that era, after its handshake where there is one."""
    async with httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as http:
        client = RawClient(url, era, http, {}, capabilities or {})
        if era in HANDSHAKE_VERSIONS:
            info = {"name": "amy", "version": "1"}
            params = {"protocolVersion": era, "capabilities": client.capabilities}
            params |= {"clientInfo": info}
            hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
            response = await client.post(json.dumps(hello))
            client.session["mcp-session-id"] = response.headers["mcp-session-id"]
            done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await client.post(json.dumps(done), **client.session)
        yield client


def _messages(response: httpx2.Response) -> list[dict[str, Any]]:
    """The messages of a body, whether it is JSON or a stream of events."""
    if response.headers["content-type"].startswith("application/json"):
        return [response.json()]
    events = [line for line in response.text.splitlines() if line.startswith("data: {")]
    return [json.loads(one.removeprefix("data: ")) for one in events]
