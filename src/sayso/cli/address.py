"""Where a gateway listens and what else it is told; checked before anything heavy is imported."""

import errno
import ipaddress
import os
import re
import socket
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from sayso.connect import fault_of_url, is_loopback, is_private
from sayso.errors import PortInUseError, SaysoError, UsageError
from sayso.policy import Principal

_HIGHEST_PORT: Final = 65_535
_PLAIN_URL: Final = re.compile(r"[A-Za-z0-9:/._~\[\]-]+")
"""It stands in headers and tokens as it is written. A host in other letters has a name in these."""


@dataclass(frozen=True, slots=True)
class Options:
    """Where to listen and to keep, how many seconds to wait, by which policy, and whom to tell.

    `access` is the file that says who may call, and `public_url` where others reach the gateway.
    `metrics` is where these are served, and `otel` whether traces are sent.
    `workers` processes serve, each of which lets calls run on for `drain` seconds when it ends;
    other machines reach them at `advertise`. `receipts` is where receipts about tools lie.
    With `is_port_preferred`, a free port is taken if another program listens on `port`.
    """

    store: str | None
    host: str
    port: int
    timeout: float
    patience: float | None
    is_json: bool
    policy: str | None = None
    webhook: str | None = None
    heads: str | None = None
    access: str | None = None
    public_url: str | None = None
    principal: Principal | None = None
    metrics: str | None = None
    otel: bool = False
    workers: int = 1
    drain: float = 20.0
    advertise: str | None = None
    receipts: str | None = None
    is_port_preferred: bool = False


def check_seconds(value: float, where: str) -> None:
    """Raise `UsageError` for a time that is none."""
    if not 0 < value < float("inf"):
        raise UsageError(f"{value:g} is not a number of seconds above 0", where=where)


def listen(options: Options) -> socket.socket:
    """A listening socket, taken before anything is started.

    Raises `UsageError` for options that cannot be, and for an address that others can reach where
    nothing says who may call; `PortInUseError` where another program listens.
    """
    check_seconds(options.timeout, "--timeout")
    if options.patience is not None:
        check_seconds(options.patience, "--patience")
    check_seconds(options.drain, "--drain")
    _check_workers(options)
    _check_port(options.port, "--port")
    address = _address(options.host, "--host")
    if not address.is_loopback:
        _check_reach(options)
    if options.public_url is not None:
        _check_public(options.public_url)
        _check_served(options.public_url, options.access)
    try:
        return bind(options.host, options.port, "--port")
    except PortInUseError:
        if not options.is_port_preferred:
            raise
        return bind(options.host, 0, "--port")


def bind(host: str, port: int, where: str) -> socket.socket:
    """Return a listening socket. Raises `UsageError`, which names `where`, or `PortInUseError`."""
    _check_port(port, where)
    address = _address(host, where)
    family = socket.AF_INET
    if isinstance(address, ipaddress.IPv6Address):
        family = socket.AF_INET6
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((str(address), port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise _bind_error(f"{host}:{port}", where, error) from error
    return listener


def _check_port(port: int, where: str) -> None:
    if not 0 <= port <= _HIGHEST_PORT:
        raise UsageError(f"{port} is not a port", where=where, fix="Take 0 to 65535.")


def _address(host: str, where: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address({"localhost": "127.0.0.1"}.get(host, host))
    except ValueError:
        raise UsageError(f"{host!r} is not an address", where=where) from None


def _check_workers(options: Options) -> None:
    if options.workers < 1:
        raise UsageError(f"{options.workers} is no number of processes", where="--workers")
    if options.workers > 1 and options.principal is not None:
        fix = "Leave one of the two out."
        raise UsageError("one client on stdio is served by one process", where="--workers", fix=fix)
    if options.workers > 1 and options.metrics is not None:
        fix = "Send them with --otel, or start several gateways on one store, each with a port."
        what = "each process has metrics of its own, and one port shows one of them"
        raise UsageError(what, where="--metrics", fix=fix)
    if options.workers > 1 and not hasattr(os, "fork"):
        raise UsageError("this system cannot fork", where="--workers", fix="Leave it out.")


def _check_reach(options: Options) -> None:
    """Raise unless those who can reach the gateway have to say who they are."""
    if options.access is None:
        fix = (
            "Use 127.0.0.1 or ::1: without authentication nobody else may reach the gateway. "
            "Or say with --access FILE who may call."
        )
        raise UsageError(f"{options.host} is not a loopback address", where="--host", fix=fix)
    if options.public_url is None:
        fix = "Write the https URL that clients are given, without /mcp."
        what = f"others reach {options.host} by a name that sayso must know"
        raise UsageError(what, where="--public-url", fix=fix)


def _check_public(url: str) -> None:
    if fault := fault_of_url(url):
        raise UsageError(fault[0], where="--public-url", fix=fault[1])
    if not is_private(url):
        fix = "Put TLS before the gateway: tokens would go over the network in the clear."
        raise UsageError("the URL is not https", where="--public-url", fix=fix)
    if not _PLAIN_URL.fullmatch(url) or url.rstrip("/").endswith("/mcp"):
        fix = "Write it as https://sayso.example.com; /mcp follows by itself."
        raise UsageError("this is not the URL of a gateway", where="--public-url", fix=fix)


def _check_served(url: str, access: str | None) -> None:
    """Raise unless requests by the public URL can be answered: others need authentication."""
    if access is None and not is_loopback(urlsplit(url).hostname or ""):
        fix = "Say with --access FILE who may call, or leave --public-url out."
        what = "--public-url requires --access: without authentication only this machine is served"
        raise UsageError(what, where="--public-url", fix=fix)


def _bind_error(where: str, option: str, error: OSError) -> SaysoError:
    if error.errno == errno.EADDRINUSE:
        fix = f"End that program, or choose another with {option} (0 takes a free one)."
        return PortInUseError("another program listens there", where=where, fix=fix)
    fix = f"Choose another port with {option} (0 takes a free one)."
    return UsageError(f"cannot listen there: {error.strerror}", where=where, fix=fix)
