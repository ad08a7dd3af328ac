"""The documentation site: built without a warning, found by search, readable in both schemes."""

import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest
from playwright.async_api import Browser, Page, expect
from tests.console.browsing import browsing
from tools.site.__main__ import list_versions

from sayso.version import __version__

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
AXE = ROOT / "tests" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
PAGES = (
    "index.html",
    "start/gateway.html",
    "guides/policy.html",
    "reference/commands.html",
    "explanation/approvals.html",
)
TERMS = {
    "approval": "explanation/approvals",
    "idempotent": "explanation/hints",
    "first_use": "reference/policy",
    "elicitation": "guides/approvals",
    "port-in-use": "guides/troubleshooting",
    "quarantine": "reference/commands",
    "strace": "guides/verify",
    "OpenID": "guides/console",
    "LangGraph": "guides/frameworks",
    "Prometheus": "guides/monitoring",
}
"""Words that a reader may look for, and a page that the search must name."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "tools.site", str(output)]
    built = subprocess.run(
        command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert built.returncode == 0, built.stderr
    return output / __version__


def test_the_reference_has_the_names_that_pages_import(site: Path) -> None:
    page = (site / "reference" / "api.html").read_text("utf-8")
    for name in ("sayso.bind", "sayso.receipts.read_receipt", "sayso.agents.ToolCall"):
        assert f">{name}<" in page, name


@pytest.fixture(scope="module")
async def chromium() -> AsyncGenerator[Browser]:
    async with browsing() as browser:
        yield browser


@pytest.fixture
async def page(chromium: Browser) -> AsyncGenerator[Page]:
    """A page on which a request to any other machine fails the test."""
    page = await chromium.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    yield page
    await page.close()
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []


@pytest.mark.parametrize(("term", "expected"), TERMS.items(), ids=TERMS)
async def test_the_search_finds_a_term(site: Path, page: Page, term: str, expected: str) -> None:
    await page.goto(f"file://{site}/search.html?q={term}")
    links = page.locator(f'#search-results a[href^="{expected}.html"]')
    await expect(links.first).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
async def test_a_page_is_accessible(site: Path, page: Page, name: str, scheme: str) -> None:
    await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await page.goto(f"file://{site}/{name}")
    await page.add_script_tag(content=await anyio.Path(AXE).read_text("utf-8"))
    report = await page.evaluate("axe.run()")
    problems = [
        (problem["id"], node["html"])
        for problem in report["violations"]
        for node in problem["nodes"]
    ]
    assert problems == []


def test_versions_are_listed_newest_first(tmp_path: Path) -> None:
    for version in ("0.9.0", "0.10.0", "0.2.0"):
        place = tmp_path / version
        place.mkdir()
        (place / "index.html").touch()
    list_versions(tmp_path)
    text = (tmp_path / "index.html").read_text("utf-8")
    assert text.index(">0.10.0<") < text.index(">0.9.0<") < text.index(">0.2.0<")
