"""The gateway as an ASGI application: `/mcp`, probes, and further pages."""

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sayso.access import ALL, WELL_KNOWN, Access, LoopbackOnly, Names, RequestInfo, admit, own_names
from sayso.approvals import Approvals, Channel, listening
from sayso.audit import AuditLog
from sayso.connect import (
    CommandTarget,
    Target,
    UrlTarget,
    Wallet,
    credentials_for,
    open_fetcher,
    place_of,
)
from sayso.gateway.drift import DriftDetector
from sayso.gateway.frontends.dispatcher import Dispatcher
from sayso.gateway.frontends.health import LIVE, READY, HealthFrontend, StoreCheck
from sayso.gateway.frontends.http import HttpFrontend
from sayso.gateway.frontends.remote_session import handlers
from sayso.gateway.frontends.session_token import SessionTokens
from sayso.gateway.frontends.sessions import Sessions
from sayso.gateway.frontends.stateful import StatefulFrontend
from sayso.gateway.gauges import gauges_of
from sayso.gateway.multi_round import PendingCalls, open_pending_calls
from sayso.gateway.patience import DEFAULT_SECONDS
from sayso.gateway.quarantine import open_contracts
from sayso.gateway.replicas import ReplicaClient
from sayso.gateway.router import Router
from sayso.gateway.tool_cache import Judge
from sayso.gateway.upstreams import Upstreams, open_upstreams
from sayso.guard import Guard, Shutdown, compose_guard, keep_quiet, unruled
from sayso.keys import KEY_BYTES, Keyring
from sayso.policy import Policy, Principal
from sayso.receipts import ReceiptCollection
from sayso.store import Database, Definitions
from sayso.telemetry import Telemetry

PATH: Final = "/mcp"


def new_keys() -> Keyring:
    """Return new random keys for this process."""
    return Keyring.of([secrets.token_bytes(KEY_BYTES)])


@dataclass(frozen=True, slots=True)
class Gateway:
    """A running gateway: its servers, its guard, and the client for its other processes."""

    upstreams: Upstreams
    guard: Guard
    store: Database
    keys: Keyring = field(default_factory=new_keys)
    replica_client: ReplicaClient = field(default_factory=ReplicaClient)
    telemetry: Telemetry = field(default_factory=Telemetry)
    pending_calls: PendingCalls = field(default_factory=lambda: PendingCalls(new_keys()))
    fits_patience: bool = False


@asynccontextmanager
async def open_gateway(  # noqa: PLR0913 - each is a part of its own, most with a default
    targets: Sequence[Target],
    store: Database,
    *,
    console: str = "the console",
    timeout: float = 60.0,
    patience: float | None = None,
    announce: Callable[[str], None] = keep_quiet,
    audit: AuditLog | None = None,
    policy: Callable[[], Policy] = unruled,
    keys: Keyring | None = None,
    channels: Sequence[Channel] = (),
    telemetry: Telemetry | None = None,
    replica_client: ReplicaClient | None = None,
    wallet: Wallet | None = None,
    receipts: ReceiptCollection | None = None,
) -> AsyncGenerator[Gateway]:
    """Yield the gateway for `targets`. Raises `UncontainedError`.

    `timeout`: seconds per request to a server. `patience`: seconds of a wait for a person (default:
    as long as the client can wait). `announce` gets a line for each call that begins to wait.
    """
    shown = telemetry or Telemetry()
    own = keys or new_keys()
    client = replica_client or ReplicaClient()
    log = audit or AuditLog(store.records)
    approvals = Approvals.of(store, on_answer=shown.heard, keys=own)
    judge = partial(_judge, store.definitions, policy)
    contracts = await open_contracts(targets, log, store.quarantines, judge)
    async with (
        open_fetcher() as fetcher,
        open_upstreams(
            targets,
            timeout=timeout,
            judges=contracts.judge,
            holds=contracts.hold,
            credentials=partial(credentials_for, fetcher=fetcher, wallet=wallet or Wallet()),
            watch=shown.watch and shown.watch.exchange,
            receipts=receipts,
            policy=policy,
        ) as upstreams,
        listening(approvals),
        open_pending_calls(own, client) as pending_calls,
    ):
        guard = compose_guard(
            store,
            log,
            approvals,
            find_tool=upstreams.find_tool,
            run=upstreams.run_tool,
            policy=policy,
            console=console,
            channels=channels,
            keys=keys,
            patience=DEFAULT_SECONDS if patience is None else patience,
            announce=announce,
            watch=shown.watch and shown.watch.call,
            shutdown=_new_shutdown(approvals),
        )
        yield Gateway(upstreams, guard, store, own, client, shown, pending_calls, patience is None)


def _new_shutdown(approvals: Approvals) -> Shutdown:
    """Return a shutdown that, when it begins, ends the waits of calls for people."""
    shutdown = Shutdown()
    shutdown.on_begin(approvals.release)
    return shutdown


def _judge(
    definitions: Definitions, policy: Callable[[], Policy], target: CommandTarget | UrlTarget
) -> Judge:
    return DriftDetector(definitions, place_of(target), target.name, policy).judge


def make_dispatcher(gateway: Gateway, alone: str | None = None) -> Dispatcher:
    """Return the dispatcher for all servers of `gateway`, or only for the server `alone`."""
    upstreams = gateway.upstreams
    if alone is not None:
        upstreams = upstreams.only(alone)
    router = Router(upstreams, gateway.guard, gateway.pending_calls, alone, gateway.fits_patience)
    return Dispatcher(router, gateway.telemetry.watch)


def _identifier(
    access: Access, names: Names, heard: Callable[[Scope], None] | None
) -> Callable[[Scope], Awaitable[Principal]]:
    async def identify(scope: Scope) -> Principal:
        principal = await admit(RequestInfo.of(scope), access, names)
        if heard is not None:
            heard(scope)
        return principal

    return identify


def make_app(
    gateway: Gateway,
    base_url: str,
    routes: Sequence[BaseRoute] = (),
    *,
    access: Access | None = None,
    public_url: str | None = None,
    heard: Callable[[Scope], None] | None = None,
) -> ASGIApp:
    """Return the application that serves `gateway` at `base_url`, with `routes` next to `/mcp`.

    Each server is also served alone at `/servers/NAME/mcp`, where its tools have no prefix.
    `access` identifies callers, and `public_url` is the address for other machines. Without them
    only this machine can use the gateway. Requests with another host or origin are refused (DNS
    rebinding), except the probes `/healthz` and `/readyz`. `heard` gets each accepted request.
    """
    names = own_names(base_url, public_url)
    known = access or LoopbackOnly()

    identify = _identifier(known, names, heard)
    shutdown = gateway.guard.shutdown
    sessions = Sessions(gateway.replica_client, gateway.upstreams.notifier)
    gateway.replica_client.handlers.update(handlers(sessions))
    shutdown.on_begin(sessions.hang_up)
    shutdown.on_begin(gateway.upstreams.notifier.close)

    def frontend(path: str, alone: str | None = None) -> ASGIApp:
        dispatcher = make_dispatcher(gateway, alone)
        tokens = SessionTokens(gateway.keys, gateway.replica_client.name, path)
        return HttpFrontend(dispatcher, identify, StatefulFrontend(dispatcher, tokens, sessions))

    health = HealthFrontend(
        shutdown,
        StoreCheck(gateway.store.records),
        gateway.guard.policy,
        gateway.upstreams.upstreams,
        known,
        names,
    )
    frontends: dict[str, ASGIApp] = {PATH: frontend(PATH), LIVE: health, READY: health}
    servers: dict[str, str] = {}
    for upstream in gateway.upstreams.upstreams:
        path = f"/servers/{upstream.name}{PATH}"
        frontends[path] = frontend(path, upstream.name)
        servers[path] = upstream.name
    pages = Starlette(routes=[*metadata_routes(known), *routes])

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        target: ASGIApp = pages
        if scope["type"] == "http":
            target = frontends.get(scope["path"], pages)
        server = servers.get(scope["path"])
        if server is not None and not gateway.upstreams.switches.has_server(server):
            target = pages  # the same answer as for a server that is not configured
        await target(scope, receive, send)

    gauges = gauges_of(gateway.store, gateway.upstreams.upstreams, sessions)
    gateway.telemetry.show(gateway.store, gauges)
    return gateway.telemetry.around(app)


def metadata_routes(access: Access) -> list[Route]:
    """Return the routes of the protected endpoints' metadata, which any web page may read."""

    async def show(request: Request) -> Response:
        metadata = access.metadata(request.path_params.get("path") or ALL)
        if metadata is None:
            return Response(status_code=404)
        return JSONResponse(metadata, headers={"access-control-allow-origin": "*"})

    return [Route(WELL_KNOWN, show), Route(WELL_KNOWN + "{path:path}", show)]
