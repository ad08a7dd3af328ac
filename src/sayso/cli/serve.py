"""Runs a gateway with its console until it is stopped."""

import asyncio
import gc
import logging
import os
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

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
from sayso.cli.output import SILENT, Voice, check_servers, print_addresses, voice_for, voice_of
from sayso.cli.replica_listener import is_one_of_many, open_reach
from sayso.cli.stored import beside as beside_store
from sayso.cli.telemetry_options import showing
from sayso.cli.workers import Parent, Worker
from sayso.connect import Target, UrlTarget, Wallet
from sayso.console import later_routes, open_provider
from sayso.errors import ConfigError, SaysoError
from sayso.gateway import (
    Gateway,
    ReplicaClient,
    StdioDoor,
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
from sayso.receipts import ReceiptCollection, load_receipts
from sayso.store import Database, Head, database_host, open_store
from sayso.telemetry import Telemetry

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
    run = partial(_serve, targets, options, listener, guests)
    if options.workers == 1:
        return _work(run, listener, None, None)
    # Once for all workers: one that starts later must not come with newer keys than the others.
    work = partial(_work, run, listener, _keys(options))
    tell = voice_of(is_json=options.is_json).tell
    return Parent(options.workers, work, drain=options.drain, tell=tell).run()


def _work(
    run: Callable[..., Coroutine[Any, Any, None]],
    listener: socket.socket,
    keys: Keyring | None,
    worker: Worker | None,
) -> int:
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
            anyio.run(run, keys, worker, backend_options={"use_uvloop": True})
        except KeyboardInterrupt:
            # A supervisor that asked for the end once, and got it, must not read a failure.
            if len(terminated) != 1:
                raise
    return 0


async def _serve(
    targets: Sequence[Target],
    options: Options,
    listener: socket.socket,
    guests: Guests | None,
    keys: Keyring | None,
    worker: Worker | None,
) -> None:
    base = _base_url(options.host, listener.getsockname()[1])
    public = (options.public_url or base).rstrip("/")
    voice = voice_for(options, worker)
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
            _among_others(options, store, keys, worker) as replica_client,
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
                replica_client=replica_client,
                wallet=wallet,
                shelf=shelf,
            ) as gateway,
            open_access(settings, store.api_keys, keys, url=public, wallet=wallet) as access,
            open_provider(settings and settings.console, store.tokens, keys, url=public) as issuer,
        ):
            await check_servers(gateway, voice)
            entrance = make_entrance(gateway, options, targets, listener, public, issuer)
            app = _site(gateway, options, base, public, access, settings, entrance)
            server = DrainedServer(app, gateway.guard.shutdown, _drain_seconds(options))
            if worker is not None:
                _report_to(worker, server)
            async with (
                entrance.serving(worker),
                beside(*_while_it_serves(gateway, guests, is_quiet=voice is SILENT)),
            ):
                if worker is None or (worker.speaks and worker.is_first):
                    print_addresses(public, entrance.first_link(), options, voice)
                await _run(gateway, options.principal, server, listener)
    finally:
        with anyio.CancelScope(shield=True):
            await store.close()


def _drain_seconds(options: Options) -> float:
    if options.principal is None:
        return options.drain
    return INTERRUPT_SECONDS


def _report_to(worker: Worker, server: DrainedServer) -> None:
    asyncio.get_running_loop().add_reader(worker.life, server.stop)
    worker.serves()


def _shelf(options: Options, policy: PolicyFile | None, voice: Voice) -> ReceiptCollection | None:
    """Load the receipts. A broken one is logged, and stops nothing."""
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
    """Return a place for callers' tokens to exchange. Raises `ConfigError` if none come."""
    exchanging = [
        target.name
        for target in targets
        if isinstance(target, UrlTarget) and target.auth and target.auth.is_exchange
    ]
    if not exchanging:
        return None
    if settings is None or settings.oauth is None:
        what = "its “token_exchange” needs tokens of callers, and none come without [oauth]"
        fix = "Say in access.toml who issues them (--access), or use client_credentials."
        raise ConfigError(what, where=exchanging[0], fix=fix)
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

    def make() -> Sequence[BaseRoute]:
        from sayso.console import make_routes

        return make_routes(
            gateway,
            entrance.login,
            base_url=public,
            provider=entrance.provider,
            is_alone=options.access is None,
            access=access,
            screens=settings and settings.screens,
        )

    return make_app(
        gateway,
        base,
        later_routes(make),
        access=access,
        public_url=options.public_url,
        heard=entrance.callers.note,
    )


async def _run(
    gateway: Gateway, principal: Principal | None, server: DrainedServer, listener: socket.socket
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
    place = 0
    if worker is not None:
        place = worker.place
    listener, host = open_reach(options, place, database_host(options.store))
    with listener:
        async with open_replicas(store.replicas, keys, listener, host) as replica_client:
            yield replica_client


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
    return load_keys(beside_store(options.store), is_made=True)


def _emit(options: Options, telemetry: Telemetry) -> Emit:
    first = log_head
    if path := options.heads or os.environ.get("SAYSO_HEADS"):
        first = heads_file(Path(path))
    if telemetry.otel is None:
        return first
    second = telemetry.otel.emit

    def emit(head: Head) -> None:
        first(head)
        second(head)

    return emit


def _channels(
    options: Options, keys: Keyring, base: str, policy: PolicyFile | None
) -> Sequence[Channel]:
    """Return the channels to people besides the console. Raises `UsageError` for a bad URL."""
    url = options.webhook or os.environ.get("SAYSO_WEBHOOK")
    if not url:
        return ()

    def people() -> Mapping[str, frozenset[str]]:
        return policy().people if policy else {}

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

    def keep(error: SaysoError) -> None:
        voice.fail(error)
        voice.tell("The policy before it still counts.")

    return [partial(policy.watch, read, keep)]


def _check_names(policy: PolicyFile, targets: Sequence[Target], voice: Voice) -> None:
    if voice is not SILENT:
        for told in misnamed(policy(), [target.name for target in targets]):
            logging.getLogger("sayso").warning(told)


def _while_it_serves(
    gateway: Gateway, guests: Guests | None, *, is_quiet: bool
) -> list[Callable[[], Coroutine[Any, Any, None]]]:
    """Return what runs while the gateway serves; one worker of several speaks for all."""
    work: list[Callable[[], Coroutine[Any, Any, None]]] = []
    if not is_quiet:
        work.append(partial(warn_of_unmatched, gateway))
    if guests:
        work.append(partial(guests, gateway))
    return work


def _base_url(host: str, port: int) -> str:
    if ":" in host:
        host = f"[{host}]"
    return f"http://{host}:{port}"
