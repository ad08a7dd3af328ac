"""The socket to which a gateway's other processes connect; callers use another socket."""

import ipaddress
import socket
from typing import Final
from urllib.parse import urlsplit

from sayso.cli.address import Options
from sayso.errors import UsageError
from sayso.store import is_postgres

_WHERE: Final = "--advertise"
_POSTGRES_PORT: Final = 5432


def has_replicas(options: Options) -> bool:
    """Return whether the gateway has, or may have, other processes."""
    return options.principal is None and (options.workers > 1 or is_postgres(options.store))


def open_replica_listener(
    options: Options, place: int, database: str | None
) -> tuple[socket.socket, str]:
    """Return a listening socket for the other processes, and the host that they connect to.

    `place` is the worker's number, which is added to an advertised port. `database` is the store's
    host. Raises `UsageError` if the socket cannot listen.
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
        fix = f"Use an address of this machine: {_WHERE} HOST:PORT."
        what = f"cannot listen for other replicas at {host}: {error.strerror}"
        raise UsageError(what, where=_WHERE, fix=fix) from error
    return listener, host


def _advertised(text: str) -> tuple[str, int]:
    """Parse `HOST` or `HOST:PORT`; the port is 0 if missing. Raises `UsageError`."""
    fix = "Write HOST or HOST:PORT at which other machines reach this one."
    invalid = UsageError(f"{text!r} is not an address", where=_WHERE, fix=fix)
    try:
        parts = urlsplit(f"//{text}")
        port = parts.port or 0
    except ValueError:
        raise invalid from None
    if not parts.hostname or any(mark in text for mark in "/@?# "):
        raise invalid
    return parts.hostname, port


def _own_host(host: str, database: str | None) -> str:
    """Return the listening address; for a wildcard, this machine's address for the database."""
    if host == "localhost":
        return "127.0.0.1"
    address = ipaddress.ip_address(host)
    if not address.is_unspecified:
        return host
    family = socket.AF_INET
    if isinstance(address, ipaddress.IPv6Address):
        family = socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            # connect() on a datagram socket sends nothing, and selects the route.
            probe.connect((database or "localhost", _POSTGRES_PORT))
        except OSError as error:
            what = "cannot determine the address at which other replicas reach this one"
            fix = f"Set it with {_WHERE} HOST:PORT."
            raise UsageError(what, where=_WHERE, fix=fix) from error
        own: str = probe.getsockname()[0]
    return own
