"""Where the other processes of a gateway reach this one: a port of its own, not that of callers."""

import ipaddress
import socket
from typing import Final
from urllib.parse import urlsplit

from sayso.cli.address import Options
from sayso.errors import UsageError
from sayso.store import is_postgres

_WHERE: Final = "--advertise"
_POSTGRES_PORT: Final = 5432


def is_one_of_many(options: Options) -> bool:
    """Whether there are, or may be, other processes of the same gateway."""
    return options.principal is None and (options.workers > 1 or is_postgres(options.store))


def open_reach(options: Options, place: int, database: str | None) -> tuple[socket.socket, str]:
    """A socket that listens for the other processes, and the host that they reach it at.

    `place` is the worker's among those of this machine, which takes the port that is so much
    higher. `database` is the host of the store. Raises `UsageError` where it cannot listen.
    """
    port = 0
    if options.advertise:
        host, port = _advertised(options.advertise)
        if port:
            port += place
    else:
        host = _own_host(options.host, database)
    try:
        family = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        fix = f"Give an address of this machine with {_WHERE} HOST:PORT."
        what = f"cannot listen for other replicas at {host}: {error.strerror}"
        raise UsageError(what, where=_WHERE, fix=fix) from error
    return listener, host


def _advertised(text: str) -> tuple[str, int]:
    """The host and the port, 0 for any, of `HOST` or `HOST:PORT`. Raises `UsageError`."""
    try:
        parts = urlsplit(f"//{text}")
        host = parts.hostname
        port = parts.port or 0
    except ValueError:
        host = None
        port = 0
    if not host or any(mark in text for mark in "/@?# "):
        fix = "Write HOST or HOST:PORT, as other machines reach this one."
        raise UsageError(f"{text!r} is not an address", where=_WHERE, fix=fix)
    return host, port


def _own_host(host: str, database: str | None) -> str:
    """The address that we listen on; where that is all, the one on the way to the database."""
    if host == "localhost":
        return "127.0.0.1"
    address = ipaddress.ip_address(host)
    if not address.is_unspecified:
        return host
    family = socket.AF_INET
    if isinstance(address, ipaddress.IPv6Address):
        family = socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as way:
        try:
            # Nothing is sent: the system only looks which way it would go.
            way.connect((database or "localhost", _POSTGRES_PORT))
        except OSError as error:
            fix = f"Give it with {_WHERE} HOST:PORT."
            what = "where other replicas reach this one cannot be found out"
            raise UsageError(what, where=_WHERE, fix=fix) from error
        found: str = way.getsockname()[0]
    return found
