"""By which name avow is called, and from which page: other names are somebody's trick."""

from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import urlsplit

from avow.gateway.doors.request import RefusedError

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def names_of(host: str) -> frozenset[str]:
    """The names of a gateway that serves on `host`."""
    return frozenset({*_LOOPBACK, host.lower()})


def refuse_foreign(headers: Mapping[str, str], names: frozenset[str]) -> None:
    """Raise `RefusedError` for another host's name, or a page of another origin (DNS rebinding)."""
    if _name(f"//{headers.get('host', '')}") not in names:
        raise RefusedError(HTTPStatus.MISDIRECTED_REQUEST, "avow does not go by that name")
    origin = headers.get("origin")
    if origin is not None and (not origin.startswith("http://") or _name(origin) not in names):
        raise RefusedError(HTTPStatus.FORBIDDEN, "requests of that origin are not taken")


def _name(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        return parts.hostname if parts.port is None or parts.port >= 0 else None
    except ValueError:
        return None
