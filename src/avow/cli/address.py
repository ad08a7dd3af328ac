"""Where a gateway listens and what else it is told; checked before anything heavy is imported."""

import errno
import ipaddress
import socket
from dataclasses import dataclass
from typing import Final

from avow.errors import AvowError, PortInUseError, UsageError
from avow.policy import Principal

_HIGHEST_PORT: Final = 65_535


@dataclass(frozen=True, slots=True)
class Options:
    """Where to listen and to keep, how many seconds to wait, by which policy, and whom to tell."""

    store: str | None
    host: str
    port: int
    timeout: float
    patience: float
    is_json: bool
    policy: str | None = None
    webhook: str | None = None
    heads: str | None = None
    principal: Principal | None = None


def check_seconds(value: float, where: str) -> None:
    """Raise `UsageError` for a time that is none."""
    if not 0 < value < float("inf"):
        raise UsageError(f"{value:g} is not a number of seconds above 0", where=where)


def listen(options: Options) -> socket.socket:
    """A listening socket, taken before anything is started.

    Raises `UsageError` for options that cannot be, and an address that is not loopback;
    `PortInUseError` where another program listens.
    """
    check_seconds(options.timeout, "--timeout")
    check_seconds(options.patience, "--patience")
    if not 0 <= options.port <= _HIGHEST_PORT:
        raise UsageError(f"{options.port} is not a port", where="--port", fix="Take 0 to 65535.")
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
    except OSError as error:
        listener.close()
        raise _bind_error(options, error) from error
    return listener


def _bind_error(options: Options, error: OSError) -> AvowError:
    where = f"{options.host}:{options.port}"
    if error.errno == errno.EADDRINUSE:
        fix = "End that program, or choose another with --port (0 takes a free one)."
        return PortInUseError("another program listens there", where=where, fix=fix)
    fix = "Choose another port with --port (0 takes a free one)."
    return UsageError(f"cannot listen there: {error.strerror}", where=where, fix=fix)
