"""A gateway on loopback that knows its callers, and means to attack it without good manners."""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import uvicorn
from tests.access.authority import Authority
from tests.connect.servers.web import MODERN, OLD
from tests.connect.serving import RawClient, modern, raw_client
from tests.gateway.serving import running

from sayso.access import load_access, open_access
from sayso.connect import Target
from sayso.gateway import Gateway, make_app, open_gateway
from sayso.keys import Keyring
from sayso.store import open_store

ERAS = (MODERN, OLD)
KEYS = Keyring.of([b"k" * 32])
CLI_KEYS = base64.b64encode(b"k" * 32).decode()
"""The same for a gateway in a process of its own, as `SAYSO_KEYS`: PostgreSQL keeps no keys."""
SCOPES = "crm.read crm.write"


@dataclass(frozen=True)
class Place:
    """A running gateway, where it is, and the issuer whose tokens it takes."""

    gateway: Gateway
    base: str
    port: int
    authority: Authority

    @property
    def url(self) -> str:
        return f"{self.base}/mcp"

    def token(self, subject: str = "amy", scope: str = SCOPES, **changes: Any) -> str:
        """A sound token of this issuer for this gateway, but for the changes."""
        claims: dict[str, Any] = {"aud": self.url, "sub": subject, "scope": scope, **changes}
        return self.authority.sign(**claims)

    @asynccontextmanager
    async def client(self, era: str, token: str, path: str = "/mcp") -> AsyncGenerator[RawClient]:
        async with raw_client(f"{self.base}{path}", era, authorization=f"Bearer {token}") as client:
            yield client


@asynccontextmanager
async def behind_access(
    authority: Authority, *targets: Target, store: str, keys: Keyring = KEYS, **more: Any
) -> AsyncGenerator[Place]:
    """A gateway that takes this issuer's tokens."""
    import socket

    kept = open_store(store)
    settings = load_access(f'[oauth]\nissuer = "{authority.base}"\n')
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as listener:
        port = listener.getsockname()[1]
        base = f"http://127.0.0.1:{port}"
        async with (
            open_gateway(targets, kept, timeout=20, keys=keys, **more) as gateway,
            open_access(settings, kept.api_keys, keys, url=base) as access,
        ):
            app = make_app(gateway, base, access=access, public_url=base)
            config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
            async with running(uvicorn.Server(config), listener):
                yield Place(gateway, base, port, authority)
    await kept.close()


@dataclass(frozen=True)
class Answer:
    """What came back on a bare connection; `status` 0 where nothing did."""

    status: int
    head: str
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        return json.loads(self.body)


async def send_raw(port: int, said: bytes, *, seconds: float = 10) -> list[Answer]:
    """Say these bytes, and read answers until the other side is done or silent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(said)
    answers: list[Answer] = []
    try:
        async with asyncio.timeout(seconds):
            await writer.drain()
            while (one := await _read(reader)) is not None:
                answers.append(one)
    except (TimeoutError, ConnectionError):
        pass
    finally:
        writer.close()
    return answers


async def _read(reader: asyncio.StreamReader) -> Answer | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    fields = {
        name.lower(): value.strip()
        for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])
    }
    body = b""
    if fields.get("transfer-encoding") == "chunked":
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readexactly(2)
    else:
        body = await reader.readexactly(int(fields.get("content-length", 0)))
    return Answer(int(head.split()[1]), head, body)


Fields = Sequence[tuple[str, str]]


def request(port: int, body: bytes, fields: Fields, *, path: str = "/mcp") -> bytes:
    """A POST with exactly these header fields beside those that any has; it ends the connection."""
    ordinary = {
        "host": f"127.0.0.1:{port}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "content-length": str(len(body)),
        "connection": "close",
    }
    said = {name.lower() for name, _ in fields}
    lines = [f"POST {path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in ordinary.items() if name not in said]
    lines += [f"{name}: {value}" for name, value in fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body


def call_of(name: str) -> tuple[bytes, dict[str, str]]:
    return modern("tools/call", {"name": name, "arguments": {}})


async def get(url: str, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=30, trust_env=False) as http:
        return await http.get(url, headers=headers)
