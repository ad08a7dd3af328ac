"""Telemetry of a gateway, configured by its options, and the HTTP server of its metrics."""

import contextlib
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from typing import Final

import anyio
import uvicorn
from typing_extensions import override

from sayso.access import own_names
from sayso.beside import beside
from sayso.cli.address import bind
from sayso.cli.drain import server_config
from sayso.connect import is_loopback
from sayso.errors import UsageError
from sayso.telemetry import Telemetry, is_structured, open_telemetry

_LOOPBACK: Final = "127.0.0.1"
_LEAVE_SECONDS: Final = 1.0
_WHERE: Final = "--metrics"


@asynccontextmanager
async def showing(metrics: str | None, *, is_otel: bool) -> AsyncGenerator[Telemetry]:
    """Open telemetry, and serve metrics at [HOST:]PORT. Raises `UsageError`, `PortInUseError`."""
    async with open_telemetry(
        has_metrics=metrics is not None, has_otel=is_otel or None, has_logs=is_structured()
    ) as telemetry:
        if metrics is None or telemetry.prometheus is None:
            yield telemetry
            return
        host, port = parse_place(metrics)
        with bind(host, port, _WHERE) as listener:
            async with _serving(telemetry, host, listener):
                yield telemetry


def parse_place(text: str) -> tuple[str, int]:
    """Parse `[HOST:]PORT`; the default host is loopback.

    >>> parse_place("9464"), parse_place("[::]:9464")
    (('127.0.0.1', 9464), ('::', 9464))
    """
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit():
        what = f"must be a port such as 9464, or HOST:PORT, got {text!r}"
        raise UsageError(what, where=_WHERE)
    return host.removeprefix("[").removesuffix("]") or _LOOPBACK, int(port)


class _Server(uvicorn.Server):
    """A second server in the process, which handles no signals."""

    @override
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@asynccontextmanager
async def _serving(
    telemetry: Telemetry, host: str, listener: socket.socket
) -> AsyncGenerator[None]:
    from sayso.telemetry import MetricsPage

    assert telemetry.prometheus is not None  # noqa: S101 - checked by the caller
    port = listener.getsockname()[1]
    names = None
    if is_loopback(host):
        names = own_names(f"http://{_LOOPBACK}:{port}")
    page = MetricsPage(telemetry.prometheus, names)
    server = _Server(server_config(page, lifespan="off"))
    is_over = anyio.Event()

    async def run() -> None:
        await server.serve(sockets=[listener])
        is_over.set()

    async with beside(run):
        try:
            yield
        finally:
            server.should_exit = True
            with anyio.move_on_after(_LEAVE_SECONDS, shield=True):
                await is_over.wait()
