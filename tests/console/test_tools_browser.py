"""The tools' pages in a real browser, with real servers behind them."""

import re
import socket
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect
from tests.console import rich_server
from tests.console.browsing import (
    Served,
    listening,
    log_in,
    watched,
)

from sayso.connect import CommandTarget
from sayso.console import Login, make_routes
from sayso.gateway import make_app, open_gateway
from sayso.store.sqlite import open_sqlite

pytestmark = pytest.mark.anyio

PATIENCE = 15
_UNFIT = "422"
"""What a browser complains of when a form is not filled in well."""


@pytest.fixture(scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Served]:
    """One gateway for all tests here: they do not get into each other's way."""
    folder = tmp_path_factory.mktemp("tools")
    targets = [
        CommandTarget("rich", sys.executable, (str(Path(rich_server.__file__)),)),
        CommandTarget("studio", sys.executable, ("-m", "sayso.demo.server")),
    ]
    listener = socket.create_server(("127.0.0.1", 0))
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    store = open_sqlite(folder / "sayso.db")
    console = f"{base}/console/"
    async with open_gateway(targets, store, console=console, patience=PATIENCE) as gateway:
        login = Login(base, tokens=store.tokens, keys=gateway.keys)
        app = make_app(gateway, base, make_routes(gateway, login, base_url=base))
        for one in gateway.upstreams.upstreams:
            await one.tools()
        async with listening(app, listener):
            yield Served(base, gateway, login)
    await store.close()


async def opened(page: Page, served: Served, path: str) -> None:
    await log_in(page, served)
    await page.goto(f"{served.base}/console{path}")


async def press(page: Page, name: str) -> None:
    """Reach a button by the Tab key alone, and press it."""
    button = page.get_by_role("button", name=name, exact=True)
    for _ in range(60):
        await page.keyboard.press("Tab")
        if await button.evaluate("one => one === document.activeElement"):
            break
    await expect(button).to_be_focused()
    await page.keyboard.press("Enter")


async def test_the_search_narrows_as_one_types_and_the_address_keeps_step(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page:
        await opened(page, served, "/tools")
        await expect(page.get_by_role("status").filter(has_text="11 tools")).to_be_visible()
        await page.evaluate("document.body.dataset.loaded = 'once'")

        await page.keyboard.press("/")
        await page.keyboard.type("delete")

        await expect(page.locator("#count")).to_have_text("1 of 11 tools")
        await expect(page).to_have_url(f"{served.base}/console/tools?q=delete")
        await expect(page.locator("#q")).to_be_focused()
        await page.locator("#q").fill("")
        await page.get_by_label("Level", exact=True).select_option("Destructive")
        await expect(page.locator("#count")).to_have_text("3 of 11 tools")
        await expect(page).to_have_url(f"{served.base}/console/tools?level=destructive")
        await expect(page.locator("body")).to_have_attribute("data-loaded", "once")

        await page.reload()
        await expect(page.locator("#count")).to_have_text("3 of 11 tools")
        await page.get_by_role("link", name="Delete customer").click()
        await page.go_back()
        await expect(page.locator("#count")).to_have_text("3 of 11 tools")


async def test_keys_go_through_the_tools_and_a_button_shows_the_keys(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page:
        await opened(page, served, "/tools")
        rows = page.locator("[data-row] a")
        for _ in range(2):
            await page.keyboard.press("j")
        await expect(rows.nth(1)).to_be_focused()
        await page.keyboard.press("k")
        await expect(rows.nth(0)).to_be_focused()

        await page.get_by_role("button", name="Keys").click()
        await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


async def test_without_javascript_the_search_is_a_plain_form(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served, java_script_enabled=False) as page:
        await opened(page, served, "/tools")
        await page.get_by_label("Search by title").fill("delete")
        await page.get_by_role("button", name="Search").click()

        await expect(page.locator("#count")).to_have_text("1 of 11 tools")


async def test_a_tool_is_tried_by_keyboard_alone(chromium: Browser, served: Served) -> None:
    async with watched(chromium, served, tolerated=_UNFIT) as page:
        await opened(page, served, "/tools/rich__paint")
        await page.get_by_label("name", exact=False).first.focus()
        await page.keyboard.type("A")
        await press(page, "Check")
        await expect(page.locator("#errors")).to_be_focused()
        name = page.get_by_label("name", exact=False).first
        await expect(name).to_have_attribute("aria-invalid", "true")
        await expect(name).to_have_accessible_description(re.compile("shorter than 2 characters"))
        await name.fill("Amy")
        for keys in ("3", "blue", "yes", "2.5"):
            await page.keyboard.press("Tab")
            await page.keyboard.type(keys)
        await press(page, "Check")

        decision = page.locator("#decision")
        await expect(decision).to_be_focused()
        await expect(decision).to_contain_text("It would run at once, because it only reads")
        await press(page, "Run it")

        await expect(page.locator("#ended")).to_have_text("It ran.")
        tree = page.get_by_role("list", name="Result as a tree")
        await expect(tree).to_contain_text("colour: blue")
        size = tree.locator("details", has=page.get_by_text("size")).last
        assert await size.evaluate("one => one.open")
        await size.locator("summary").first.focus()
        await page.keyboard.press("Enter")
        assert not await size.evaluate("one => one.open")


async def test_a_try_shows_how_far_it_is_and_is_cancelled(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page:
        await opened(page, served, "/tools/rich__wait")
        await page.get_by_role("button", name="Check").click()
        await page.get_by_role("button", name="Run it").click()

        bar = page.get_by_role("progressbar", name="Running.")
        # A busy browser does not show every step.
        await expect(page.get_by_text(re.compile(r"step \d+ of 100"))).to_be_visible()
        shown = await bar.get_attribute("value")
        await expect(bar).not_to_have_attribute("value", str(shown))
        assert await bar.get_attribute("max") == "100"
        await page.get_by_role("button", name="Cancel the call").click()

        await expect(page.locator("#ended")).to_contain_text("You cancelled it.")
        await expect(page.locator("#ended")).to_be_focused()


async def test_a_call_that_must_ask_asks_on_its_page_and_runs(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page:
        await opened(page, served, "/tools/studio__customer_delete")
        await page.get_by_label("customer_id").fill("3")
        await page.get_by_role("button", name="Check").click()
        await page.get_by_role("button", name="Ask, and run it").click()
        await expect(page.get_by_text("This call is waiting for an answer.")).to_be_visible()
        address = page.url
        await page.get_by_role("button", name="Allow once").click()

        await expect(page.locator("#ended")).to_contain_text("It ran.")
        await expect(page.get_by_text("success", exact=True)).to_be_visible()
        assert page.url == address


async def test_a_try_that_is_answered_elsewhere_goes_on_by_itself(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page:
        await opened(page, served, "/tools/studio__customer_delete")
        await page.get_by_label("customer_id").fill("4")
        await page.get_by_role("button", name="Check").click()
        await page.get_by_role("button", name="Ask, and run it").click()
        await expect(page.get_by_text("This call is waiting for an answer.")).to_be_visible()

        await served.answer(is_allowed=False)

        await expect(page.locator("#ended")).to_contain_text("Denied. Nothing was run.")


async def test_without_javascript_a_tool_is_tried_by_plain_forms(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served, java_script_enabled=False) as page:
        await opened(page, served, "/tools/rich__hide")
        await page.get_by_role("button", name="Check").click()
        await page.get_by_role("button", name="Run it").click()
        while await page.get_by_text("Running.").count():
            await page.reload()

        await expect(page.locator("#ended")).to_have_text("It ran.")
        await expect(page.locator(".tree .value")).to_contain_text("U+202E")


async def test_every_page_fits_a_narrow_screen(chromium: Browser, served: Served) -> None:
    async with watched(chromium, served, viewport={"width": 320, "height": 640}) as page:
        await log_in(page, served)
        for path in ("tools", "tools/rich__paint", "changes", "servers", "prompt"):
            await page.goto(f"{served.base}/console/{path}")
            assert await page.evaluate("document.documentElement.scrollWidth") == 320, path


async def test_the_prompt_is_copied(chromium: Browser, served: Served) -> None:
    async with watched(chromium, served, permissions=["clipboard-read", "clipboard-write"]) as page:
        await opened(page, served, "/prompt")
        await page.get_by_role("button", name="Copy").click()

        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied = await page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("# Tools\n\nYou have 11 tools")
