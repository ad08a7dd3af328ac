"""A console with a real server behind it, a real client that waits, and a real browser."""

import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
import uvicorn
from mcp import Client
from mcp_types import Implementation
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Request,
    async_playwright,
    expect,
)
from starlette.responses import HTMLResponse
from tests.connect.serving import serve_app

import sayso
from sayso.approvals import Answer, Approval
from sayso.connect import CommandTarget, Target, UrlTarget
from sayso.console import Login, make_routes
from sayso.demo.data import open_database
from sayso.demo.server import build_server
from sayso.gateway import PATH, Gateway, make_app, open_gateway
from sayso.store.sqlite import open_sqlite

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
LIMIT = 180
"""Seconds: a busy machine may hold up a browser for a minute."""

expect.set_options(timeout=LIMIT * 1000)


@dataclass
class Served:
    """A gateway in front of the demo, on a port of its own."""

    base: str
    gateway: Gateway
    login: Login

    async def newest(self) -> Approval:
        """The newest question, as soon as there is one."""
        with anyio.fail_after(LIMIT):
            while not (found := await self.gateway.guard.approvals.newest()):
                await anyio.sleep(0.01)
        return found[0]

    async def answer(self, *, is_allowed: bool) -> None:
        """Answer the newest question somewhere else."""
        assert await self.gateway.guard.approvals.answer(
            (await self.newest()).number,
            Answer(is_allowed=is_allowed, by="amy", channel="terminal"),
        )


@dataclass
class Asking:
    """A client's call that waits for a person, and its result once there is one."""

    result: Any = None
    done: anyio.Event = field(default_factory=anyio.Event)

    async def text(self) -> str:
        with anyio.fail_after(LIMIT):
            await self.done.wait()
        return "".join(block.text for block in self.result.content)


@asynccontextmanager
async def listening(app: Any, listener: socket.socket) -> AsyncGenerator[None]:
    """Serve `app` on a socket that listens already, so that nothing needs to wait for it."""
    config = uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    async with anyio.create_task_group() as group:
        group.start_soon(server.serve, [listener])
        yield
        server.should_exit = True


@asynccontextmanager
async def demo(*options: str) -> AsyncGenerator[Target]:
    """The demo server over HTTP, here; with options as a process, which takes longer to start."""
    if options:
        # `-m` finds sayso from there, installed or not.
        source = str(Path(sayso.__file__).parents[1])
        words = ("-m", "sayso.demo.server", *options)
        yield CommandTarget("studio", sys.executable, words, cwd=source)
        return
    with open_database() as database:
        async with serve_app(build_server(database).streamable_http_app()) as base:
            yield UrlTarget("studio", f"{base}/mcp")


@asynccontextmanager
async def serving(folder: Path, *options: str, **more: Any) -> AsyncGenerator[Served]:
    """The gateway in front of the demo with these options, and its store in `folder`."""
    listener = socket.create_server(("127.0.0.1", 0))
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    store = open_sqlite(folder / "sayso.db")
    given: dict[str, Any] = {"console": f"{base}/console/", "patience": LIMIT, **more}
    async with demo(*options) as target, open_gateway([target], store, **given) as gateway:
        login = Login(base, tokens=store.tokens, keys=gateway.keys)
        app = make_app(gateway, base, make_routes(gateway, login, base_url=base))
        async with listening(app, listener):
            yield Served(base, gateway, login)
    await store.close()


@asynccontextmanager
async def browsing() -> AsyncGenerator[Browser]:
    """Debian's Chromium, without a window."""
    if not await anyio.Path(CHROMIUM).exists():
        pytest.skip(f"there is no {CHROMIUM}")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        await browser.close()


@asynccontextmanager
async def watched(
    browser: Browser, served: Served, *, tolerated: str | None = None, **options: Any
) -> AsyncGenerator[Page]:
    """A page of a fresh browser; what it complains of or asks of others fails the test.

    A complaint that holds the text `tolerated` does not.
    """
    context: BrowserContext = await browser.new_context(**options)
    context.set_default_timeout(LIMIT * 1000)
    page = await context.new_page()
    wrong: list[str] = []

    def complain(message: ConsoleMessage) -> None:
        wrong.append(f"{message.type}: {message.text}")

    def check(request: Request) -> None:
        if not request.url.startswith(served.base):
            wrong.append(request.url)

    page.on("console", complain)
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.on("request", check)
    try:
        yield page
        complaints = [one for one in wrong if tolerated is None or tolerated not in one]
        assert not complaints, complaints
    finally:
        await context.close()


async def log_in(page: Page, served: Served) -> None:
    await page.goto(served.login.link())
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("heading", name="Approvals")).to_be_visible()
    # A page can be read before its scripts hear keys.
    await page.wait_for_load_state("load")


@asynccontextmanager
async def calling(
    served: Served, tool: str, arguments: dict[str, Any], name: str = "desk-agent"
) -> AsyncGenerator[Asking]:
    """A client that calls a tool of the demo, and waits as long as this is open."""
    asked = Asking()
    info = Implementation(name=name, version="1")
    async with (
        Client(f"{served.base}{PATH}", client_info=info) as client,
        anyio.create_task_group() as group,
    ):

        async def call() -> None:
            asked.result = await client.call_tool(f"studio__{tool}", arguments)
            asked.done.set()

        group.start_soon(call)
        yield asked
        group.cancel_scope.cancel()


def asking(
    served: Served, customer: int, name: str = "desk-agent"
) -> AbstractAsyncContextManager[Asking]:
    """A client that asks to delete a customer."""
    return calling(served, "customer_delete", {"customer_id": customer}, name)


@asynccontextmanager
async def elsewhere(body: str) -> AsyncGenerator[str]:
    """Another server on this machine, whose one page is `body`."""
    listener = socket.create_server(("127.0.0.1", 0))
    async with listening(HTMLResponse(body), listener):
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"


def rows(page: Page) -> Locator:
    """The rows of the questions to delete a customer."""
    return page.locator("#rows > li").filter(has_text="Delete customer")


def dialog(page: Page) -> Locator:
    """The dialog of the question that is open."""
    return page.get_by_role("alertdialog")


async def opened(page: Page, at: int = 0) -> Locator:
    """The dialog of one row, once its buttons can be pressed."""
    await rows(page).nth(at).get_by_role("link", name="Delete customer").click()
    await expect(dialog(page).get_by_role("button", name="Allow once", exact=True)).to_be_enabled()
    return dialog(page)


async def press(button: Locator, shown: Locator) -> None:
    """Click `button` until its dialog closes: a click has no effect just after the page changed."""
    await expect(button).to_be_visible()
    with anyio.fail_after(60):
        while await shown.count():
            with suppress(Error):
                await button.click(timeout=2000)
                await shown.wait_for(state="detached", timeout=3000)
