"""The parts of a request that identify its caller, before sayso has verified them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast
from urllib.parse import parse_qsl

from sayso.access.refusal import UnfitError

LARGEST_TOKEN: Final = 16_384
"""The largest token in bytes, about twice the size of one that names hundreds of groups."""

_TOKEN: Final = re.compile(rb"[A-Za-z0-9._~+/-]+=*")  # b64token of RFC 6750, section 2.1
_PATH: Final = "/mcp"

Headers = Sequence[tuple[bytes, bytes]]
"""ASGI headers: one pair per header line, so repeated headers stay separate."""


@dataclass(slots=True)
class RequestInfo:
    """A request's headers, peer address, path and query."""

    headers: Headers = field(repr=False)
    peer: str | None = None
    path: str = _PATH
    query: bytes = field(default=b"", repr=False)

    @classmethod
    def of(cls, scope: Mapping[str, Any]) -> "RequestInfo":
        client = cast("Sequence[Any] | None", scope.get("client"))
        peer = str(client[0]) if client else None
        return cls(scope["headers"], peer, scope["path"], scope.get("query_string", b""))

    def bearer(self) -> str | None:
        """Return the bearer token in the header `Authorization`; `None` if there is none.

        Raises `UnfitError` for several such headers, a malformed token, or a token in the query.
        """
        if any(name == "access_token" for name, _ in parse_qsl(self.query.decode("latin-1"))):
            # URLs end up in logs and histories (RFC 9700, section 4.3.2).
            raise UnfitError("A token in the URL is not accepted.", "invalid_request")
        lines = values(self.headers, b"authorization")
        if not lines:
            return None
        if len(lines) > 1:
            raise UnfitError("There is more than one Authorization header.", "invalid_request")
        scheme, _, token = lines[0].strip().partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        token = token.strip()
        if len(token) > LARGEST_TOKEN:
            raise UnfitError("The token is too large.", "invalid_request")
        if not _TOKEN.fullmatch(token):
            raise UnfitError("The bearer token is malformed.", "invalid_request")
        return token.decode("ascii")


def values(headers: Headers, name: bytes) -> list[bytes]:
    """Return a header's values, one per header line. `name` must be in lower case."""
    size = len(name)
    return [value for key, value in headers if len(key) == size and key.lower() == name]
