"""The unverified parts of a request: its headers, peer, path and query."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast
from urllib.parse import parse_qsl

from sayso.access.refusal import UnfitError

LARGEST_TOKEN: Final = 16_384
"""Bytes. Tokens with hundreds of groups have about half as many."""

_TOKEN: Final = re.compile(rb"[A-Za-z0-9._~+/-]+=*")  # b64token of RFC 6750, section 2.1
_PATH: Final = "/mcp"

Headers = Sequence[tuple[bytes, bytes]]
"""As ASGI has them: one pair for each line, so that two lines of one name are seen as two."""


@dataclass(slots=True)
class Arrival:
    """A request: its headers, which address sent it, and the path and query it is for."""

    headers: Headers = field(repr=False)
    peer: str | None = None
    path: str = _PATH
    query: bytes = field(default=b"", repr=False)

    @classmethod
    def of(cls, scope: Mapping[str, Any]) -> "Arrival":
        client = cast("Sequence[Any] | None", scope.get("client"))
        peer = str(client[0]) if client else None
        return cls(scope["headers"], peer, scope["path"], scope.get("query_string", b""))

    def bearer(self) -> str | None:
        """Return the token in `Authorization`, or `None` without one.

        Raises `UnfitError` for two of them, one in the query, or one in another form.
        """
        if any(name == "access_token" for name, _ in parse_qsl(self.query.decode("latin-1"))):
            # Addresses stand in logs and histories (RFC 9700, section 4.3.2).
            raise UnfitError("A token in the address is not taken.", "invalid_request")
        lines = values(self.headers, b"authorization")
        if not lines:
            return None
        if len(lines) > 1:
            raise UnfitError("Authorization stands there more than once.", "invalid_request")
        scheme, _, token = lines[0].strip().partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        token = token.strip()
        if len(token) > LARGEST_TOKEN:
            raise UnfitError("The token is too large.", "invalid_request")
        if not _TOKEN.fullmatch(token):
            raise UnfitError("This is not the form of a bearer token.", "invalid_request")
        return token.decode("ascii")


def values(headers: Headers, name: bytes) -> list[bytes]:
    """Return the values of a header, whose name is in lower case, one for each line."""
    size = len(name)
    return [value for key, value in headers if len(key) == size and key.lower() == name]
