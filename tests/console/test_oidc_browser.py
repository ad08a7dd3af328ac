"""Logging in with an issuer on another site, in a real browser, which keeps cookies from sites."""

from collections.abc import AsyncGenerator

import pytest
from playwright.async_api import Browser, expect
from tests.console.conftest import Bench
from tests.console.entering import SECRET, settings_of
from tests.console.issuer import Issuer, serve_issuer
from tests.console.site import Site, logged_in, serve_site

pytestmark = pytest.mark.anyio


@pytest.fixture
async def issuer() -> AsyncGenerator[Issuer]:
    # To a browser `localhost` and `127.0.0.1` are two sites.
    async with serve_issuer("localhost") as running:
        yield running


@pytest.fixture
async def site(
    bench: Bench, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Site]:
    monkeypatch.setenv("SAYSO_TEST_SECRET", SECRET)
    issuer.clock = bench.clock
    async with serve_site(bench.gateway, bench.clock, settings_of(issuer)) as site:
        yield site


async def test_a_person_logs_in_comes_to_the_page_that_was_wanted_and_leaves(
    chromium: Browser, site: Site, issuer: Issuer
) -> None:
    async with logged_in(chromium, site, role=None) as watched:
        page = watched.page
        await page.goto(f"{site.base}/console/tools?q=delete")
        await page.get_by_role("link", name="Log in with your account").click()

        await page.wait_for_url(f"{site.base}/console/tools?q=delete")
        await expect(page.get_by_role("banner")).to_contain_text("amy, approver")
        cookies = {one.get("name", ""): one for one in await page.context.cookies()}
        (session,) = cookies.values()
        assert (session.get("httpOnly"), session.get("sameSite")) == (True, "Strict")

        await page.get_by_role("button", name="Log out").click()
        await expect(page.get_by_role("heading", name="Log in")).to_be_visible()
        await page.goto(f"{site.base}/console/tools")
        await expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    # The browser went to the issuer, once, and to nobody else.
    assert [one for one in watched.wrong if not one.startswith(issuer.base)] == []
    assert len(issuer.asked) == 1


async def test_whoever_has_no_role_is_told_and_stays_outside(
    chromium: Browser, site: Site, issuer: Issuer
) -> None:
    issuer.person = {"sub": "eve", "roles": ["cook"]}
    async with logged_in(chromium, site, role=None) as watched:
        page = watched.page
        await page.goto(f"{site.base}/console/")
        await page.get_by_role("link", name="Log in with your account").click()

        await expect(page.get_by_role("heading", name="You have no role here.")).to_be_visible()
        await page.get_by_role("link", name="To the console").click()
        await expect(page.get_by_role("heading", name="Log in")).to_be_visible()
