"""A gateway over real HTTP on loopback, in front of real servers, for the SDK's real client."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import uvicorn

from avow.connect import Target
from avow.gateway import Gateway, make_app, open_gateway
from avow.store import open_store

ERAS = ["2026-07-28", "legacy"]


@dataclass(frozen=True)
class Served:
    """A running gateway and where it is."""

    gateway: Gateway
    url: str


@asynccontextmanager
async def serve(*targets: Target, store: Path, patience: float = 20.0) -> AsyncIterator[Served]:
    """A gateway on a free loopback port."""
    listener = socket.create_server(("127.0.0.1", 0))
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    kept = open_store(f"sqlite:{store}")
    async with open_gateway(
        targets, kept, console=f"{base}/console/", timeout=20, patience=patience
    ) as gateway:
        app = make_app(gateway, "127.0.0.1")
        config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        async with anyio.create_task_group() as group:
            group.start_soon(_serve, server, listener)
            with anyio.fail_after(10):
                while not server.started:
                    await anyio.lowlevel.checkpoint()
            try:
                yield Served(gateway, f"{base}/mcp")
            finally:
                server.should_exit = True
    await kept.close()


async def _serve(server: uvicorn.Server, listener: socket.socket) -> None:
    await server.serve(sockets=[listener])
