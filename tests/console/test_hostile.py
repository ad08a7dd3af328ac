"""Names, titles, texts and arguments that try to be more than text."""

import re
from html.parser import HTMLParser

import pytest
from tests.console.conftest import Bench, answer

pytestmark = pytest.mark.anyio

CORPUS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</pre></td></table><form action=//evil.example><button>Approve</button>",
    "</title><meta http-equiv=refresh content=0;url=//evil.example>",
    "javascript:alert(1)",
    "https://evil.example/",
    "[click](https://evil.example/)",
    "<!-- ",
    "]]>",
    "{{ 7 * 191 }}{% raw %}",
    "${7*191}",
    "&lt;b&gt;",
    "<a href=https://evil.example>",
    "<base href=//evil.example>",
    "\u202e\u2066<b>\u2069",
    "a\x00b\x1b[2Jc",
    "\U000e0041\U000e007f",
]
PATHS = [
    "/console/",
    "/console/approvals/live",
    "/console/approvals/1",
    "/console/tools",
    "/console/history",
]


class Elements(HTMLParser):
    """Which elements a page has, with which attributes, and where it leads."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: set[tuple[str, ...]] = set()
        self.addresses: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shapes.add((tag, *sorted(name for name, _ in attrs)))
        self.addresses |= {
            value or "" for name, value in attrs if name in ("href", "src", "action")
        }


def elements(html: str) -> Elements:
    parsed = Elements()
    parsed.feed(html)
    parsed.close()
    return parsed


async def pages(bench: Bench, text: str) -> list[str]:
    """Every page, with `text` wherever somebody else's text stands."""
    bench.shelf.raws[0] |= {
        "title": text,
        "description": text,
        "annotations": {"readOnlyHint": text, "destructiveHint": True},
    }
    bench.shelf.raws.append({"name": text, "inputSchema": {"type": "object"}})
    bench.shelf.raws.append([text])
    arguments = {text: text, "nested": {text: [text]}, "long": text * 80}
    await bench.call(arguments=arguments, client=text, subject=text)
    await bench.call(f"studio__{text}", arguments, client=text)
    async with bench.browser() as browser:
        shown = [(await browser.get(path)).text for path in PATHS]
        (row, *_) = await bench.gateway.guard.audit.newest()
        shown.append((await browser.get(f"/console/history/{row.call}")).text)
        told = await answer(browser, "deny", 2)
        shown.append((await browser.get(told.headers["location"])).text)
    return shown


@pytest.mark.parametrize("text", CORPUS)
async def test_hostile_text_makes_no_element_and_no_address(bench: Bench, text: str) -> None:
    for page in await pages(bench, text):
        found = elements(page)

        assert not any(name.startswith("on") for _, *names in found.shapes for name in names)
        assert all(
            re.fullmatch(r"/console/[\w./?=]*|#main|/console/login/link", one)
            for one in found.addresses
        ), found.addresses
        assert "evil.example" not in "".join(found.addresses)
        assert "1337" not in page


@pytest.mark.parametrize("text", CORPUS)
async def test_hostile_text_gives_a_page_the_elements_that_plain_text_gives(
    bench: Bench, text: str
) -> None:
    allowed = {
        *[("a", *names) for names in (("aria-current", "href"), ("class", "href"), ("href",))],
        ("a", "href", "id"),
        ("form", "action", "class", "data-once", "method"),
        ("form", "action", "class", "method"),
        ("form", "action", "class", "method", "role"),
        ("img", "alt", "height", "src", "width"),
        ("script", "defer", "src"),
        ("meta", "charset"),
        ("meta", "content", "name"),
        ("mark", "class"),
    }
    watched = {tag for tag, *_ in allowed} | {"svg", "base", "iframe", "style"}

    for page in await pages(bench, text):
        found = {shape for shape in elements(page).shapes if shape[0] in watched}
        assert found <= allowed, found - allowed


@pytest.mark.parametrize("text", CORPUS)
async def test_no_hidden_character_leaves_the_server(bench: Bench, text: str) -> None:
    for page in await pages(bench, text):
        assert not re.search("[\x00-\x08\x0b-\x1f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", page)
        page.encode()


async def test_a_reversed_name_shows_how_it_is_written(bench: Bench) -> None:
    for page in await pages(bench, "invoice\u202efdp.exe"):
        assert "\u202e" not in page
        assert "invoice\u2039U+202E\u203afdp.exe" in re.sub(r"</?mark[^>]*>", "", page)


async def test_half_a_character_breaks_no_page(bench: Bench) -> None:
    bench.shelf.raws[0]["description"] = "\ud800"
    bench.shelf.raws.append({"name": "half\ud800", "inputSchema": {"type": "object"}})

    async with bench.browser() as browser:
        page = await browser.get("/console/tools")

    assert page.status_code == 200
    assert "List customers" in page.text
