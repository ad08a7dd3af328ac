"""The tools page, also when servers are slow, broken or hostile."""

import re
import time
from typing import Any, cast

import anyio
import pytest
from tests.console.conftest import DELETE, Bench, Shelf
from tests.console.test_approvals import plain

from sayso.catalog import Tool, make_tool, read_tools
from sayso.console.tools import inventory
from sayso.console.tools.filters import matches
from sayso.console.tools.inventory import take_inventory
from sayso.errors import UnreachableError

pytestmark = pytest.mark.anyio


class Silent(Shelf):
    """A server that never answers."""

    async def tools(self, **_: object) -> tuple[list[object], list[str]]:  # pyright: ignore[reportIncompatibleMethodOverride]
        await anyio.sleep_forever()
        raise AssertionError


async def test_every_tool_stands_with_its_hints_and_who_says_so(bench: Bench) -> None:
    bench.shelf.raws.append({"name": "send_invoice", "inputSchema": {"type": "object"}})

    async with bench.browser() as browser:
        words = plain((await browser.get("/console/tools")).text)

    for shown in (
        "3 tools",
        "Delete customer customer_delete on studio",
        "Delete customer customer_delete on studio ▲ Destructive",
        "▲ Destructive may delete or overwrite no declared yes declared",
        "○ Read changes nothing yes declared",
        "no inferred 0.99",
        "Open world Yes: It reaches outside systems. No: It stays within its system.",
    ):
        assert shown in words, shown


async def test_problems_stand_on_top(bench: Bench) -> None:
    bench.shelf.raws += [7, {"name": "broken_hint", "annotations": {"readOnlyHint": 1}}]

    async with bench.browser() as browser:
        words = plain((await browser.get("/console/tools")).text)

    assert words.index("entry 2 of tools/list is not an object") < words.index("Delete customer")
    assert "Finding: readOnlyHint must be true or false, not 1" in words


async def test_a_server_that_fails_is_told_of(bench: Bench) -> None:
    bench.shelf.error = UnreachableError("the server ended before it answered", where="studio")

    async with bench.browser() as browser:
        page = await browser.get("/console/tools")

    assert page.status_code == 200
    assert "studio: the server ended before it answered" in page.text
    assert "No server has listed a tool yet." in page.text


async def test_a_page_that_waits_for_a_server_asks_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    object.__setattr__(bench.gateway.upstreams, "upstreams", [bench.shelf, Silent("slow")])
    monkeypatch.setattr(inventory.take_inventory, "__defaults__", (0.01,))
    async with bench.browser() as browser:
        waits = await browser.get("/console/tools")
        object.__setattr__(bench.gateway.upstreams, "upstreams", [bench.shelf])
        whole = await browser.get("/console/tools")

    assert 'hx-trigger="load delay:1s"' in waits.text
    assert "Delete customer" in waits.text
    assert "load delay" not in whole.text


async def test_a_slow_server_holds_up_no_other() -> None:
    servers = cast("Any", [Silent("slow"), Shelf("quick")])

    with anyio.fail_after(60):
        found = await take_inventory(servers, patience=0.05)

    assert {tool.server for tool in found.tools} == {"quick"}
    assert found.problems == ("slow: no answer yet. Its tools are listed as soon as it answers.",)


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("delete", "1 of 2 tools"),
        ("CUSTOMER delete", "1 of 2 tools"),
        ("studio", "2 of 2 tools"),
        ("read", "1 of 2 tools"),
        ("undone", "1 of 2 tools"),
        ("nothing of the kind", "0 of 2 tools"),
        ("%_*", "0 of 2 tools"),
        (" ", "2 tools"),
    ],
)
async def test_a_search_narrows_the_list(bench: Bench, query: str, shown: str) -> None:
    async with bench.browser() as browser:
        page = await browser.get("/console/tools", params={"q": query})

    assert shown in plain(page.text)
    assert f'value="{query.strip()}"' in page.text


async def test_a_search_is_shown_as_text(bench: Bench) -> None:
    async with bench.browser() as browser:
        page = await browser.get("/console/tools", params={"q": '"><script>alert(1)</script>'})

    assert "<script>alert" not in page.text
    assert 'value="&#34;&gt;&lt;script&gt;' in page.text


TOOLS = [
    {"name": "notes_list", "annotations": {"readOnlyHint": True, "openWorldHint": False}},
    {"name": "send_note", "_meta": {"io.sayso/intent": {"category": "mail"}}},
    {"name": "odd", "annotations": {"readOnlyHint": 1}},
]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("level=read", ["customers_list", "notes_list"]),
        ("level=nonsense", ["customer_delete", "customers_list", "notes_list", "send_note", "odd"]),
        ("hint=read_only-yes", ["customers_list", "notes_list"]),
        ("hint=open_world-no&level=read", ["customers_list", "notes_list"]),
        ("hint=destructive-yes&source=default", ["send_note", "odd"]),
        ("source=inferred", ["customer_delete", "send_note"]),
        ("source=verified", []),
        ("category=mail", ["send_note"]),
        ("server=studio&q=note", ["customer_delete", "notes_list", "send_note"]),
        ("server=elsewhere", []),
        ("findings=some", ["odd"]),
        ("findings=changed", []),
    ],
)
async def test_filters_narrow_the_list(bench: Bench, query: str, names: list[str]) -> None:
    bench.shelf.raws += TOOLS

    async with bench.browser() as browser:
        page = await browser.get(f"/console/tools?{query}")

    assert re.findall(r"<code>(\w+)</code> on", page.text) == names


async def test_a_page_that_is_shown_gets_the_list_alone_and_its_address(bench: Bench) -> None:
    asked = {"q": "delete é", "level": "", "hint": "", "page": "1"}
    async with bench.browser() as browser:
        page = await browser.get("/console/tools", params=asked, headers={"hx-request": "true"})

    assert page.headers["hx-replace-url"] == "/console/tools?q=delete+%C3%A9"
    assert page.text.lstrip().startswith('<div id="found"')
    assert "No tool matches." in page.text


async def test_many_tools_come_in_pages(bench: Bench) -> None:
    bench.shelf.raws = [{"name": f"tool_{number:03}"} for number in range(120)]

    async with bench.browser() as browser:
        words = [
            plain((await browser.get("/console/tools", params={"page": page})).text)
            for page in ("1", "2", "3", "99", "-1", "²", "x")
        ]

    assert "120 tools, page 1 of 3" in words[0]
    assert "tool_049" in words[0]
    assert "tool_050" not in words[0]
    assert "tool_050" in words[1]
    assert "tool_119" in words[2]
    assert words[3] == words[2]
    assert words[4:] == [words[0]] * 3


class Stocked(Shelf):
    """A server whose list is read once, as the gateway does."""

    stock: tuple[list[Tool], list[str]] = ([], [])

    async def tools(self, **_: object) -> tuple[list[Tool], list[str]]:
        return self.stock


def stocked(count: int) -> Stocked:
    """A server with so many tools of four kinds."""
    shelf = Stocked()
    raws: list[dict[str, Any]] = [
        {
            "name": f"{verb}_thing_{number}",
            "description": f"{verb} a thing, number {number}. " * 5,
            "inputSchema": DELETE["inputSchema"],
            "annotations": {"readOnlyHint": verb == "list"},
        }
        for number in range(count // 4)
        for verb in ("list", "delete", "send", "update")
    ]
    shelf.stock = read_tools("studio", raws)
    return shelf


async def test_a_thousand_tools_take_little_longer_than_a_page_of_them_and_100_kb(
    bench: Bench,
) -> None:
    """In milliseconds `bench/console.py` holds it; here a page of 50 is what it is held to."""
    took: dict[int, list[float]] = {50: [], 1000: []}
    shelves = {count: stocked(count) for count in took}

    async with bench.browser() as browser:
        # The first look reads all; of the others the quickest counts, in this process's own time.
        for query in ("", "?q=thing", "?level=destructive", *[""] * 7):
            for count, shelf in shelves.items():
                object.__setattr__(bench.gateway.upstreams, "upstreams", [shelf])
                begun = time.process_time()
                await browser.get(f"/console/tools{query}")
                took[count].append(time.process_time() - begun)
        page = await browser.get("/console/tools")

    assert "1000 tools, page 1 of 20" in page.text
    assert len(page.content) < 100_000
    assert min(took[1000]) < 3 * min(took[50]), took


def test_a_description_that_is_no_text_matches_nothing() -> None:
    tool = make_tool("studio", {**DELETE, "description": ["undone"]})

    assert matches(tool, "delete studio destructive")
