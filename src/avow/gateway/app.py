"""The gateway as one ASGI application: `/mcp`, and whatever pages are put beside it."""

import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from avow.access import Access, Arrival, Local, admit, own_names
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


@asynccontextmanager
async def open_gateway(  # noqa: PLR0913 - each is a part of its own, most with a default
    targets: Sequence[Target],
    store: Store,
    *,
    console: str = "the console",
    timeout: float = 60.0,
    patience: float = 45.0,
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

    `announce` is told in a sentence of each call that begins to wait for a person. `audit` is a
    log that `avow.audit.open_audit` has opened; without it the log is not chained. `policy` gives
    the policy of the moment. `keys` seal what goes to clients, and `channels` are ways to people
    beside the console. `post` is the way to the gateway's other processes, and `telemetry` what
    `avow.telemetry.open_telemetry` has opened. `wallet` is what `avow.access.open_access` puts
    callers' tokens into, where some server wants them exchanged. `shelf` holds receipts. Servers
    start when first needed. Raises `UncontainedError` where one cannot be held to its contract.
    """
    watch = (shown := telemetry or Telemetry()).watch
    ending = _ending(approvals := Approvals(store, heard=shown.heard))
    own, office, log = keys or new_keys(), post or Post(), audit or AuditLog(store)
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
            patience=patience,
            announce=announce,
            watch=watch and watch.call,
            ending=ending,
        )
        yield Gateway(fleet, guard, own, office, shown, flights)


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
    passage = Passage(fleet, gateway.guard, gateway.flights, alone)
    return Desk(passage, gateway.telemetry.watch)


def make_app(
    gateway: Gateway,
    base_url: str,
    routes: Sequence[BaseRoute] = (),
    *,
    access: Access | None = None,
    public_url: str | None = None,
) -> ASGIApp:
    """The application that serves `gateway` at `base_url`, with `routes` beside `/mcp`.

    Each server is served alone too, at `/servers/NAME/mcp`, where its tools have their own names.
    `access` says who calls, and `public_url` where others reach it; without them it is for this
    machine alone. Requests that name another host or come from another origin are refused (DNS
    rebinding), but for those of probes: `/healthz` and `/readyz`.
    """
    names = own_names(base_url, public_url)
    known = access or Local()

    async def identify(scope: Scope) -> Principal:
        return await admit(Arrival.of(scope), known, names)

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
    for one in gateway.fleet.upstreams:
        path = f"/servers/{one.name}{PATH}"
        doors[path] = door(path, one.name)
    pages = Starlette(routes=[*metadata_routes(known), *routes])

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        found = doors.get(scope["path"]) if scope["type"] == "http" else None
        await (found or pages)(scope, receive, send)

    def live() -> int:
        return sessions.open

    gateway.telemetry.show(store, gauges_of(store, gateway.fleet.upstreams, live))
    return gateway.telemetry.around(app)
