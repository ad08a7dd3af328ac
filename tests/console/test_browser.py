"""The console in a real browser, with a real server behind it and a real client that waits."""

import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
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
    Locator,
    Page,
    Request,
    async_playwright,
    expect,
)
from starlette.responses import HTMLResponse

import avow
from avow.approvals import Answer, Approval
from avow.connect import CommandTarget
from avow.console import Login, make_routes
from avow.gateway import PATH, Gateway, make_app, open_gateway
from avow.store.sqlite import open_sqlite

pytestmark = pytest.mark.anyio

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
LIMIT = 15

expect.set_options(timeout=LIMIT * 1000)


@dataclass
class Served:
    """A gateway in front of the demo, on a port of its own."""

    base: str
    gateway: Gateway
    login: Login

    async def newest(self) -> Approval:
        (one, *_) = await self.gateway.guard.approvals.newest()
        return one

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


@pytest.fixture
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    # `-m` finds avow from there, installed or not.
    source = str(Path(avow.__file__).parents[1])
    target = CommandTarget("studio", sys.executable, ("-m", "avow.demo.server"), cwd=source)
    listener = socket.create_server(("127.0.0.1", 0))
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    store = open_sqlite(tmp_path / "avow.db")
    async with open_gateway([target], store, console=f"{base}/console/", patience=LIMIT) as gateway:
        login = Login(lambda _: None, base, store=store, keys=gateway.keys)
        app = make_app(gateway, base, make_routes(gateway, login, base_url=base))
        async with listening(app, listener):
            yield Served(base, gateway, login)
    await store.close()


@pytest.fixture(scope="module")
async def chromium() -> AsyncGenerator[Browser]:
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
        assert [one for one in wrong if tolerated is None or tolerated not in one] == []
    finally:
        await context.close()


async def log_in(page: Page, served: Served) -> None:
    await page.goto(served.login.link())
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("heading", name="Approvals")).to_be_visible()


@asynccontextmanager
async def asking(served: Served, customer: int, name: str = "desk-agent") -> AsyncGenerator[Asking]:
    """A client that asks to delete a customer, and waits as long as this is open."""
    asked = Asking()
    info = Implementation(name=name, version="1")
    async with (
        Client(f"{served.base}{PATH}", client_info=info) as client,
        anyio.create_task_group() as group,
    ):

        async def call() -> None:
            asked.result = await client.call_tool(
                "studio__customer_delete", {"customer_id": customer}
            )
            asked.done.set()

        group.start_soon(call)
        yield asked
        group.cancel_scope.cancel()


@asynccontextmanager
async def elsewhere(body: str) -> AsyncGenerator[str]:
    """Another server on this machine, whose one page is `body`."""
    listener = socket.create_server(("127.0.0.1", 0))
    async with listening(HTMLResponse(body), listener):
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"


def cards(page: Page) -> Locator:
    return page.get_by_role("article", name="Delete customer")


async def test_a_call_appears_without_a_reload_and_is_approved_by_mouse(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page:
        await log_in(page, served)
        await expect(page.get_by_text("No call waits for an answer.")).to_be_visible()
        await page.evaluate("document.body.dataset.loaded = 'once'")

        async with asking(served, 3) as asked:
            await expect(cards(page)).to_be_visible()
            await expect(cards(page)).to_contain_text("desk-agent")
            await expect(page).to_have_title("(1) Approvals · avow")
            await expect(page.locator("body")).to_have_attribute("data-loaded", "once")
            await cards(page).get_by_role("button", name="Approve").click()

            assert '"success": true' in await asked.text()
        await expect(page.get_by_role("status").first).to_contain_text("Approved at")
        await expect(page).to_have_title("Approvals · avow")
        assert (await served.newest()).state == "used"


async def test_a_call_is_denied_by_keyboard_alone(chromium: Browser, served: Served) -> None:
    async with watched(chromium, served) as page:
        await page.goto(served.login.link())
        await expect(page.get_by_role("button", name="Log in")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("No call waits for an answer.")).to_be_visible()

        async with asking(served, 3) as asked:
            await expect(cards(page)).to_be_visible()
            deny = cards(page).get_by_role("button", name="Deny")
            for _ in range(12):
                await page.keyboard.press("Tab")
                if await deny.evaluate("button => button === document.activeElement"):
                    break
            await expect(deny).to_be_focused()
            assert await deny.evaluate("button => getComputedStyle(button).outlineStyle") == "solid"
            await page.keyboard.press("Enter")

            assert "A person denied this call" in await asked.text()
        await expect(page.get_by_role("status").first).to_be_focused()
        await expect(page.get_by_role("status").first).to_contain_text("Denied at")


async def test_the_keyboard_reaches_deny_before_approve(chromium: Browser, served: Served) -> None:
    async with watched(chromium, served) as page, asking(served, 3) as asked:
        await log_in(page, served)
        approve = cards(page).get_by_role("button", name="Approve")
        await expect(approve).to_be_enabled()

        await cards(page).get_by_role("button", name="Deny").focus()
        await page.keyboard.press("Tab")
        await expect(approve).to_be_focused()
        await page.keyboard.press("Space")

        assert '"success": true' in await asked.text()


async def test_without_javascript_a_reload_and_a_plain_form_do_it(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served, java_script_enabled=False) as page:
        await log_in(page, served)

        async with asking(served, 3) as asked:
            await expect(cards(page)).to_have_count(0)
            with anyio.fail_after(LIMIT):
                while await cards(page).count() == 0:
                    await page.reload()
            await cards(page).get_by_role("button", name="Approve").click()

            assert '"success": true' in await asked.text()
        await expect(page.get_by_text("Approved at").first).to_be_visible()


async def test_what_is_being_read_stays_when_more_comes_in(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page, asking(served, 3):
        await log_in(page, served)
        about = cards(page).locator("details.about")
        await about.locator("summary").click()
        is_open = await about.get_attribute("open")
        deny = cards(page).get_by_role("button", name="Deny")
        await deny.focus()
        before = await deny.bounding_box()

        async with asking(served, 4):
            await expect(cards(page)).to_have_count(2)
            await expect(page).to_have_title("(2) Approvals · avow")
            await expect(deny.first).to_be_focused()
            assert await about.first.get_attribute("open") == is_open
            assert await deny.first.bounding_box() == before


async def test_a_question_that_is_answered_elsewhere_says_so_in_its_place(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page, asking(served, 3) as asked:
        await log_in(page, served)
        await cards(page).get_by_role("button", name="Deny").focus()

        await served.answer(is_allowed=False)

        settled = cards(page).locator(".settled")
        await expect(settled).to_contain_text("by amy (terminal)")
        await expect(settled).to_be_focused()
        await expect(cards(page).get_by_role("button")).to_have_count(0)
        await expect(page).to_have_title("Approvals · avow")
        assert "A person denied this call" in await asked.text()


async def test_a_second_click_cannot_answer_what_has_just_come_up(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page, asking(served, 3):
        await page.clock.install()
        await log_in(page, served)
        approve = cards(page).get_by_role("button", name="Approve")
        await expect(cards(page).get_by_role("button", name="Deny")).to_be_enabled()
        await expect(approve).to_be_disabled()

        await page.clock.run_for(600)

        await expect(approve).to_be_enabled()


async def test_a_page_says_when_its_session_has_ended(chromium: Browser, served: Served) -> None:
    async with watched(chromium, served, tolerated="401") as page, asking(served, 3):
        await log_in(page, served)
        await expect(cards(page)).to_be_visible()
        (cookie,) = await page.context.cookies()

        await served.login.close_session(cookie.get("value", ""))
        await expect(page.get_by_text("You are logged out.")).to_be_visible()
        await cards(page).get_by_role("button", name="Deny").click()

        await expect(page.get_by_role("alert")).to_contain_text("Nothing was done")
        assert (await served.newest()).state == "pending"


async def test_the_address_for_clients_is_copied(chromium: Browser, served: Served) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    async with watched(chromium, served, permissions=permissions) as page:
        await log_in(page, served)
        await page.get_by_role("button", name="Copy").click()

        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied = await page.evaluate("navigator.clipboard.readText()")
        assert copied == f"{served.base}{PATH}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_page_fits_a_narrow_screen(
    chromium: Browser, served: Served, scheme: str
) -> None:
    size = {"width": 320, "height": 640}
    async with (
        watched(chromium, served, viewport=size, color_scheme=scheme) as page,
        asking(served, 3, "x" * 120),
    ):
        await log_in(page, served)
        await expect(cards(page)).to_be_visible()
        for path in ("", "tools", "history", "approvals/1"):
            await page.goto(f"{served.base}/console/{path}")
            assert await page.evaluate("document.documentElement.scrollWidth") == 320, path
        await page.get_by_role("link", name="History").click()
        await page.locator("td a").first.click()
        await expect(page.get_by_role("heading", name="Call")).to_be_visible()
        await page.wait_for_load_state("load")
        assert await page.evaluate("document.documentElement.scrollWidth") == 320


async def test_the_tools_are_searched(chromium: Browser, served: Served) -> None:
    async with watched(chromium, served) as page:
        await log_in(page, served)
        await page.get_by_role("link", name="Tools").click()
        await page.get_by_role("searchbox").fill("delete customer")
        await page.keyboard.press("Enter")

        await expect(page.get_by_role("heading", name="Delete customer")).to_be_visible()
        await expect(page.get_by_role("heading", level=2)).to_have_count(1)
        await expect(page.get_by_role("searchbox")).to_have_value("delete customer")


async def test_another_site_cannot_frame_the_console_or_post_to_it(
    chromium: Browser, served: Served
) -> None:
    async with asking(served, 3), watched(chromium, served, tolerated="") as page:
        await log_in(page, served)
        await expect(cards(page)).to_be_visible()
        target = f"{served.base}/console/approvals/1/answer"
        # Another port of this machine is the same site, so the browser does send the cookie.
        async with elsewhere(
            f'<form method="post" action="{target}"><button name="verdict" value="allow">Win'
            f'</button></form><iframe src="{served.base}/console/"></iframe>'
        ) as address:
            await page.goto(address)
            framed = page.frame_locator("iframe")
            await expect(framed.get_by_role("button", name="Approve")).to_have_count(0)
            await page.get_by_role("button", name="Win").click()
            await expect(page.get_by_text("did not come from the console")).to_be_visible()

        assert (await served.newest()).state == "pending"


async def test_an_approved_call_says_how_it_ended_without_a_reload(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page, asking(served, 3) as asked:
        await log_in(page, served)
        await cards(page).get_by_role("button", name="Approve").click()
        banner = page.locator("main > .note:has([data-of])")

        await expect(banner).to_contain_text("Ran in")
        await expect(page.locator("#recent")).to_contain_text("Ran in")
        await asked.text()
        await banner.get_by_role("link", name="See the call").click()
        await expect(page.get_by_role("heading", name="Call")).to_be_visible()
        await page.get_by_role("link", name="approval 1").first.click()
        await expect(cards(page).locator(".settled")).to_contain_text("Ran in")


async def test_nothing_can_be_answered_while_the_gateway_is_gone(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served, tolerated="net::ERR") as page, asking(served, 3):
        await log_in(page, served)
        deny, approve = (cards(page).get_by_role("button", name=n) for n in ("Deny", "Approve"))
        await expect(approve).to_be_enabled()

        await page.context.set_offline(offline=True)
        await expect(page.get_by_text("avow does not answer.")).to_be_visible()
        await expect(deny).to_be_disabled()
        await expect(approve).to_be_disabled()

        await page.context.set_offline(offline=False)
        await expect(deny).to_be_enabled()
        await expect(approve).to_be_enabled()
