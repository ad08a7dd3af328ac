"""Protected resources: the gateway's URLs that tokens are issued for (RFC 8707, RFC 9728)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

ALL: Final = "/mcp"
"""The path of all servers together. A token for this path is also valid for each server."""

API: Final = "/api"
"""The path of the console's API. It needs tokens for this path, which no server accepts."""

_PATH: Final = re.compile(r"/servers/[A-Za-z0-9._-]+/mcp")
WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


@dataclass(frozen=True, slots=True)
class Resource:
    """This gateway as a protected resource. `url` is its public URL without a path.

    A token's audience must be `audience`, or by default a URL of `audiences(path)`.
    """

    url: str
    issuer: str
    scopes: Sequence[str] = ()
    audience: str | None = None

    def audiences(self, path: str) -> frozenset[str]:
        """Return the accepted audiences of tokens for `path`.

        >>> gateway = Resource("https://sayso.example", "https://login.example")
        >>> sorted(gateway.audiences("/servers/crm/mcp"))
        ['https://sayso.example/mcp', 'https://sayso.example/servers/crm/mcp']
        """
        if self.audience is not None:
            return frozenset({self.audience})
        if is_api(path):
            # An agent's token for calls must not be valid for answering questions.
            return frozenset({self._at(API)})
        return frozenset({self._at(ALL), self._at(path)})

    def metadata(self, path: str) -> dict[str, Any]:
        """Return the metadata of the resource at `path` (RFC 9728, section 2)."""
        document: dict[str, Any] = {
            "resource": self._at(path),
            "authorization_servers": [self.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "sayso",
        }
        if self.scopes:
            document["scopes_supported"] = sorted(self.scopes)
        return document

    def metadata_url(self, path: str) -> str:
        """Return the URL of the metadata of the resource at `path` (RFC 9728, section 3.1)."""
        parts = urlsplit(self._at(path))
        return parts._replace(path=f"{WELL_KNOWN}{parts.path}").geturl()

    def _at(self, path: str) -> str:
        if is_api(path):
            path = API
        elif not _PATH.fullmatch(path):
            # Any other path is the caller's text, which a response must not repeat.
            path = ALL
        return f"{self.url.rstrip('/')}{path}"


def is_api(path: str) -> bool:
    """Return whether a path belongs to the console's API, which is a separate resource.

    >>> is_api("/api/v1/tools"), is_api("/apis")
    (True, False)
    """
    return path == API or path.startswith(f"{API}/")
