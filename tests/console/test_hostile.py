"""Names, titles, texts and arguments that try to be more than text."""

import json
import re
from collections.abc import AsyncGenerator
from html.parser import HTMLParser
from typing import Any

import httpx2
import pytest
from tests.console.conftest import Bench, answer, csrf_of
from tests.console.test_tools_changes import change
from tests.console.test_tools_try import ended, hidden

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
SEARCH = ("hx-get", "hx-swap", "hx-sync", "hx-target", "hx-trigger")
PATHS = [
    "/console/",
    "/console/approvals/live",
    "/console/approvals/1",
    "/console/approvals/1/dialog",
    "/console/tools",
    "/console/tools/studio__customer_delete",
    "/console/changes",
    "/console/servers",
    "/console/prompt",
    "/console/audit",
    "/console/audit/chain",
    "/console/grants",
    "/console/policy",
]
_SHOWING = 7
"""How many pages have somebody else's text on them: all but those of the log as a whole."""


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


SHOWN: dict[str, list[str]] = {}
"""What was made for a text: each test looks at the same pages in another way."""


async def pages(bench: Bench, text: str) -> list[str]:
    """Every page, with `text` wherever somebody else's text stands."""
    if text not in SHOWN:
        SHOWN[text] = await made(bench, text)
    return SHOWN[text]


async def made(bench: Bench, text: str) -> list[str]:
    """The same, made now."""
    bench.shelf.raws[0] |= {
        "title": text,
        "description": text,
        "annotations": {"readOnlyHint": text, "destructiveHint": True},
        "_meta": {"io.sayso/intent": {"category": text, "tags": [text]}},
    }
    bench.shelf.raws.append({"name": text, "inputSchema": schema_of(text)})
    bench.shelf.state.is_failing(text)
    bench.shelf.raws.append([text])
    arguments = {text: text, "nested": {text: [text]}, "long": text * 80}
    await bench.call(arguments=arguments, client=text, subject=text)
    await bench.call(f"studio__{text}", arguments, client=text)
    await change(bench, text=text)
    async with bench.browser() as browser:
        shown = [(await browser.get(path)).text for path in PATHS]
        (row, *_) = await bench.gateway.guard.audit.newest()
        shown.append((await browser.get(f"/console/audit/{row.call}")).text)
        shown += [(await browser.get(path)).text for path in await addresses(browser)]
        shown += [page async for page in tried(bench, browser, text)]
        told = await answer(browser, "deny", 2)
        shown.append((await browser.get(told.headers["location"])).text)
    return shown


def schema_of(text: str) -> dict[str, Any]:
    """A schema of whose every part this text is."""
    about = {"title": text, "description": text, "default": text}
    return {
        "type": "object",
        "properties": {
            text: {"type": "string", "pattern": "x", **about},
            f"{text} of many": {"enum": [text, 1], **about},
            f"{text} ticked": {"type": "array", "items": {"enum": [text]}, **about},
            f"{text} within": {"type": "object", "properties": {text: {"type": text}}, **about},
        },
    }


async def addresses(browser: httpx2.AsyncClient) -> set[str]:
    """The pages of all tools."""
    page = await browser.get("/console/tools")
    return set(re.findall(r'href="(/console/tools/[^"]+)"', page.text))


async def tried(bench: Bench, browser: httpx2.AsyncClient, text: str) -> AsyncGenerator[str]:
    """Every page of a try whose arguments and result are this text."""
    bench.answer = {
        "content": [{"type": "text", "text": text}, {"type": text, "mimeType": text, "data": text}],
        "structuredContent": {text: [text, {text: text}]},
        "_meta": {text: text},
    }
    path = "/console/tools/studio__customers_list"
    csrf = csrf_of(await browser.get(path))
    for said in ("[", "[" * 99, json.dumps({text: text})):
        form = {"csrf": csrf, "mode": "json", "/": said}
        shown = await browser.post(f"{path}/try", data=form)
        yield shown.text
    sent = await browser.post(f"{path}/run", data=hidden(shown))
    page = await ended(browser, await browser.get(sent.headers["location"]))
    assert "It ran." in page.text
    yield page.text
    yield (await browser.get("/console/tools", headers={"hx-request": "true"})).text


@pytest.mark.parametrize("text", CORPUS)
async def test_hostile_text_makes_no_element_and_no_address(bench: Bench, text: str) -> None:
    for page in await pages(bench, text):
        found = elements(page)

        assert not any(name.startswith("on") for _, *names in found.shapes for name in names)
        assert all(re.fullmatch(r"/console/[\w./?=&#-]*|#main", one) for one in found.addresses), (
            found.addresses
        )
        assert "evil.example" not in "".join(found.addresses)
        assert not re.search(r"(?<![0-9a-f])1337(?![0-9a-f])", page)


@pytest.mark.parametrize("text", CORPUS)
async def test_hostile_text_gives_a_page_the_elements_that_plain_text_gives(
    bench: Bench, text: str
) -> None:
    allowed = {
        *[("a", *names) for names in (("aria-current", "href"), ("class", "href"), ("href",))],
        ("a", "href", "id"),
        ("a", "data-go", "href", "id"),
        ("a", "data-dialog", "data-go", "href", "id"),
        ("form", "action", "class", "id", "method"),
        ("form", "action", "autocomplete", "data-answer", "data-once", "id", "method"),
        ("form", "action", "class", "data-once", "method"),
        ("form", "action", "class", "method"),
        ("form", "action", "class", *SEARCH, "method", "role"),
        ("form", "action", "class", "method", "role"),
        ("form", "action", "aria-label", "class", "method", "role"),
        ("form", "action", "method"),
        ("a", "data-drawer", "data-go", "href", "id"),
        ("img", "alt", "height", "src", "width"),
        ("script", "blocking", "src"),
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
    made = await pages(bench, "invoice\u202efdp.exe")
    # The prompt quotes names in its own way.
    shown = [page for page in made if "fdp.exe" in page and "The system prompt" not in page]
    assert len(shown) > len(PATHS)
    for page in shown:
        assert "\u202e" not in page
        assert "invoice\u2039U+202E\u203afdp.exe" in re.sub(r"</?mark[^>]*>", "", page)


async def test_half_a_character_breaks_no_page(bench: Bench) -> None:
    bench.shelf.raws[0]["description"] = "\ud800"
    bench.shelf.raws.append({"name": "half\ud800", "inputSchema": {"type": "object"}})

    async with bench.browser() as browser:
        page = await browser.get("/console/tools")

    assert page.status_code == 200
    assert "List customers" in page.text
