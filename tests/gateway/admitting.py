"""A real MCP server that lets in only who shows a token of its authorization server's."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from tests.access.authority import CLIENT, Authority
from tests.connect.servers import real
from tests.connect.serving import serve_app

from sayso.connect import UrlTarget
from sayso.connect.kinds import AuthKind, UpstreamAuth
from sayso.keys import Reference

VARIABLE = "SAYSO_TEST_SECRET"


@dataclass
class Admitting:
    """Looks at the token of each request; those before `since` are over."""

    app: ASGIApp
    authority: Authority
    since: int = 1
    shown: list[str] = field(default_factory=list[str])
    refused: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_let_in(scope):
            self.refused += 1
            await PlainTextResponse("who?", 401)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _is_let_in(self, scope: Scope) -> bool:
        said = dict(scope["headers"]).get(b"authorization", b"").decode()
        self.shown.append(said)
        known = [f"Bearer upstream-{one}" for one in range(1, len(self.authority.issued) + 1)]
        return said in known[self.since - 1 :]

    def callers(self) -> set[str]:
        """The tokens that the shown ones were had for, as the authorization server knows them."""
        numbers = {int(one.rpartition("-")[2]) for one in self.shown}
        return {self.authority.issued[one - 1]["subject_token"] for one in numbers}


@asynccontextmanager
async def admitting(authority: Authority, *, is_old: bool) -> AsyncGenerator[tuple[Admitting, str]]:
    """The server while it runs, and its address."""
    server = Admitting(real.build(is_old=is_old).streamable_http_app(), authority)
    async with serve_app(server) as base:
        yield server, f"{base}/mcp"


def auth_at(authority: Authority, kind: AuthKind, **more: Any) -> UpstreamAuth:
    """Return sayso's settings for its tokens; the secret is in the environment."""
    place = Reference("env", VARIABLE)
    return UpstreamAuth(kind, f"{authority.base}/token", CLIENT, place, **more)


def wanting(url: str, authority: Authority, kind: AuthKind) -> UrlTarget:
    """The server as a configuration names it."""
    return UrlTarget("real", url, auth=auth_at(authority, kind))
