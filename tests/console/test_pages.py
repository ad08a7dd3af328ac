"""Every page in a browser: accessible, at any size, light and dark, and on its own.

The pages are found by following links and by the routes, so that one that is new is looked at too.
"""

import re
from collections.abc import AsyncGenerator
from typing import Any, Final

import anyio
import httpx2
import pytest
from playwright.async_api import Browser, Page, expect
from tests.console.conftest import token_of
from tests.console.site import (
    AXE,
    Site,
    Watched,
    all_pages,
    furnish,
    logged_in,
    open_site,
)

from sayso.console.entry.login import PERSON
from sayso.console.entry.roles import Role

pytestmark = pytest.mark.anyio

FIRST_PAGE_BYTES: Final = 100_000

DOORS: Final = ("/console/login", "/console/login?token=used", "/console/link?token=void")
"""What whoever is not logged in comes to."""


@pytest.fixture(scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Site]:
    async with open_site(tmp_path_factory.mktemp("site")) as opened:
        await furnish(opened)
        yield opened


@pytest.fixture(scope="module")
async def paths(site: Site) -> list[str]:
    """One address of each kind of page."""
    return await all_pages(site)


@pytest.fixture(scope="module")
async def axe() -> str:
    if not await anyio.Path(AXE).exists():
        pytest.skip("axe-core is missing: make setup fetches it with npm")
    return await anyio.Path(AXE).read_text()


async def violations(page: Page, axe: str) -> list[str]:
    """What axe finds on a page as it stands, in both schemes, each with what it is about."""
    await page.evaluate(axe)
    told: list[str] = []
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)
        found: list[Any] = await page.evaluate(
            "axe.run({resultTypes: ['violations']}).then(result => result.violations)"
        )
        told += [
            f"{scheme}: {one['id']}: {one['help']}: {node['html'][:200]}"
            for one in found
            for node in one["nodes"]
        ]
    return told


async def sideways(page: Page) -> int:
    """By how many pixels a page is wider than its window."""
    width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    return await page.evaluate(width)


async def visits(watched: Watched, paths: list[str]) -> AsyncGenerator[str]:
    """Each page in turn, once it is shown."""
    for path in paths:
        await watched.page.goto(f"{watched.base}{path}", wait_until="domcontentloaded")
        yield path


async def test_axe_finds_nothing_on_any_page(
    chromium: Browser, site: Site, paths: list[str], axe: str
) -> None:
    found: dict[str, list[str]] = {}
    async with logged_in(chromium, site) as watched:
        assert len(paths) >= 15, paths
        async for path in visits(watched, paths):
            found[path] = await violations(watched.page, axe)
    async with logged_in(chromium, site, role=None) as visitor:
        entering = f"/console/login?token={token_of(site.login.link())}"
        async for path in visits(visitor, [*DOORS, entering, "/console/nothing"]):
            found[path] = await violations(visitor.page, axe)

    assert {path: told for path, told in found.items() if told} == {}
    assert watched.wrong + visitor.wrong == []


async def test_axe_finds_nothing_in_the_open_dialogs(
    chromium: Browser, site: Site, axe: str
) -> None:
    async with logged_in(chromium, site) as watched:
        page = watched.page
        await page.goto(f"{site.base}/console/", wait_until="load")
        await page.locator("a[data-dialog]").first.click()
        await expect(page.get_by_role("alertdialog")).to_be_visible()
        for more in await page.locator("dialog[open] summary").all():
            await more.click()
        assert await violations(page, axe) == []
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("alertdialog")).to_be_hidden()
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        assert await violations(page, axe) == []
        await page.goto(f"{site.base}/console/audit", wait_until="load")
        await page.keyboard.press("j")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog")).to_be_visible()
        assert await violations(page, axe) == []
    assert watched.wrong == []


async def test_axe_finds_nothing_in_what_forms_lead_to(
    chromium: Browser, site: Site, axe: str
) -> None:
    """The pages that no link leads to: a try from its mistakes to its result, and what if."""
    async with logged_in(chromium, site, person=PERSON) as watched:
        page = watched.page
        await page.goto(f"{site.base}/console/tools/demo__customers_get")
        await page.get_by_role("button", name="Check").click()
        await expect(page.get_by_role("alert")).to_be_visible()
        assert await violations(page, axe) == []
        await page.get_by_label("customer_id").fill("7")
        await page.get_by_role("button", name="Check").click()
        await expect(page.locator("#decision")).to_be_visible()
        assert await violations(page, axe) == []
        await page.get_by_role("button", name="Run it").click()
        await expect(page.get_by_role("heading", name="Result")).to_be_visible()
        assert await violations(page, axe) == []
        await page.goto(f"{site.base}/console/policy?tool=demo__customer_delete")
        await page.get_by_role("button", name="What would happen?").click()
        await expect(page.locator("#verdict")).to_be_visible()
        assert await violations(page, axe) == []
    assert watched.wrong == []


@pytest.mark.parametrize(
    "size",
    [
        pytest.param({"width": 320, "height": 640}, id="320 pixels"),
        # What a window of 1280 pixels shows at 200 %.
        pytest.param({"width": 640, "height": 400}, id="200 percent"),
    ],
)
async def test_no_page_scrolls_sideways(
    chromium: Browser, site: Site, paths: list[str], size: Any
) -> None:
    wide: dict[str, int] = {}
    async with logged_in(chromium, site, viewport=size) as watched:
        async for path in visits(watched, paths):
            wide[path] = await sideways(watched.page)
    async with logged_in(chromium, site, role=None, viewport=size) as visitor:
        async for path in visits(visitor, [*DOORS]):
            wide[path] = await sideways(visitor.page)

    assert {path: pixels for path, pixels in wide.items() if pixels} == {}


async def test_every_page_has_one_heading_one_main_part_and_a_title_of_its_own(
    chromium: Browser, site: Site, paths: list[str]
) -> None:
    titles: dict[str, str] = {}
    async with logged_in(chromium, site) as watched:
        async for path in visits(watched, paths):
            assert await watched.page.locator("h1").count() == 1, path
            assert await watched.page.locator("main").count() == 1, path
            titles[path] = await watched.page.title()

    assert len(set(titles.values())) == len(titles), titles


async def test_pages_work_without_a_script(chromium: Browser, site: Site, paths: list[str]) -> None:
    async with logged_in(chromium, site, java_script_enabled=False) as watched:
        async for path in visits(watched, paths):
            assert await watched.page.locator("h1").is_visible(), path
    assert watched.wrong == []


@pytest.mark.parametrize("path", ["/console/", "/console/login"])
async def test_the_first_page_is_small(site: Site, path: str) -> None:
    cookie = site.session(Role.ADMIN)
    sizes: dict[str, int] = {}
    async with httpx2.AsyncClient(base_url=site.base, verify=False) as client:
        if path == "/console/":
            client.cookies.set(cookie["name"], cookie["value"], path="/console")
        page = await client.get(path)
        sizes[path] = page.num_bytes_downloaded
        for address in assets_of(page.text):
            sizes[address] = (await client.get(address)).num_bytes_downloaded

    assert len(sizes) > 2, sizes
    assert all(sizes.values()), sizes
    assert sum(sizes.values()) <= FIRST_PAGE_BYTES, sizes


def assets_of(text: str) -> set[str]:
    """What a browser fetches along with a page."""
    return {
        one
        for one in re.findall(r'(?:src|href)="([^"]+)"', text)
        if one.startswith("/console/static/")
    }
