"""Pictures of every page in both schemes: `make screenshots`, then look at them.

They go into a folder that is not committed, except those that the README and the documents show.
"""

import io
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import anyio
from PIL import Image
from playwright.async_api import Browser, Page, expect
from tests.console.browsing import browsing
from tests.console.site import Site, all_pages, furnish, logged_in, open_site

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / ".cache" / "screenshots"
IMAGES: Final = ROOT / "docs" / "images"

SIZES: Final[dict[str, Any]] = {
    "wide": {"width": 1280, "height": 860},
    "narrow": {"width": 320, "height": 720},
}
SHOWN: Final = {"approvals": "/console/", "tools": "/console/tools"}
"""What stands in the README: a page by the name of its picture."""


async def main() -> None:
    """Make all pictures anew."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.png"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        async with open_site(Path(folder)) as site, browsing() as browser:
            await show(browser, site)
            await film(browser, site)
            await furnish(site)
            await shoot(browser, site)
    sys.stdout.write(f"{len([*FOLDER.glob('*.png')])} pictures in {FOLDER}\n")


async def shoot(browser: Browser, site: Site) -> None:
    """Every page and the dialog of a question, in both schemes and both sizes."""
    paths = await all_pages(site)
    for scheme in ("light", "dark"):
        for name, size in SIZES.items():
            async with logged_in(browser, site, color_scheme=scheme, viewport=size) as watched:
                for path in paths:
                    await watched.page.goto(f"{site.base}{path}", wait_until="load")
                    file = FOLDER / f"{named(path)}-{scheme}-{name}.png"
                    await watched.page.screenshot(path=file, full_page=name == "wide")
                await dialog(watched.page, site)
                await watched.page.screenshot(path=FOLDER / f"dialog-{scheme}-{name}.png")
            door = site.login.link()
            async with logged_in(
                browser, site, role=None, color_scheme=scheme, viewport=size
            ) as visitor:
                await visitor.page.goto(door, wait_until="load")
                await visitor.page.screenshot(path=FOLDER / f"login-{scheme}-{name}.png")


async def show(browser: Browser, site: Site) -> None:
    """Those of the README."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    size: Any = {"width": 1180, "height": 800}
    async with logged_in(browser, site, color_scheme="light", viewport=size) as watched:
        for name, path in SHOWN.items():
            page = watched.page
            await page.goto(f"{site.base}{path}", wait_until="load")
            if name == "approvals":
                await dialog(page, site)
            await page.screenshot(path=IMAGES / f"{name}.png")


async def film(browser: Browser, site: Site) -> None:
    """Write the moving picture of the README: a call waits, is allowed, and is on record."""
    size: Any = {"width": 1180, "height": 800}
    frames: list[bytes] = []
    async with logged_in(browser, site, color_scheme="light", viewport=size) as watched:
        page = watched.page
        await page.goto(f"{site.base}/console/", wait_until="load")
        frames.append(await page.screenshot())
        await dialog(page, site)
        frames.append(await page.screenshot())
        await page.get_by_role("button", name="Allow once", exact=True).click()
        await expect(page.locator("dialog[open]")).to_have_count(0)
        await page.goto(f"{site.base}/console/audit", wait_until="load")
        await expect(page.locator("tbody tr").first).to_contain_text("Ran in")
        frames.append(await page.screenshot())
    pictures = [
        Image.open(io.BytesIO(frame)).resize((885, 600), Image.Resampling.LANCZOS).quantize(128)
        for frame in frames
    ]
    pictures[0].save(
        IMAGES / "demo.gif",
        save_all=True,
        append_images=pictures[1:],
        duration=[2500, 4000, 4000],
        loop=0,
        optimize=True,
    )


async def dialog(page: Page, site: Site) -> None:
    """Open the question that waits, and wait until its buttons are no longer locked."""
    await page.goto(f"{site.base}/console/", wait_until="load")
    await page.locator("a[data-dialog]").first.click()
    await expect(page.get_by_role("button", name="Allow once", exact=True)).to_be_enabled()


def named(path: str) -> str:
    """The name of a page's picture.

    >>> named("/console/"), named("/console/tools?q=a"), named("/console/audit/1a20361a9ccc/rule")
    ('approvals', 'tools-q-a', 'audit-call-rule')
    """
    path = re.sub(r"(?<=/audit/)[0-9a-f]{12,}", "call", path)
    return re.sub(r"\W+", "-", path.removeprefix("/console")).strip("-")[:60] or "approvals"


if __name__ == "__main__":
    anyio.run(main)
