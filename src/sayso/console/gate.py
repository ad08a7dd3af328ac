"""The gate: what every request to the console passes, and what every answer carries."""

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sayso.access import Headers as Raw
from sayso.access import is_own_host, is_same_origin, own_names

Refuse = Callable[[int, str, str], Response]
"""Makes a page of a status, what is wrong, and what to do."""

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

_CHANGES_NOTHING: Final = ("GET", "HEAD")


class Gate:
    """Stands before `app`. It is outermost, so that errors carry the headers too."""

    def __init__(self, app: ASGIApp, base_url: str, *, refuse: Refuse) -> None:
        self.app = app
        self._names = own_names(base_url)
        self._scheme = urlsplit(base_url).scheme
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        app = self._refusal(scope["method"], scope["headers"]) or self.app
        await app(scope, receive, dressed)

    def _refusal(self, method: str, headers: Raw) -> Response | None:
        if not is_own_host(headers, self._names):
            fix = "Open it under the address that sayso printed when it started."
            return self._refuse(421, "This console does not go by that name.", fix)
        if method not in _CHANGES_NOTHING and not is_same_origin(headers, self._scheme):
            fix = "Nothing was done. Go to the console and press the button there."
            return self._refuse(403, "This form did not come from the console.", fix)
        return None
