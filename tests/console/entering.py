"""What the tests of logging in with an issuer share: a console that has one, and its visitors."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
from starlette.applications import Starlette
from tests.console.conftest import BASE, Bench
from tests.console.issuer import CLIENT, SECRET, Issuer

from sayso.access import Console
from sayso.connect.fetch import Fetcher
from sayso.console import Login, Provider, make_routes
from sayso.console.home import CALLBACK
from sayso.keys import Reference

ROLES: Mapping[str, frozenset[str]] = {
    "viewer": frozenset({"guest"}),
    "approver": frozenset({"staff", "finance"}),
    "admin": frozenset({"platform"}),
}


@dataclass
class Entrance:
    """A console, the issuer that its people log in with, and what stands between them."""

    bench: Bench
    issuer: Issuer
    provider: Provider
    app: Starlette

    def visitor(self) -> httpx2.AsyncClient:
        """A browser that is not logged in, and follows no redirect by itself."""
        return httpx2.AsyncClient(transport=httpx2.ASGITransport(self.app), base_url=BASE)

    async def sent_back(self, browser: httpx2.AsyncClient, to: str = "") -> str:
        """Begin a login in a browser, and log in with the issuer: where it sends the browser."""
        begun = await browser.get("/console/login/oidc", params={"to": to} if to else {})
        assert begun.status_code == 303, begun.text
        async with httpx2.AsyncClient() as wire:
            answer = await wire.get(begun.headers["location"])
        assert answer.status_code == 302, answer.text
        back = urlsplit(answer.headers["location"])
        assert f"{back.scheme}://{back.netloc}{back.path}" == f"{BASE}{CALLBACK}"
        return f"{back.path}?{back.query}"

    async def log_in(self, browser: httpx2.AsyncClient, to: str = "") -> httpx2.Response:
        """Log in from the beginning to the end."""
        return await browser.get(await self.sent_back(browser, to))

    @asynccontextmanager
    async def browser(self, **person: Any) -> AsyncGenerator[httpx2.AsyncClient]:
        """The browser of somebody who is logged in."""
        self.issuer.person = {"sub": "amy", "roles": ["staff"], **person}
        async with self.visitor() as browser:
            entered = await self.log_in(browser)
            assert entered.status_code == 200, entered.text
            yield browser


def settings_of(issuer: Issuer, **changes: Any) -> Console:
    """Who may log in, as an access.toml would say."""
    told: dict[str, Any] = {
        "client_id": CLIENT,
        "roles": ROLES,
        "secret": Reference("env", "SAYSO_TEST_SECRET"),
        **changes,
    }
    return Console(issuer.base, **told)


def make_entrance(bench: Bench, issuer: Issuer, fetcher: Fetcher, **changes: Any) -> Entrance:
    """A console with an issuer; another one on the same bench is another process of it."""
    issuer.clock = bench.clock
    gateway, store = bench.gateway, bench.store
    provider = Provider(
        settings_of(issuer, **changes),
        fetcher,
        f"{BASE}{CALLBACK}",
        store.tokens,
        gateway.keys,
        clock=bench.clock,
    )
    login = Login(
        BASE,
        tokens=store.tokens,
        keys=gateway.keys,
        clock=bench.clock,
        stamp=provider.stamp,
        takes_links=False,
    )
    routes = make_routes(gateway, login, base_url=BASE, provider=provider)
    return Entrance(bench, issuer, provider, Starlette(routes=routes))


__all__ = ["SECRET", "Entrance", "make_entrance", "settings_of"]
