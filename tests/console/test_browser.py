"""The console in a real browser, with a real server behind it and a real client that waits."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.console.browsing import (
    Served,
    asking,
    browsing,
    elsewhere,
    log_in,
    rows,
    serving,
    watched,
)

from sayso.gateway import PATH

pytestmark = pytest.mark.anyio


@pytest.fixture
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    async with serving(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
async def chromium() -> AsyncGenerator[Browser]:
    async with browsing() as found:
        yield found


async def test_the_address_for_clients_and_the_prompt_are_copied(
    chromium: Browser, served: Served
) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    async with watched(chromium, served, permissions=permissions) as page:
        await log_in(page, served)
        await page.get_by_role("button", name="Copy").click()

        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied = await page.evaluate("navigator.clipboard.readText()")
        assert copied == f"{served.base}{PATH}"

        await page.goto(f"{served.base}/console/prompt")
        await page.get_by_role("button", name="Copy").click()
        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert (await page.evaluate("navigator.clipboard.readText()")).startswith("# Tools")


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
        await expect(rows(page)).to_be_visible()
        for path in ("", "tools", "audit", "grants", "policy", "approvals/1"):
            await page.goto(f"{served.base}/console/{path}")
            assert await page.evaluate("document.documentElement.scrollWidth") == 320, path
        await page.get_by_role("link", name="Audit").click()
        await page.goto(await page.locator("td a").first.evaluate("link => link.href"))
        await expect(page.get_by_role("heading", name="Call")).to_be_visible()
        await page.wait_for_load_state("load")
        assert await page.evaluate("document.documentElement.scrollWidth") == 320


async def test_the_tools_are_searched(chromium: Browser, served: Served) -> None:
    async with watched(chromium, served) as page:
        await log_in(page, served)
        await page.get_by_role("link", name="Tools").click()
        await page.get_by_role("searchbox").fill("delete customer")
        await page.keyboard.press("Enter")

        await expect(page.get_by_role("link", name="Delete customer")).to_be_visible()
        await expect(page.get_by_role("rowheader")).to_have_count(1)
        await expect(page.get_by_role("searchbox")).to_have_value("delete customer")


async def test_another_site_cannot_frame_the_console_or_post_to_it(
    chromium: Browser, served: Served
) -> None:
    async with asking(served, 3), watched(chromium, served, tolerated="") as page:
        await log_in(page, served)
        await expect(rows(page)).to_be_visible()
        target = f"{served.base}/console/approvals/1/answer"
        # Another port of this machine is the same site, so the browser does send the cookie.
        async with elsewhere(
            f'<form method="post" action="{target}"><button name="verdict" value="allow">Win'
            f'</button></form><iframe src="{served.base}/console/"></iframe>'
        ) as address:
            await page.goto(address)
            framed = page.frame_locator("iframe")
            await expect(framed.get_by_role("button", name="Allow once")).to_have_count(0)
            await page.get_by_role("button", name="Win").click()
            await expect(page.get_by_text("was not sent by the console")).to_be_visible()

        assert (await served.newest()).state == "pending"
