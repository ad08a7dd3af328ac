"""The audit page in a real browser: it grows by itself, it can be paused, it opens a drawer."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect
from tests.console.test_browser import Served, chromium, log_in, served, watched

from sayso.policy import Principal

pytestmark = pytest.mark.anyio

__all__ = ["chromium", "served"]


async def call(served: Served, tool: str = "customers_list", client: str = "desk") -> None:
    """One call, as a client makes it."""
    await served.gateway.guard.call(Principal("local", client=client), f"studio__{tool}", {})


@asynccontextmanager
async def audit(
    chromium: Browser, served: Served, query: str = "", **options: Any
) -> AsyncGenerator[Page]:
    """The audit page of somebody who is logged in."""
    async with watched(chromium, served, **options) as page:
        await log_in(page, served)
        await page.goto(f"{served.base}/console/audit{query}")
        yield page


async def test_a_call_comes_up_by_itself_and_not_while_paused(
    chromium: Browser, served: Served
) -> None:
    await call(served)
    async with audit(chromium, served) as page:
        rows = page.locator("#lines tbody tr")
        await expect(rows).to_have_count(1)
        await page.evaluate("document.body.dataset.loaded = 'once'")

        await call(served, client="night")
        await expect(rows).to_have_count(2)
        await expect(rows.first).to_contain_text("night")

        await page.get_by_role("button", name="Pause").click()
        await call(served, client="later")
        await expect(page.locator("#tail")).to_contain_text("2 new lines since then")
        await expect(rows).to_have_count(2)
        await page.get_by_role("button", name="Continue").press("Enter")
        await expect(rows).to_have_count(3)
        await expect(page.locator("body")).to_have_attribute("data-loaded", "once")


async def test_what_the_filter_leaves_out_does_not_come_up(
    chromium: Browser, served: Served
) -> None:
    await call(served, client="desk")
    async with audit(chromium, served, "?client=desk") as page:
        rows = page.locator("#lines tbody tr")
        await call(served, client="night")
        await call(served, client="desk")

        await expect(rows).to_have_count(2)
        await expect(page.get_by_label("Agent’s name contains")).to_have_value("desk")
        await expect(rows.first).not_to_contain_text("night")


async def test_the_drawer_opens_and_closes_by_keyboard(chromium: Browser, served: Served) -> None:
    await call(served)
    async with audit(chromium, served) as page:
        link = page.locator("#lines td a").first
        await link.focus()
        await page.keyboard.press("Enter")

        drawer = page.get_by_role("dialog")
        await expect(drawer).to_be_visible()
        await expect(drawer).to_contain_text("What happened")
        await expect(drawer.get_by_role("button", name="Close")).to_be_focused()
        await expect(page).to_have_url(f"{served.base}/console/audit")

        await call(served, client="night")
        await expect(page.locator("#lines tbody tr")).to_have_count(2)
        await expect(drawer).to_contain_text("What happened")

        await page.keyboard.press("Escape")
        await expect(drawer).not_to_be_visible()
        assert await page.evaluate("document.activeElement.dataset.drawer") == ""
        await page.keyboard.press("/")
        await expect(page.get_by_role("searchbox")).to_be_focused()


async def test_a_closed_drawer_leaves_the_focus_where_a_person_has_put_it(chromium: Browser, served: Served) -> None:
    """The browser fires the dialog's `close` event later than it closes the dialog."""
    await call(served)
    async with audit(chromium, served) as page:
        await page.locator("#lines td a").first.click()
        await expect(page.get_by_role("dialog")).to_be_visible()

        await page.evaluate("""async () => {
            const drawer = document.getElementById("drawer");
            const closed = new Promise((resolve) => drawer.addEventListener("close", () => setTimeout(resolve)));
            drawer.close();
            document.querySelector("[type=search]").focus();
            await closed;
        }""")

        await expect(page.get_by_role("searchbox")).to_be_focused()


async def test_back_from_a_call_keeps_the_filter(chromium: Browser, served: Served) -> None:
    await call(served, client="desk")
    await call(served, client="night")
    async with audit(chromium, served) as page:
        await page.get_by_label("Agent’s name contains").fill("night")
        await page.get_by_label("Level").select_option("read")
        await page.keyboard.press("Tab")
        await page.get_by_role("button", name="Filter").click()
        rows = page.locator("#lines tbody tr")
        await expect(rows).to_have_count(1)
        await page.goto(await page.locator("td a").first.evaluate("link => link.href"))
        await expect(page.get_by_role("heading", name="Call")).to_be_visible()

        await page.go_back()

        await expect(rows).to_have_count(1)
        await expect(page.get_by_label("Agent’s name contains")).to_have_value("night")
        await expect(page.get_by_label("Level")).to_have_value("read")


async def test_without_javascript_links_and_forms_do_it(chromium: Browser, served: Served) -> None:
    await call(served)
    async with audit(chromium, served, java_script_enabled=False) as page:
        await page.get_by_label("Tool or title contains").fill("LIST")
        await page.get_by_role("button", name="Filter").click()
        await page.locator("#lines td a").first.click()
        await expect(page.get_by_role("heading", name="What happened")).to_be_visible()
        await page.get_by_role("link", name="Make a rule from this call").click()
        await expect(page.locator("#snippet")).to_contain_text('tool = "customers_list"')
        await page.goto(f"{served.base}/console/audit/chain")
        await page.get_by_role("button", name="Check now").click()
        await expect(page.get_by_role("heading", name="Integrity of the log")).to_be_visible()


async def test_a_check_of_the_log_ends_on_the_page_by_itself(
    chromium: Browser, served: Served
) -> None:
    await call(served)
    async with audit(chromium, served, "/chain") as page:
        await page.get_by_role("button", name="Check now").click()

        # This gateway keeps its log without a chain: that is what the check must say.
        await expect(page.get_by_text("The log was tampered with or damaged.")).to_be_visible()
        await expect(page.get_by_role("button", name="Check again")).to_be_visible()


async def test_what_if_is_answered_where_the_form_is(chromium: Browser, served: Served) -> None:
    async with watched(chromium, served) as page:
        await log_in(page, served)
        await page.get_by_role("link", name="Policy").click()
        await page.get_by_label("Tool name, as").fill("studio__customer_delete")
        await page.get_by_label("Arguments, as JSON").fill('{"customer_id": 3}')
        await page.keyboard.press("Tab")
        await page.get_by_role("button", name="What would happen?").press("Enter")

        verdict = page.locator("#verdict")
        await expect(verdict).to_contain_text("The call asks a person")
        await expect(verdict).to_be_in_viewport()
        await expect(page.get_by_label("Arguments, as JSON")).to_have_value('{"customer_id": 3}')
        assert await served.gateway.guard.approvals.newest() == []
