"""The gateway as one ASGI application: `/mcp`, and whatever pages are put beside it."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from avow.approvals import Approvals
from avow.audit import AuditLog
from avow.connect.target import Target
from avow.gateway.fleet import Fleet, open_fleet
from avow.gateway.front import make_server, only_from
from avow.gateway.passage import Passage
from avow.guard import Guard, keep_quiet
from avow.store import Store

PATH: Final = "/mcp"


@dataclass(frozen=True, slots=True)
class Gateway:
    """A running gateway: its servers, and the guard that every call takes."""

    fleet: Fleet
    guard: Guard


@asynccontextmanager
async def open_gateway(
    targets: Sequence[Target],
    store: Store,
    *,
    console: str = "the console",
    timeout: float = 60.0,
    patience: float = 45.0,
    announce: Callable[[str], None] = keep_quiet,
    audit: AuditLog | None = None,
) -> AsyncGenerator[Gateway]:
    """The gateway over `targets`; `timeout` seconds for a server, `patience` for a person.

    `announce` is told in a sentence of each call that begins to wait for a person. `audit` is a
    log that `avow.audit.open_audit` has opened; without it the log is not chained.

    Servers are started when they are first needed, and ended when this is left.
    """
    async with open_fleet(targets, timeout=timeout) as fleet:
        yield Gateway(
            fleet,
            Guard(
                find_tool=fleet.find_tool,
                run=fleet.run_tool,
                approvals=Approvals(store),
                audit=audit or AuditLog(store),
                console=console,
                patience=patience,
                announce=announce,
            ),
        )


def make_app(gateway: Gateway, host: str, routes: Sequence[BaseRoute] = ()) -> Starlette:
    """The application that serves `gateway` on a loopback `host`, with `routes` beside `/mcp`.

    Requests that name another host or come from another origin are refused (DNS rebinding).
    """
    server = make_server(Passage(gateway.fleet, gateway.guard))
    return server.streamable_http_app(
        streamable_http_path=PATH,
        host=host,
        transport_security=only_from(host),
        custom_starlette_routes=list(routes),  # pyright: ignore[reportArgumentType] - any route will do
    )
