"""The tools page, also when servers are slow, broken or hostile."""

from typing import Any, cast

import anyio
import pytest
from tests.console.conftest import DELETE, Bench, Shelf
from tests.console.test_approvals import plain

from avow.catalog import make_tool
from avow.console.tools import matches, take_inventory
from avow.errors import UnreachableError

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
        "○ Read changes nothing",
        "▲ Destructive may delete or overwrite",
        "Destructive: yes declared by the server",
        "Idempotent: no the specification’s default",
        "the name starts with the verb “send” (0.99)",
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
    bench.shelf.error = UnreachableError("it ended before it answered", where="studio")

    async with bench.browser() as browser:
        page = await browser.get("/console/tools")

    assert page.status_code == 200
    assert "studio: it ended before it answered" in page.text
    assert "No server has shown a tool yet." in page.text


async def test_a_slow_server_holds_up_no_other() -> None:
    servers = cast("Any", [Silent("slow"), Shelf("quick")])

    with anyio.fail_after(5):
        inventory = await take_inventory(servers, patience=0.05)

    assert {tool.server for tool in inventory.tools} == {"quick"}
    assert inventory.problems == ("slow: no answer yet. Reload this page in a moment.",)


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


def test_a_description_that_is_no_text_matches_nothing() -> None:
    tool = make_tool("studio", {**DELETE, "description": ["undone"]})

    assert matches(tool, "delete studio destructive")
