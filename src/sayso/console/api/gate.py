"""What every request of a token's holder passes: sayso's name, and a page that was allowed.

No cookie opens anything behind it, so a page of others can send nothing in its reader's name:
what it sends counts for what its own token may do.
"""

from collections.abc import Collection, Mapping
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sayso.access import is_own_host, is_own_origin, own_names
from sayso.console.api.problem import problem
from sayso.console.gate import HEADERS

_PREFLIGHT: Final[Mapping[str, str]] = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Last-Event-ID",
    "Access-Control-Max-Age": "600",
}


class ScreenGate:
    """Stands before `app`; `origins` are the pages of others that may call, to the letter."""

    def __init__(self, app: ASGIApp, base_url: str, origins: Collection[str]) -> None:
        self.app = app
        self._names = own_names(base_url)
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        origin = Headers(scope=scope).get("origin", "")
        is_allowed = origin in self._origins

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.add_vary_header("Origin")
                if is_allowed:
                    headers["Access-Control-Allow-Origin"] = origin
                    headers["Access-Control-Expose-Headers"] = "WWW-Authenticate, Retry-After"
            await send(message)

        app = self._answer(scope, is_allowed=is_allowed) or self.app
        await app(scope, receive, dressed)

    def _answer(self, scope: Scope, *, is_allowed: bool) -> Response | None:
        if not is_own_host(scope["headers"], self._names):
            return problem(421, "host", "This gateway does not go by that name.")
        if not is_allowed and not is_own_origin(scope["headers"], self._names):
            return problem(403, "origin", "Pages of this origin may not call this gateway.")
        if scope["method"] == "OPTIONS":
            return Response(status_code=204, headers=dict(_PREFLIGHT) if is_allowed else None)
        return None
