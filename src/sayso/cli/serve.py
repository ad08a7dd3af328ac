"""The server process of a gateway with its console."""

import asyncio
import gc
import logging
import os
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.util import find_spec
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
from sayso.cli.console_login import ConsoleLogin, make_console_login
from sayso.cli.drain import INTERRUPT_SECONDS, DrainedServer
from sayso.cli.output import (
    SILENT,
    Reporter,
    make_reporter,
    print_addresses,
    worker_reporter,
)
from sayso.cli.replica_listener import has_replicas, open_replica_listener
from sayso.cli.server_start import ServerStart
from sayso.cli.store_access import beside as beside_store
from sayso.cli.telemetry_options import showing
from sayso.cli.workers import Parent, Worker
from sayso.connect import Target, UrlTarget, Wallet
from sayso.console import make_lazy_routes, open_provider
from sayso.errors import ConfigError, SaysoError
from sayso.gateway import (
    Gateway,
    ReplicaClient,
    StdioFrontend,
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

_UPGRADE_MESSAGES: Final = ("Unsupported upgrade request", "No supported WebSocket library")
"""uvicorn's warnings about upgrade requests, which it answers as plain HTTP."""

_HAS_UVLOOP: Final = find_spec("uvloop") is not None
"""Whether the extra `fast` is installed."""

Guests = Callable[[Gateway], Coroutine[Any, Any, None]]
"""Callers inside the gateway's process: the agents of the demo."""


def serve(
    targets: Sequence[Target],
    options: Options,
    listener: socket.socket,
    guests: Guests | None = None,
) -> int:
    """Serve until interrupted, with `guests` as callers; then end all started processes.

    Raises `StoreError`, and the error of a server if none of the targets can be reached.
    """
    if not options.is_json:
        # Show what servers write to stderr.
        logging.getLogger("sayso.connect.stderr_log").setLevel(logging.INFO)
    run = partial(_serve, targets, options, listener, guests)
    if options.workers == 1:
        return _work(run, listener, None, None)
    # Load keys once: a worker that starts later must not have newer keys than the others.
    work = partial(_work, run, listener, _keys(options))
    tell = make_reporter(is_json=options.is_json).tell
    return Parent(options.workers, work, drain=options.drain, tell=tell).run()


def _work(
    run: Callable[..., Coroutine[Any, Any, None]],
    listener: socket.socket,
    keys: Keyring | None,
    worker: Worker | None,
) -> int:
    terminated: list[int] = []

    def terminate(number: int, _frame: object) -> None:
        """End like an interrupt, so that servers and the store close in order."""
        terminated.append(number)
        signal.raise_signal(signal.SIGINT)

    with listener:
        try:
            if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
                # A shell ignores SIGINT for background jobs, but the graceful end needs it.
                signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, terminate)
            anyio.run(run, keys, worker, backend_options={"use_uvloop": _HAS_UVLOOP})
            # Everything has ended: a signal that comes now must not change the exit code.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        except (KeyboardInterrupt, asyncio.CancelledError) as error:
            # asyncio raises CancelledError if the interrupt comes while it starts the main task.
            # After one SIGTERM and a graceful end, a supervisor must see exit code 0.
            if len(terminated) != 1:
                raise KeyboardInterrupt from error
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
    reporter = worker_reporter(options, worker)
    policy = _policy(options, targets, reporter)
    settings = read_access(options.access) if options.access else None
    wallet = _wallet(targets, settings)
    shelf = _shelf(options, policy, reporter)
    store = open_store(options.store)
    try:
        keys = keys or _keys(options)
        async with (
            showing(options.metrics, is_otel=options.otel) as telemetry,
            beside(*_watching(policy, targets, reporter)),
            # Before the audit opens: a process with wrong keys must not begin a chain.
            _joined(options, store, keys, worker) as replica_client,
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
                announce=reporter.tell,
                telemetry=telemetry,
                replica_client=replica_client,
                wallet=wallet,
                receipts=shelf,
            ) as gateway,
            open_access(settings, store.api_keys, keys, url=public, wallet=wallet) as access,
            open_provider(settings and settings.console, store.tokens, keys, url=public) as issuer,
        ):
            console_login = make_console_login(gateway, options, targets, listener, public, issuer)
            app = _make_app(gateway, options, base, public, access, settings, console_login)
            server = DrainedServer(app, gateway.guard.shutdown, _drain_seconds(options))
            if worker is not None:
                asyncio.get_running_loop().add_reader(worker.life, server.stop)
            start = ServerStart(gateway, reporter, server, worker)
            async with console_login.serving(worker):
                if start.is_first:
                    print_addresses(public, console_login.first_link(), options, reporter)
                async with beside(start.report, *_while_it_serves(gateway, guests, reporter)):
                    await _run(gateway, options.principal, server, listener)
            start.check()
    finally:
        with anyio.CancelScope(shield=True):
            await store.close()


def _drain_seconds(options: Options) -> float:
    if options.principal is None:
        return options.drain
    return INTERRUPT_SECONDS


def _shelf(
    options: Options, policy: PolicyFile | None, reporter: Reporter
) -> ReceiptCollection | None:
    """Load the receipts; log invalid ones."""
    if options.receipts is None:
        return None
    shelf = load_receipts(Path(options.receipts))
    if reporter is not SILENT:
        log = logging.getLogger("sayso")
        for problem in shelf.problems:
            log.warning("%s", problem)
        if policy is None or not policy().receipt_keys:
            log.warning("%s: ignored, the policy trusts no receipt key", options.receipts)
    return shelf


def _wallet(targets: Sequence[Target], settings: Settings | None) -> Wallet | None:
    """Return a wallet if a server exchanges tokens. Raises `ConfigError` without [oauth]."""
    exchanging = [
        target.name
        for target in targets
        if isinstance(target, UrlTarget) and target.auth and target.auth.is_exchange
    ]
    if not exchanging:
        return None
    if settings is None or settings.oauth is None:
        what = "“token_exchange” requires callers' tokens, and there is no [oauth] in access.toml"
        fix = "Configure the tokens' issuer with --access, or use client_credentials."
        raise ConfigError(what, where=exchanging[0], fix=fix)
    return Wallet()


def _make_app(
    gateway: Gateway,
    options: Options,
    base: str,
    public: str,
    access: Access,
    settings: Settings | None,
    console_login: ConsoleLogin,
) -> ASGIApp:

    def make() -> Sequence[BaseRoute]:
        from sayso.console import make_routes

        return make_routes(
            gateway,
            console_login.login,
            base_url=public,
            provider=console_login.provider,
            is_alone=options.access is None,
            access=access,
            screens=settings and settings.screens,
        )

    return make_app(
        gateway,
        base,
        make_lazy_routes(make),
        access=access,
        public_url=options.public_url,
        heard=console_login.callers.note,
    )


async def _run(
    gateway: Gateway, principal: Principal | None, server: DrainedServer, listener: socket.socket
) -> None:
    # Do not log connections that a shutdown cuts off as errors.
    logging.getLogger("uvicorn.error").addFilter(
        lambda entry: not (server.should_exit or entry.getMessage().startswith(_UPGRADE_MESSAGES))
    )
    # Exclude the long-lived objects from later garbage collections.
    gc.collect()
    gc.freeze()
    if principal is None:
        await server.serve(sockets=[listener])
    else:
        await _serve_stdio(gateway, principal, server, listener)


@asynccontextmanager
async def _joined(
    options: Options, store: Database, keys: Keyring, worker: Worker | None
) -> AsyncGenerator[ReplicaClient | None]:
    if not has_replicas(options):
        yield None
        return
    place = 0 if worker is None else worker.place
    listener, host = open_replica_listener(options, place, database_host(options.store))
    with listener:
        async with open_replicas(store.replicas, keys, listener, host) as replica_client:
            yield replica_client


async def _serve_stdio(
    gateway: Gateway, principal: Principal, server: DrainedServer, listener: socket.socket
) -> None:
    """Serve the client over stdio, and the console, until the client closes stdin."""

    async def converse() -> None:
        async with standard_pipes() as (lines, write):
            await StdioFrontend(make_dispatcher(gateway), principal, write).run(lines)
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
    """Return the channels in addition to the console. Raises `UsageError` for an invalid URL."""
    url = options.webhook or os.environ.get("SAYSO_WEBHOOK")
    if not url:
        return ()

    def people() -> Mapping[str, frozenset[str]]:
        return policy().people if policy else {}

    return (LinkChannel(keys, f"{base}/console/link?token=", webhook(url), people),)


def _policy(options: Options, targets: Sequence[Target], reporter: Reporter) -> PolicyFile | None:
    if options.policy is None:
        return None
    policy = PolicyFile.open(options.policy)
    _check_names(policy, targets, reporter)
    return policy


def _watching(
    policy: PolicyFile | None, targets: Sequence[Target], reporter: Reporter
) -> list[Callable[[], Coroutine[Any, Any, None]]]:
    if policy is None:
        return []

    def read(message: str) -> None:
        reporter.tell(message)
        _check_names(policy, targets, reporter)

    def keep(error: SaysoError) -> None:
        reporter.fail(error)
        reporter.tell("The previous policy stays in force.")

    return [partial(policy.watch, read, keep)]


def _check_names(policy: PolicyFile, targets: Sequence[Target], reporter: Reporter) -> None:
    if reporter is not SILENT:
        for problem in misnamed(policy(), [target.name for target in targets]):
            logging.getLogger("sayso").warning(problem)


def _while_it_serves(
    gateway: Gateway, guests: Guests | None, reporter: Reporter
) -> list[Callable[[], Coroutine[Any, Any, None]]]:
    """Return the background tasks of a serving gateway."""
    work: list[Callable[[], Coroutine[Any, Any, None]]] = []
    if reporter is not SILENT:
        work.append(partial(warn_of_unmatched, gateway))
    if guests:
        work.append(partial(guests, gateway))
    return work


def _base_url(host: str, port: int) -> str:
    if ":" in host:
        host = f"[{host}]"
    return f"http://{host}:{port}"
