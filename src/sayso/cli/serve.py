"""Runs a gateway with its console until it is stopped."""

import asyncio
import gc
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from sayso.access import Access, Settings, open_access, read_access
from sayso.approvals import Channel, LinkChannel, webhook
from sayso.audit import Emit, heads_file, log_head, open_audit
from sayso.beside import beside
from sayso.cli.address import Options
from sayso.cli.drain import INTERRUPT_SECONDS, DrainedServer
from sayso.cli.entrance import Entrance, make_entrance
from sayso.cli.output import SILENT, Voice, voice_of
from sayso.cli.replica_listener import is_one_of_many, open_reach
from sayso.cli.telemetry_options import showing
from sayso.cli.workers import Parent, Worker
from sayso.connect import Target, UrlTarget, Wallet, is_loopback
from sayso.console import later_routes, open_provider
from sayso.errors import ConfigError, SaysoError
from sayso.gateway import (
    PATH,
    Gateway,
    ReplicaClient,
    StdioDoor,
    Upstream,
    make_app,
    make_dispatcher,
    open_gateway,
    open_replicas,
    standard_pipes,
    warn_of_unmatched,
)
from sayso.guard import PolicyFile, unruled
from sayso.keys import Keyring, load_keys
from sayso.policy import Principal, misnamed
from sayso.receipts import Shelf, load_receipts
from sayso.store import Database, Head, database_host, is_postgres, open_store, store_path
from sayso.telemetry import Telemetry

_START_SECONDS: Final = 5.0
"""How long the first list of a server is waited for before the gateway opens without it."""


_IN_VAIN: Final = ("Unsupported upgrade request", "No supported WebSocket library")
"""What uvicorn says of a client that wants to speak another protocol: it is answered in HTTP."""


Guests = Callable[[Gateway], Coroutine[Any, Any, None]]
"""Callers that come with the gateway itself: the agents of the demo."""


def serve(
    targets: Sequence[Target],
    options: Options,
    listener: socket.socket,
    guests: Guests | None = None,
) -> int:
    """Serve until interrupted. Servers that were started are ended with their children.

    `guests` call while one process serves; they end with it.

    Raises `StoreError`, and the error of the server where none of the targets can be reached.
    """
    if not options.is_json:
        # What servers say on stderr is for who runs them.
        logging.getLogger("sayso.connect.stderr_log").setLevel(logging.INFO)
    if options.workers == 1:
        return _work(targets, options, None, listener, None, guests)
    # Once for all workers: one that starts later must not come with newer keys than the others.
    keys = _keys(options)
    work = partial(_work, targets, options, keys, listener)
    tell = voice_of(is_json=options.is_json).tell
    return Parent(options.workers, work, drain=options.drain, tell=tell).run()


def _work(
    targets: Sequence[Target],
    options: Options,
    keys: Keyring | None,
    listener: socket.socket,
    worker: Worker | None,
    guests: Guests | None = None,
) -> int:
    work = partial(_serve, targets, options, keys, listener, worker, guests)
    terminated: list[int] = []

    def terminate(number: int, _frame: object) -> None:
        """End as an interrupt does, so that servers and the store are let go of in order."""
        terminated.append(number)
        signal.raise_signal(signal.SIGINT)

    with listener:
        signal.signal(signal.SIGTERM, terminate)
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            # So it is in the background of a shell, where nothing would end sayso in order then.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            anyio.run(work, backend_options={"use_uvloop": True})
        except KeyboardInterrupt:
            # A supervisor that asked for the end once, and got it, must not read a failure.
            if len(terminated) != 1:
                raise
    return 0


async def _serve(
    targets: Sequence[Target],
    options: Options,
    keys: Keyring | None,
    listener: socket.socket,
    worker: Worker | None,
    guests: Guests | None,
) -> None:
    base = _base_url(options.host, listener.getsockname()[1])
    public = (options.public_url or base).rstrip("/")
    voice = _voice(options, worker)
    policy = _policy(options, targets, voice)
    settings = read_access(options.access) if options.access else None
    wallet = _wallet(targets, settings)
    shelf = _shelf(options, policy, voice)
    store = open_store(options.store)
    try:
        keys = keys or _keys(options)
        async with (
            showing(options.metrics, is_otel=options.otel) as telemetry,
            beside(*_watching(policy, targets, voice)),
            # First: one that has other keys than the others must not begin a chain with them.
            _among_others(options, store, keys, worker) as post,
            open_audit(store, keys, emit=_emit(options, telemetry)) as audit,
            open_gateway(
                targets,
                store,
                audit=audit,
                policy=policy or unruled,
                keys=keys,
                channels=_channels(options, keys, public, policy),
                console=f"{public}/console/",
                timeout=options.timeout,
                patience=options.patience,
                announce=voice.tell,
                telemetry=telemetry,
                post=post,
                wallet=wallet,
                shelf=shelf,
            ) as gateway,
            open_access(settings, store.api_keys, keys, url=public, wallet=wallet) as access,
            open_provider(settings and settings.console, store.tokens, keys, url=public) as issuer,
        ):
            await _check(gateway, voice)
            entrance = make_entrance(gateway, options, targets, listener, public, issuer)
            app = _site(gateway, options, base, public, access, settings, entrance)
            seconds = options.drain if options.principal is None else INTERRUPT_SECONDS
            server = DrainedServer(app, gateway.guard.shutdown, seconds)
            if worker is not None:
                _report_to(worker, server)
            async with (
                entrance.serving(worker),
                beside(*_while_it_serves(gateway, guests, is_quiet=voice is SILENT)),
            ):
                if worker is None or (worker.speaks and worker.is_first):
                    _print_addresses(public, entrance.first_link(), options, voice)
                await _run(gateway, options.principal, server, listener)
    finally:
        with anyio.CancelScope(shield=True):
            await store.close()


def _report_to(worker: Worker, server: DrainedServer) -> None:
    asyncio.get_running_loop().add_reader(worker.life, server.stop)
    worker.serves()


def _voice(options: Options, worker: Worker | None) -> Voice:
    """Return the voice of this process; of several workers one speaks for all."""
    is_quiet = worker is not None and not worker.speaks
    return SILENT if is_quiet else voice_of(is_json=options.is_json)


def _shelf(options: Options, policy: PolicyFile | None, voice: Voice) -> Shelf | None:
    """The receipts at hand. What is wrong with one is told, and stops nothing."""
    if options.receipts is None:
        return None
    shelf = load_receipts(Path(options.receipts))
    if voice is not SILENT:
        log = logging.getLogger("sayso")
        for told in shelf.problems:
            log.warning("%s", told)
        if policy is None or not policy().receipt_keys:
            log.warning("%s: no receipt counts: the policy trusts no key for it", options.receipts)
    return shelf


def _wallet(targets: Sequence[Target], settings: Settings | None) -> Wallet | None:
    """Where callers' tokens are kept that some server wants exchanged.

    Raises `ConfigError` where callers never bring any.
    """
    found = [target for target in targets if isinstance(target, UrlTarget) and target.auth]
    exchanging = next((target for target in found if target.auth and target.auth.is_exchange), None)
    if exchanging is None:
        return None
    if settings is None or settings.oauth is None:
        what = "its “token_exchange” needs tokens of callers, and none come without [oauth]"
        fix = "Say in access.toml who issues them (--access), or use client_credentials."
        raise ConfigError(what, where=exchanging.name, fix=fix)
    return Wallet()


def _site(
    gateway: Gateway,
    options: Options,
    base: str,
    public: str,
    access: Access,
    settings: Settings | None,
    entrance: Entrance,
) -> ASGIApp:
    is_alone = options.access is None

    def make() -> Sequence[BaseRoute]:
        from sayso.console import make_routes

        return make_routes(
            gateway,
            entrance.login,
            base_url=public,
            provider=entrance.provider,
            is_alone=is_alone,
            access=access,
            screens=settings and settings.screens,
        )

    routes = later_routes(make)
    return make_app(
        gateway,
        base,
        routes,
        access=access,
        public_url=options.public_url,
        heard=entrance.callers.note,
    )


async def _run(
    gateway: Gateway,
    principal: Principal | None,
    server: DrainedServer,
    listener: socket.socket,
) -> None:
    # What is still open when sayso ends is cut off, which is no error to tell of.
    logging.getLogger("uvicorn.error").addFilter(
        lambda said: not (server.should_exit or said.getMessage().startswith(_IN_VAIN))
    )
    # What is there by now stays: it need not be looked through for each few hundred calls.
    gc.collect()
    gc.freeze()
    if principal is None:
        await server.serve(sockets=[listener])
    else:
        await _serve_stdio(gateway, principal, server, listener)


@asynccontextmanager
async def _among_others(
    options: Options, store: Database, keys: Keyring, worker: Worker | None
) -> AsyncGenerator[ReplicaClient | None]:
    if not is_one_of_many(options):
        yield None
        return
    listener, host = open_reach(
        options, worker.place if worker else 0, database_host(options.store)
    )
    with listener:
        async with open_replicas(store.replicas, keys, listener, host) as post:
            yield post


async def _serve_stdio(
    gateway: Gateway, principal: Principal, server: DrainedServer, listener: socket.socket
) -> None:
    """Speak to the client that has started sayso, until it has said all; the console beside."""

    async def converse() -> None:
        async with standard_pipes() as (lines, write):
            await StdioDoor(make_dispatcher(gateway), principal, write).run(lines)
        server.stop()

    async with beside(converse):
        await server.serve(sockets=[listener])


def _keys(options: Options) -> Keyring:
    path = None if is_postgres(options.store) else store_path(options.store)
    return load_keys(path, is_made=True)


def _emit(options: Options, telemetry: Telemetry) -> Emit:
    path = options.heads or os.environ.get("SAYSO_HEADS")
    first = heads_file(Path(path)) if path else log_head
    if telemetry.otel is None:
        return first
    places = (first, telemetry.otel.emit)

    def emit(head: Head) -> None:
        for place in places:
            place(head)

    return emit


def _channels(
    options: Options, keys: Keyring, base: str, policy: PolicyFile | None
) -> Sequence[Channel]:
    """The ways to people beside the console. Raises `UsageError` for a URL that is none."""
    url = options.webhook or os.environ.get("SAYSO_WEBHOOK")
    if not url:
        return ()
    people = (lambda: policy().people) if policy else dict[str, frozenset[str]]
    return (LinkChannel(keys, f"{base}/console/link?token=", webhook(url), people),)


def _policy(options: Options, targets: Sequence[Target], voice: Voice) -> PolicyFile | None:
    if options.policy is None:
        return None
    policy = PolicyFile.open(options.policy)
    _check_names(policy, targets, voice)
    return policy


def _watching(
    policy: PolicyFile | None, targets: Sequence[Target], voice: Voice
) -> list[Callable[[], Coroutine[Any, Any, None]]]:
    if policy is None:
        return []

    def read(told: str) -> None:
        voice.tell(told)
        _check_names(policy, targets, voice)

    return [partial(policy.watch, read, _keeping(voice))]


def _check_names(policy: PolicyFile, targets: Sequence[Target], voice: Voice) -> None:
    if voice is not SILENT:
        for told in misnamed(policy(), [target.name for target in targets]):
            logging.getLogger("sayso").warning(told)


def _keeping(voice: Voice) -> Callable[[SaysoError], None]:
    def keep(error: SaysoError) -> None:
        voice.fail(error)
        voice.tell("The policy before it still counts.")

    return keep


async def _check(gateway: Gateway, voice: Voice) -> None:
    """Ask every server for its tools, and tell what there is: raise where none answers.

    A server that is slow does not hold up the others: it is waited for only for a while.
    """
    errors: list[SaysoError] = []
    servers = [upstream for upstream in gateway.fleet.upstreams if _is_on(gateway, upstream, voice)]
    asked = [upstream for upstream in servers if not upstream.is_for_callers]
    waiting = {upstream.name for upstream in asked}

    async def ask(upstream: Upstream) -> None:
        try:
            tools, _ = await upstream.tools()
        except SaysoError as error:
            errors.append(error)
        else:
            voice.tell(f"{upstream.name}: {len(tools)} {'tool' if len(tools) == 1 else 'tools'}")
        waiting.discard(upstream.name)

    with anyio.move_on_after(_START_SECONDS):
        async with anyio.create_task_group() as group:
            for upstream in asked:
                group.start_soon(ask, upstream)
    if errors and len(errors) == len(servers):
        raise errors[0]
    for error in errors:
        voice.fail(error)
    for upstream in servers:
        if upstream.is_for_callers:
            voice.tell(
                f"{upstream.name}: its tools are listed for each caller, with their own token"
            )
    for name in sorted(waiting):
        voice.tell(f"{name}: still starting; its tools are listed as soon as it answers")


def _is_on(gateway: Gateway, upstream: Upstream, voice: Voice) -> bool:
    is_on = gateway.fleet.switches.has_server(upstream.name)
    if not is_on:
        voice.tell(f"{upstream.name}: switched off by the policy")
    return is_on


def _while_it_serves(
    gateway: Gateway, guests: Guests | None, *, is_quiet: bool
) -> list[Callable[[], Coroutine[Any, Any, None]]]:
    """Return what runs while the gateway serves; one worker of several speaks for all."""
    looking = [] if is_quiet else [partial(warn_of_unmatched, gateway)]
    return [*looking, *([partial(guests, gateway)] if guests else [])]


def _base_url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _print_addresses(base: str, link: str | None, options: Options, voice: Voice) -> None:
    """Say where the gateway is. Only a person who started it by hand is given a link.

    Standard error of a gateway that a client has started belongs to that client, whose calls the
    person at the console answers; and where people have accounts, a link would need none.
    """
    console = f"{base}/console/"
    if options.principal is not None:
        voice.tell(f"The console is at {console}. To log in, run sayso console in a terminal.")
        return
    if options.is_json:
        addresses = {"schema": 1, "mcp": f"{base}{PATH}", "console": link or console}
        sys.stdout.write(json.dumps(addresses) + "\n")
    else:
        sys.stdout.write(f"{link or console}\n")
        _tell_how_to_enter(base, link, voice)
        voice.tell(f"MCP clients connect to {base}{PATH}. Ctrl-C ends sayso.")
        if not is_postgres(options.store):
            voice.tell(f"The record is kept in {store_path(options.store)}.")
    sys.stdout.flush()


def _tell_how_to_enter(base: str, link: str | None, voice: Voice) -> None:
    if link is None:
        voice.tell("People log in there with their account.")
        return
    voice.tell("Open this link to see the tools and to answer for calls; it works once.")
    if is_loopback(urlsplit(base).hostname or ""):
        voice.tell("It opens on this machine only. Run sayso console for another link.")
