"""A gateway over real HTTP on loopback, in front of real servers, for the SDK's real client."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import uvicorn

from sayso.connect import Target
from sayso.console import Login, make_routes
from sayso.gateway import Gateway, make_app, open_gateway
from sayso.store import open_store

ERAS = ["2026-07-28", "legacy"]


@dataclass(frozen=True)
class Served:
    """A running gateway and where it is."""

    gateway: Gateway
    url: str
    login: Login


@asynccontextmanager
async def serve(
    *targets: Target,
    store: Path | str,
    patience: float = 20.0,
    timeout: float = 20.0,
    **more: Any,
) -> AsyncGenerator[Served]:
    """A gateway on a free loopback port; `store` is the URL of a store, or a file for SQLite."""
    kept = open_store(f"sqlite:{store}" if isinstance(store, Path) else store)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with open_gateway(
            targets,
            kept,
            console=f"{base}/console/",
            timeout=timeout,
            patience=patience,
            **more,
        ) as gateway:
            login = Login(base, tokens=kept.tokens, keys=gateway.keys)
            app = make_app(gateway, base, make_routes(gateway, login, base_url=base))
            config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
            async with running(uvicorn.Server(config), listener):
                yield Served(gateway, f"{base}/mcp", login)
    await kept.close()


@asynccontextmanager
async def running(server: uvicorn.Server, listener: socket.socket) -> AsyncGenerator[None]:
    """The server, started; ended when this is left."""
    async with anyio.create_task_group() as group:
        group.start_soon(_serve, server, listener)
        with anyio.fail_after(30):
            while not server.started:
                await anyio.sleep(0.005)
        try:
            yield
        finally:
            server.should_exit = True


async def _serve(server: uvicorn.Server, listener: socket.socket) -> None:
    await server.serve(sockets=[listener])
