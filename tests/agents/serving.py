"""Servers that a client connects to, and what the record says afterwards."""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import StdioServerParameters
from tests.connect.serving import ENVIRONMENT, SERVERS, serve_app

from sayso.audit import merged
from sayso.audit.verifier import verify
from sayso.demo.data import Database
from sayso.demo.server import build_server
from sayso.keys import load_keys
from sayso.store import open_store, store_path


def process(*words: str) -> StdioServerParameters:
    """A server of this Python over stdio."""
    return StdioServerParameters(command=sys.executable, args=[*words], env=ENVIRONMENT)


def faulty(mode: str = "plain") -> StdioServerParameters:
    """The server that misbehaves in one way."""
    return process(str(SERVERS / "faulty.py"), mode)


@asynccontextmanager
async def studio(kind: str, database: Database, path: Path) -> AsyncGenerator[Any]:
    """The demo, as what a client connects to."""
    if kind == "memory":
        yield build_server(database)
    elif kind == "http":
        async with serve_app(build_server(database).streamable_http_app()) as base:
            yield f"{base}/mcp"
    else:
        yield process("-m", "sayso.demo.server", "--data", str(path))


def cutting(app: Any, sent: list[bytes]) -> Any:
    """An application that drops the connection in the middle of its answer to a call."""

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        told = [await receive()]
        if b"tools/call" in told[0]["body"]:
            sent.append(told[0]["body"])
            headers = [(b"content-type", b"application/json"), (b"content-length", b"900")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"{"})
            return

        async def again() -> Any:
            return told.pop() if told else await receive()

        await app(scope, again, send)

    return serve


def text(result: Any) -> str:
    """The text of a result."""
    return "".join(block.text for block in result.content)


async def events(url: str) -> list[tuple[str, str | None]]:
    """Return the recorded events of calls, oldest first."""
    return [(one["event"], one.get("outcome")) for one in await lines(url)]


async def lines(url: str) -> list[dict[str, Any]]:
    """The record's lines about calls, oldest first; fails where they do not verify."""
    store = open_store(url)
    try:
        report = await verify(store.records, load_keys(store_path(url)))
        assert report.problems == []
        rows = [merged(row) for row in reversed(await store.records.newest())]
        return [{"event": row.event, **json.loads(row.body)} for row in rows if row.call]
    finally:
        await store.close()
