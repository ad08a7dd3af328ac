"""What tokens are for: the addresses of this gateway, as others know them (RFC 8707, RFC 9728)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

ALL: Final = "/mcp"
"""The path of all servers together; a token for it is good for each alone."""

API: Final = "/api"
"""Where the API for screens is: a token for it is good there alone, and no other is."""

_PATH: Final = re.compile(r"/servers/[A-Za-z0-9._-]+/mcp")
WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


@dataclass(frozen=True, slots=True)
class Resource:
    """This gateway as a protected resource: `url` is where others reach it, without a path of MCP.

    With an `audience` tokens name that, whatever path they are for; without, the URL of the path.
    """

    url: str
    issuer: str
    scopes: Sequence[str] = ()
    audience: str | None = None

    def audiences(self, path: str) -> frozenset[str]:
        """What the audience of a token may be, for requests to `path`.

        >>> one = Resource("https://sayso.example", "https://login.example")
        >>> sorted(one.audiences("/servers/crm/mcp"))
        ['https://sayso.example/mcp', 'https://sayso.example/servers/crm/mcp']
        """
        if self.audience is not None:
            return frozenset({self.audience})
        if is_api(path):
            # What an agent holds for its calls must not answer for them.
            return frozenset({self._at(API)})
        return frozenset({self._at(ALL), self._at(path)})

    def metadata(self, path: str) -> dict[str, Any]:
        """The metadata of what is at `path` (RFC 9728, section 2)."""
        document: dict[str, Any] = {
            "resource": self._at(path),
            "authorization_servers": [self.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "sayso",
        }
        return document | ({"scopes_supported": sorted(self.scopes)} if self.scopes else {})

    def metadata_url(self, path: str) -> str:
        """Where that metadata is (RFC 9728, section 3.1)."""
        parts = urlsplit(self._at(path))
        return parts._replace(path=f"{WELL_KNOWN}{parts.path}").geturl()

    def _at(self, path: str) -> str:
        # Whatever else a path holds, nothing of it is told back.
        path = API if is_api(path) else path if _PATH.fullmatch(path) else ALL
        return f"{self.url.rstrip('/')}{path}"


def is_api(path: str) -> bool:
    """Whether a path is of the API for screens, which is a resource of its own.

    >>> is_api("/api/v1/tools"), is_api("/apis")
    (True, False)
    """
    return path == API or path.startswith(f"{API}/")
