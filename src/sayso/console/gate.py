"""Middleware for all console requests: host and origin checks, and security headers."""

from collections.abc import Callable, Collection, Mapping
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sayso.access import Headers as Raw
from sayso.access import is_own_host, is_own_origin, is_same_origin, own_names
from sayso.console.api.problem import problem

Refuse = Callable[[int, str, str], Response]
"""Makes an error page from a status, a problem and a fix."""

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

_PREFLIGHT: Final[Mapping[str, str]] = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Last-Event-ID",
    "Access-Control-Max-Age": "600",
}
_CHANGES_NOTHING: Final = ("GET", "HEAD")


class Gate:
    """The console's outermost middleware, so that error pages have the security headers too."""

    def __init__(self, app: ASGIApp, base_url: str, *, refuse: Refuse) -> None:
        self.app = app
        self._names = own_names(base_url)
        self._scheme = urlsplit(base_url).scheme
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                _dress(message)
            await send(message)

        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        app = self._refusal(scope["method"], scope["headers"]) or self.app
        await app(scope, receive, dressed)

    def _refusal(self, method: str, headers: Raw) -> Response | None:
        if not is_own_host(headers, self._names):
            fix = "Open the console at the URL that sayso printed when it started."
            return self._refuse(421, "This console does not serve that host name.", fix)
        if method not in _CHANGES_NOTHING and not is_same_origin(headers, self._scheme):
            fix = "Nothing was done. Press the button in the console itself."
            return self._refuse(403, "The form was not sent by the console.", fix)
        return None


class ScreenGate:
    """The middleware of the API for callers with a token. `origins` are the pages that may call.

    This API ignores cookies, so a page cannot send requests in the name of the person who opens it.
    """

    def __init__(self, app: ASGIApp, base_url: str, origins: Collection[str]) -> None:
        self.app = app
        self._names = own_names(base_url)
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        origin = Headers(scope=scope).get("origin", "")
        is_allowed = origin in self._origins

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = _dress(message)
                headers.add_vary_header("Origin")
                if is_allowed:
                    headers["Access-Control-Allow-Origin"] = origin
                    headers["Access-Control-Expose-Headers"] = "WWW-Authenticate, Retry-After"
            await send(message)

        app = self._answer(scope, is_allowed=is_allowed) or self.app
        await app(scope, receive, dressed)

    def _answer(self, scope: Scope, *, is_allowed: bool) -> Response | None:
        if not is_own_host(scope["headers"], self._names):
            return problem(421, "host", "This gateway does not serve that host name.")
        if not is_allowed and not is_own_origin(scope["headers"], self._names):
            return problem(403, "origin", "This origin is not allowed.")
        if scope["method"] == "OPTIONS":
            return Response(status_code=204, headers=dict(_PREFLIGHT) if is_allowed else None)
        return None


def _dress(message: Message) -> MutableHeaders:
    headers = MutableHeaders(scope=message)
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    return headers
