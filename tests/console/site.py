"""A whole console in front of the demo, and a browser that walks through all of its pages."""

import html
import re
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request
from starlette.applications import Starlette
from tests.connect.serving import serve_app
from tests.console.browsing import LIMIT
from tests.console.issuer import CLIENT
from tests.console.surface import addresses
from tests.gateway.changing import DESTROYS, READS, entry

import sayso
from sayso.access import Console
from sayso.approvals import Answer
from sayso.beside import beside
from sayso.catalog import make_tool
from sayso.connect import CommandTarget
from sayso.connect.fetch import Fetcher
from sayso.console import Login, Provider, make_routes
from sayso.console.entry.roles import Role
from sayso.console.home import CALLBACK
from sayso.demo.guests import SERVER, visit
from sayso.gateway import Gateway, make_app, open_gateway
from sayso.gateway.drift import DriftDetector
from sayso.intent import Span
from sayso.policy import Policy
from sayso.store.sqlite import open_sqlite

AXE = Path(__file__).parents[1] / "npm" / "node_modules" / "axe-core" / "axe.min.js"
_MOST = 60
_LINK = re.compile(r'<a [^>]*?href="(/console/[^"#]*)')


@dataclass
class Site:
    """The console at `base`; `paths` are all that can be asked for by GET."""

    base: str
    gateway: Gateway
    login: Login
    paths: list[str]

    def session(self, role: Role, person: str = "amy") -> dict[str, str]:
        """The cookie of somebody with this role."""
        port = urlsplit(self.base).port
        value = self.login.open_for(person, role, seconds=3600.0)
        return {"name": f"sayso_console_{port}", "value": value}


@asynccontextmanager
async def open_site(folder: Path) -> AsyncGenerator[Site]:
    """The demo with what its own agents have done, and one of them waiting."""
    server = ("-m", "sayso.demo.server", "--data", str(folder / "demo.db"))
    source = str(Path(sayso.__file__).parents[1])
    target = CommandTarget("demo", sys.executable, server, cwd=source)
    store, asked = open_sqlite(folder / "sayso.db"), anyio.Event()
    async with (
        open_gateway([target], store, announce=lambda _: asked.set()) as gateway,
        serve_site(gateway) as site,
        beside(lambda: visit(gateway.guard)),
    ):
        with anyio.fail_after(LIMIT):
            await asked.wait()
        yield site
    await store.close()


@asynccontextmanager
async def serve_site(
    gateway: Gateway, clock: Callable[[], float] = time.time, settings: Console | None = None
) -> AsyncGenerator[Site]:
    """The console of a gateway on a port of its own; without `settings` its issuer is not asked."""
    app: list[Any] = []

    async def later(scope: Any, receive: Any, send: Any) -> None:
        await app[0](scope, receive, send)

    store, keys = gateway.store, gateway.keys
    async with serve_app(later) as base:
        people = settings or Console(base, CLIENT, {})
        provider = Provider(people, Fetcher(), f"{base}{CALLBACK}", store.tokens, keys, clock=clock)
        stamp = provider.stamp
        login = Login(base, tokens=store.tokens, keys=keys, clock=clock, stamp=stamp)
        routes = make_routes(gateway, login, base_url=base, provider=provider)
        app.append(make_app(gateway, base, routes))
        known = addresses(Starlette(routes=routes).routes)
        paths = [one.path for one in known if one.verb == "GET" and "/oidc" not in one.path]
        yield Site(base, gateway, login, paths)


@dataclass
class Watched:
    """A page of a fresh browser, and what it has complained of or asked of others."""

    page: Page
    base: str
    wrong: list[str] = field(default_factory=list[str])

    def listen(self) -> None:
        """Hear what the page complains of, and where it sends requests."""

        def complain(message: ConsoleMessage) -> None:
            # A page that tells of an error comes with its status, which the browser reports.
            if "Failed to load resource: the server responded" not in message.text:
                self.wrong.append(f"{message.type}: {message.text}")

        def check(request: Request) -> None:
            if not request.url.startswith((self.base, "data:")):
                self.wrong.append(request.url)

        def fail(error: Any) -> None:
            self.wrong.append(f"error: {error}")

        self.page.on("console", complain)
        self.page.on("request", check)
        self.page.on("pageerror", fail)


@asynccontextmanager
async def logged_in(
    browser: Browser,
    site: Site,
    role: Role | None = Role.ADMIN,
    person: str = "amy",
    **options: Any,
) -> AsyncGenerator[Watched]:
    """A page of a fresh browser in which somebody is logged in; nobody without a `role`."""
    context: BrowserContext = await browser.new_context(**options)
    if role is not None:
        cookie: Any = {**site.session(role, person), "url": f"{site.base}/console"}
        await context.add_cookies([cookie])
    context.set_default_timeout(LIMIT * 1000)
    page = await context.new_page()
    watched = Watched(page, site.base)
    watched.listen()
    try:
        yield watched
    finally:
        await context.close()


def pattern(path: str) -> str:
    """What pages of one kind have in common: their path with a star for each name in it."""
    return re.sub(r"/(?=[^/]*[0-9_])[^/]+", "/*", path)


async def all_pages(site: Site, role: Role = Role.ADMIN, person: str = "amy") -> list[str]:
    """One address of each kind of page: those that links lead to, then those of the routes."""
    wanted, found = ["/console/"], dict[str, str]()
    cookie = site.session(role, person)
    sent = {"cookie": f"{cookie['name']}={cookie['value']}"}
    async with httpx2.AsyncClient(base_url=site.base, verify=False, headers=sent) as client:
        while wanted and len(found) < _MOST:
            path = wanted.pop(0)
            kind = pattern(urlsplit(path).path)
            if kind in found or (text := await page_at(client, path)) is None:
                continue
            found[kind] = path
            wanted += [html.unescape(one) for one in _LINK.findall(text)]
        for path in site.paths:
            filled = re.sub(r"\{number\}", "1", path)
            kind = pattern(filled)
            is_known = "{" in filled or kind in found or kind in ("/", "/console")
            if not is_known and await page_at(client, filled) is not None:
                found[kind] = filled
    return list(found.values())


async def page_at(client: httpx2.AsyncClient, path: str) -> str | None:
    """The whole page of HTML at an address, where there is one: no part, no file, no stream."""
    async with client.stream("GET", path) as answer:
        if not answer.headers.get("content-type", "").startswith("text/html"):
            return None
        text = (await answer.aread()).decode()
    return text if "<!doctype html>" in text[:200].lower() else None


async def furnish(site: Site) -> None:
    """Give every page something to show: a standing answer, and a change that waits to be seen."""
    guard = site.gateway.guard
    (asked, *_) = await guard.approvals.newest()
    question = replace(asked.question, binding="mailing", client="demo mailing agent")
    number = (await guard.approvals.ask(question)).number
    said = Answer(is_allowed=True, by="amy", channel="console", span=Span.SESSION)
    assert await guard.approvals.answer(number, said)
    looks = iter(range(0, 1000, 100))
    watch = DriftDetector(
        site.gateway.store.definitions,
        "demo",
        SERVER,
        Policy,
        clock=time.time,
        timer=lambda: float(next(looks)),
    )
    for annotations in (DESTROYS, READS):
        await watch.judge([make_tool(SERVER, entry(annotations, "notes_prune"))])
