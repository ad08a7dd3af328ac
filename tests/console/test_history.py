"""The history pages."""

import contextlib
import re

import pytest
from tests.console.conftest import Bench, answer
from tests.console.test_approvals import plain

from avow.guard import UnknownToolError

pytestmark = pytest.mark.anyio


async def test_without_calls_there_is_a_word_and_no_table(bench: Bench) -> None:
    async with bench.browser() as browser:
        page = await browser.get("/console/history")

    assert "No call has been made yet." in page.text
    assert "<table" not in page.text


async def test_the_newest_lines_say_who_did_what_and_how_it_ended(bench: Bench) -> None:
    await bench.call("studio__customers_list", {})
    await bench.call(client="night-agent")
    with contextlib.suppress(UnknownToolError):
        await bench.call("studio__no_such_tool")

    async with bench.browser() as browser:
        page = await browser.get("/console/history")
    rows = [plain(row) for row in re.findall(r"<tr class.*?</tr>", page.text, re.DOTALL)]

    assert len(rows) == 5
    assert "There is no such tool for this caller. studio__no_such_tool – desk-agent" in rows[0]
    assert "No answer yet. Nothing was run. Delete customer" in rows[1]
    assert "▲ Destructive" in rows[2]
    assert "night-agent for this machine’s user asks a person" in rows[2]
    assert "It ran. List customers customers_list on studio ○ Read" in rows[3]
    assert "About to be sent" in rows[4]
    assert rows[4].endswith("allowed")


async def test_one_call_shows_all_its_lines(bench: Bench) -> None:
    await bench.call()
    async with bench.browser() as browser:
        await answer(browser, "allow")
        await bench.call()
        page = await browser.get("/console/history")
        links = re.findall(r'href="(/console/history/\w+)"', page.text)
        words = plain((await browser.get(links[0])).text)

    asked, sent, ended = (words.index(one) for one in ("A person is asked", "About", "Ended"))
    assert asked < sent < ended
    for shown in ("approval 1", "It ran.", "customer_id number 41", "declared by the server"):
        assert shown in words, shown


async def test_a_call_that_was_refused_at_once_has_a_page_too(bench: Bench) -> None:
    with contextlib.suppress(UnknownToolError):
        await bench.call("studio__no_such_tool")
    (row,) = await bench.gateway.guard.audit.newest()

    async with bench.browser() as browser:
        page = await browser.get(f"/console/history/{row.call}")

    assert page.status_code == 200
    assert "studio__no_such_tool" in page.text


@pytest.mark.parametrize("call", ["0123", "%00", "..", "a/b"])
async def test_a_call_that_is_not_there_is_not_found(bench: Bench, call: str) -> None:
    async with bench.browser() as browser:
        assert (await browser.get(f"/console/history/{call}")).status_code in (303, 404)
