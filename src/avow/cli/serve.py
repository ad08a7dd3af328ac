"""Runs a gateway with its console until it is stopped."""

import errno
import ipaddress
import json
import logging
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import anyio
import uvicorn
from rich.text import Text

from avow.cli.terminal import print_error, print_error_json, talk
from avow.connect import Target
from avow.console import Login, make_routes
from avow.errors import AvowError, PortInUseError, UsageError
from avow.gateway import PATH, Gateway, make_app, open_gateway
from avow.store import open_store

_GRACE_SECONDS: Final = 3


@dataclass(frozen=True, slots=True)
class Options:
    """Where to listen, where to keep, and how long to wait."""

    store: str | None
    host: str
    port: int
    timeout: float
    patience: float
    is_json: bool


def serve(targets: Sequence[Target], options: Options) -> int:
    """Serve until interrupted. Servers that were started are ended with their children.

    Raises `UsageError` for an address that is not loopback, `PortInUseError`, `StoreError`, and
    the error of the server where none of the targets can be reached.
    """
    with _listen(options) as listener:
        signal.signal(signal.SIGTERM, _terminate)
        anyio.run(_serve, targets, options, listener)
    return 0


async def _serve(targets: Sequence[Target], options: Options, listener: socket.socket) -> None:
    base = _base_url(options.host, listener.getsockname()[1])
    store = open_store(options.store)
    try:
        async with open_gateway(
            targets,
            store,
            console=f"{base}/console/",
            timeout=options.timeout,
            patience=options.patience,
        ) as gateway:
            await _check(gateway, is_json=options.is_json)
            login = Login(announce=_announce, base_url=base)
            app = make_app(gateway, options.host, make_routes(gateway, login, base_url=base))
            _print_addresses(base, login.link(), is_json=options.is_json)
            config = uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
            server = uvicorn.Server(config)
            # What is still open when avow ends is cut off, which is no error to tell of.
            logging.getLogger("uvicorn.error").addFilter(lambda _: not server.should_exit)
            await server.serve(sockets=[listener])
    finally:
        with anyio.CancelScope(shield=True):
            await store.close()


async def _check(gateway: Gateway, *, is_json: bool) -> None:
    """Connect to every server: raise where none answers, and tell of those that do not."""
    errors: list[AvowError] = []

    async def connect(index: int) -> None:
        try:
            await gateway.fleet.upstreams[index].link()
        except AvowError as error:
            errors.append(error)

    async with anyio.create_task_group() as group:
        for index in range(len(gateway.fleet.upstreams)):
            group.start_soon(connect, index)
    if errors and len(errors) == len(gateway.fleet.upstreams):
        raise errors[0]
    for error in errors:
        (print_error_json if is_json else print_error)(error)


def _listen(options: Options) -> socket.socket:
    """A listening socket, taken before anything is started."""
    try:
        address = ipaddress.ip_address("127.0.0.1" if options.host == "localhost" else options.host)
    except ValueError:
        raise UsageError(f"{options.host!r} is not an address", where="--host") from None
    if not address.is_loopback:
        fix = "Use 127.0.0.1 or ::1: without authentication nobody else may reach the gateway."
        raise UsageError(f"{options.host} is not a loopback address", where="--host", fix=fix)
    family = socket.AF_INET6 if isinstance(address, ipaddress.IPv6Address) else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((str(address), options.port))
        listener.listen(2048)
    except (OSError, OverflowError) as error:
        listener.close()
        raise _bind_error(options, error) from error
    return listener


def _bind_error(options: Options, error: Exception) -> AvowError:
    where = f"{options.host}:{options.port}"
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        fix = "End that program, or choose another with --port (0 takes a free one)."
        return PortInUseError("another program listens there", where=where, fix=fix)
    fix = "Choose another port with --port (0 takes a free one)."
    return UsageError(f"cannot listen there: {error}", where=where, fix=fix)


def _base_url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _print_addresses(base: str, link: str, *, is_json: bool) -> None:
    if is_json:
        addresses = {"schema": 1, "mcp": f"{base}{PATH}", "console": link}
        sys.stdout.write(json.dumps(addresses) + "\n")
    else:
        sys.stdout.write(f"{link}\n")
        text = Text("Open this link to see the tools and to answer for calls; it works once.\n")
        text.append(f"MCP clients connect to {base}{PATH}. Ctrl-C ends avow.")
        talk().print(text)
    sys.stdout.flush()


def _announce(link: str) -> None:
    talk().print(f"A fresh link to the console; it works once:\n{link}")


def _terminate(_signal: int, _frame: object) -> None:
    """End as an interrupt does, so that servers and the store are let go of in order."""
    signal.raise_signal(signal.SIGINT)
