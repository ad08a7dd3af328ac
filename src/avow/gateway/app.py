"""The gateway as one ASGI application: `/mcp`, and whatever pages are put beside it."""

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from avow.access import Access, Arrival, Local, Names, admit, own_names
from avow.approvals import Approvals, Channel, listening
from avow.audit import AuditLog
from avow.connect import CommandTarget, UrlTarget, place_of
from avow.connect.credentials import Credentials, Wallet, credentials_for
from avow.connect.fetch import open_fetcher
from avow.connect.target import Target
from avow.gateway.contract.opening import open_contracts
from avow.gateway.doors.desk import Desk
from avow.gateway.doors.elsewhere import handlers
from avow.gateway.doors.health import LIVE, READY, HealthDoor, StoreCheck
from avow.gateway.doors.http import HttpDoor
from avow.gateway.doors.metadata import metadata_routes
from avow.gateway.doors.sessions import Sessions
from avow.gateway.doors.stateful import StatefulDoor
from avow.gateway.doors.ticket import Tickets
from avow.gateway.drift import Watch
from avow.gateway.fleet import Fleet, open_fleet
from avow.gateway.flights import Flights, open_flights
from avow.gateway.gauges import gauges_of
from avow.gateway.passage import Passage
from avow.gateway.patience import DEFAULT_SECONDS
from avow.gateway.replicas import Post
from avow.gateway.roster import Judge
from avow.guard import Ending, Guard, keep_quiet, unruled
from avow.keys import Keyring
from avow.keys.ring import KEY_BYTES
from avow.policy import Policy, Principal
from avow.store import Store
from avow.telemetry.opening import Telemetry
from avow.verify.receipt import Shelf

PATH: Final = "/mcp"


def new_keys() -> Keyring:
    """Keys that nobody else has, for as long as this process lasts."""
    return Keyring.of([secrets.token_bytes(KEY_BYTES)])


@dataclass(frozen=True, slots=True)
class Gateway:
    """A running gateway: its servers, the guard of every call, the way to its other processes."""

    fleet: Fleet
    guard: Guard
    keys: Keyring = field(default_factory=new_keys)
    post: Post = field(default_factory=Post)
    telemetry: Telemetry = field(default_factory=Telemetry)
    flights: Flights = field(default_factory=lambda: Flights(new_keys()))
    fits_patience: bool = False


@asynccontextmanager
async def open_gateway(  # noqa: PLR0913 - each is a part of its own, most with a default
    targets: Sequence[Target],
    store: Store,
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
    post: Post | None = None,
    wallet: Wallet | None = None,
    shelf: Shelf | None = None,
) -> AsyncGenerator[Gateway]:
    """The gateway over `targets`; `timeout` seconds for a server, `patience` for a person.

    Without `patience` a call waits as long as its client can bear (`avow.gateway.patience`).
    `announce` is called with a sentence for each call that begins to wait. `audit` comes from
    `open_audit`; without it the log is not chained. `policy` gives the policy of the moment. `keys`
    seal what goes to clients, and `channels` are more ways to people. `post` reaches the gateway's
    other processes, and `wallet` is given to `open_access` too. Raises `UncontainedError`.
    """
    watch = (shown := telemetry or Telemetry()).watch
    own, office, log = keys or new_keys(), post or Post(), audit or AuditLog(store)
    ending = _ending(approvals := Approvals(store, heard=shown.heard, keys=own))
    contracts = await open_contracts(targets, log, partial(_judge, store, policy))
    async with (
        _let_in(wallet or Wallet()) as credentials,
        open_fleet(
            targets,
            timeout=timeout,
            judges=contracts.judge,
            holds=contracts.hold,
            credentials=credentials,
            watch=watch and watch.exchange,
            shelf=shelf,
            policy=policy,
        ) as fleet,
        listening(approvals),
        open_flights(own, office) as flights,
    ):
        guard = Guard(
            find_tool=fleet.find_tool,
            run=fleet.run_tool,
            approvals=approvals,
            audit=log,
            policy=policy,
            console=console,
            channels=channels,
            keys=keys,
            patience=DEFAULT_SECONDS if patience is None else patience,
            announce=announce,
            watch=watch and watch.call,
            ending=ending,
            clock=store.clock,
        )
        yield Gateway(fleet, guard, own, office, shown, flights, patience is None)


def _ending(approvals: Approvals) -> Ending:
    """The end of the process, at which questions to people are let go of first."""
    found = Ending()
    found.first(approvals.release)
    return found


def _judge(store: Store, policy: Callable[[], Policy], target: CommandTarget | UrlTarget) -> Judge:
    return Watch(store, place_of(target), target.name, policy).judge


@asynccontextmanager
async def _let_in(wallet: Wallet) -> AsyncGenerator[Callable[..., Credentials | None]]:
    """What gives each server's credentials."""
    async with open_fetcher() as fetcher:
        yield partial(credentials_for, fetcher=fetcher, wallet=wallet)


def make_desk(gateway: Gateway, alone: str | None = None) -> Desk:
    """What answers the requests to `gateway`, whichever door they come through.

    `alone` names the one server that it is for.
    """
    fleet = gateway.fleet if alone is None else gateway.fleet.only(alone)
    passage = Passage(fleet, gateway.guard, gateway.flights, alone, gateway.fits_patience)
    return Desk(passage, gateway.telemetry.watch)


def _identifier(
    access: Access, names: Names, heard: Callable[[Scope], None] | None
) -> Callable[[Scope], Awaitable[Principal]]:
    """Return what tells the caller of a request, and then calls `heard` with the request."""

    async def identify(scope: Scope) -> Principal:
        principal = await admit(Arrival.of(scope), access, names)
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
    """The application that serves `gateway` at `base_url`, with `routes` beside `/mcp`.

    Each server is served alone too, at `/servers/NAME/mcp`, where its tools have their own names.
    `access` says who calls, and `public_url` where others reach it; without them it is for this
    machine alone. Requests that name another host or come from another origin are refused (DNS
    rebinding), but for those of probes: `/healthz` and `/readyz`. `heard` is called with each
    request of a client that was let in.
    """
    names = own_names(base_url, public_url)
    known = access or Local()

    identify = _identifier(known, names, heard)
    ending, sessions = gateway.guard.ending, Sessions(gateway.post, gateway.fleet.hub)
    gateway.post.handlers.update(handlers(sessions))
    ending.first(sessions.hang_up)
    ending.first(gateway.fleet.hub.close)

    def door(path: str, alone: str | None = None) -> ASGIApp:
        desk = make_desk(gateway, alone)
        tickets = Tickets(gateway.keys, gateway.post.name, path)
        return HttpDoor(desk, identify, StatefulDoor(desk, tickets, sessions))

    store = gateway.guard.audit.store
    health = HealthDoor(
        ending,
        StoreCheck(store),
        gateway.guard.policy,
        gateway.fleet.upstreams,
        known,
        names,
    )
    doors: dict[str, ASGIApp] = {PATH: door(PATH), LIVE: health, READY: health}
    named: dict[str, str] = {}
    for one in gateway.fleet.upstreams:
        path = f"/servers/{one.name}{PATH}"
        doors[path], named[path] = door(path, one.name), one.name
    pages = Starlette(routes=[*metadata_routes(known), *routes])

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        found = doors.get(scope["path"]) if scope["type"] == "http" else None
        server = named.get(scope["path"])
        if server is not None and not gateway.fleet.switches.has_server(server):
            found = None  # as if no such server were configured
        await (found or pages)(scope, receive, send)

    def live() -> int:
        return sessions.open

    gateway.telemetry.show(store, gauges_of(store, gateway.fleet.upstreams, live))
    return gateway.telemetry.around(app)
