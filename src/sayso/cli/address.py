"""A gateway's options and listening socket, checked before heavy modules are imported."""

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
"""Valid text of --public-url, which goes into headers and tokens; hosts use their ASCII form."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a gateway; `timeout`, `patience` and `drain` are in seconds.

    With `is_port_preferred`, a free port is used if `port` is taken.
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
    """Raise `UsageError` unless `value` is a positive, finite number of seconds."""
    if not 0 < value < float("inf"):
        raise UsageError(f"must be a positive number of seconds, got {value:g}", where=where)


def listen(options: Options) -> socket.socket:
    """Check the options and return a listening socket.

    Raises `UsageError` for invalid options, and for an address that others can reach without
    authentication; `PortInUseError` if another program listens there.
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
    """Return a listening socket for option `where`. Raises `UsageError` or `PortInUseError`."""
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
        raise UsageError(f"must be a port from 0 to {_HIGHEST_PORT}, got {port}", where=where)


def _address(host: str, where: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address({"localhost": "127.0.0.1"}.get(host, host))
    except ValueError:
        fix = "Use an IP address, or localhost."
        raise UsageError(f"{host!r} is not an address", where=where, fix=fix) from None


def _check_workers(options: Options) -> None:
    if options.workers < 1:
        raise UsageError(f"must be at least 1, got {options.workers}", where="--workers")
    if options.workers == 1:
        return
    if options.principal is not None:
        raise UsageError("must be 1 with --stdio", where="--workers", fix="Remove one of them.")
    if options.metrics is not None:
        fix = "Send metrics with --otel, or start several gateways on one store, each with a port."
        what = "requires --workers 1, because each process has its own metrics"
        raise UsageError(what, where="--metrics", fix=fix)
    if not hasattr(os, "fork"):
        raise UsageError("requires a system with fork()", where="--workers", fix="Remove it.")


def _check_reach(options: Options) -> None:
    """Raise unless callers from other machines must authenticate."""
    if options.access is None:
        what = f"{options.host} is not a loopback address, so --access is required"
        fix = "Use 127.0.0.1 or ::1, or configure authentication with --access FILE."
        raise UsageError(what, where="--host", fix=fix)
    if options.public_url is None:
        fix = "Give the https URL that clients use, without /mcp."
        raise UsageError(f"required with --host {options.host}", where="--public-url", fix=fix)


def _check_public(url: str) -> None:
    if fault := fault_of_url(url):
        raise UsageError(fault[0], where="--public-url", fix=fault[1])
    if not is_private(url):
        fix = "Put a TLS proxy in front of the gateway: tokens must not travel unencrypted."
        raise UsageError("the URL must use https", where="--public-url", fix=fix)
    if not _PLAIN_URL.fullmatch(url) or url.rstrip("/").endswith("/mcp"):
        fix = "Write it as https://sayso.example.com; sayso appends /mcp."
        raise UsageError("this is not the base URL of a gateway", where="--public-url", fix=fix)


def _check_served(url: str, access: str | None) -> None:
    """Raise if other machines may call through this URL without authentication."""
    if access is None and not is_loopback(urlsplit(url).hostname or ""):
        fix = "Configure authentication with --access FILE, or remove --public-url."
        what = "requires --access: without authentication only this machine is served"
        raise UsageError(what, where="--public-url", fix=fix)


def _bind_error(where: str, option: str, error: OSError) -> SaysoError:
    if error.errno == errno.EADDRINUSE:
        fix = f"Stop that program, or choose another port with {option} (0 uses a free one)."
        return PortInUseError("another program listens on this port", where=where, fix=fix)
    fix = f"Choose another port with {option} (0 uses a free one)."
    return UsageError(f"cannot listen here: {error.strerror}", where=where, fix=fix)
