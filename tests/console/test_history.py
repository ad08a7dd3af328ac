"""The history pages."""

import contextlib
import re

import pytest
from tests.console.conftest import Bench, answer
from tests.console.test_approvals import plain

from avow.guard import UnknownToolError
from avow.store import RecordRow

pytestmark = pytest.mark.anyio


async def test_without_calls_there_is_a_word_and_no_table(bench: Bench) -> None:
    async with bench.browser() as browser:
        page = await browser.get("/console/history")

    assert "No call has been made yet." in page.text
    assert "<table" not in page.text


async def test_the_newest_calls_say_who_did_what_and_how_it_ended(bench: Bench) -> None:
    await bench.call("studio__customers_list", {})
    await bench.call(client="night-agent")
    with contextlib.suppress(UnknownToolError):
        await bench.call("studio__no_such_tool")

    async with bench.browser() as browser:
        page = await browser.get("/console/history")
    rows = [plain(row) for row in re.findall(r"<tr class.*?</tr>", page.text, re.DOTALL)]

    unknown, waited, listed = rows
    assert "There is no such tool for this caller. studio__no_such_tool – desk-agent" in unknown
    assert "No answer yet. Nothing was run. Delete customer · customer_id 41" in waited
    assert "▲ Destructive" in waited
    assert waited.endswith("night-agent for this machine’s user 1")
    assert (
        "Ran in less than 0.01 s. List customers · customer_id 41 customers_list on studio ○ Read"
        in listed
    )
    assert listed.endswith("–")


async def test_a_call_of_another_day_carries_its_date(bench: Bench) -> None:
    await bench.call()
    bench.clock.now += 86_400

    async with bench.browser() as browser:
        page = await browser.get("/console/history")

    assert re.search(r">2026-11-2\d \d\d:00:00</time>", page.text)


async def test_a_call_that_was_never_sent_did_not_run(bench: Bench) -> None:
    await bench.call()
    asked = (await bench.store.records())[-1]
    await bench.store.append([RecordRow("c1", bench.clock(), asked.event, asked.body)])

    async with bench.browser() as browser:
        now = plain((await browser.get("/console/history")).text)
        bench.clock.now += 3601
        later = plain((await browser.get("/console/history")).text)

    assert "A person is asked." in now
    assert "A person was asked. Nothing was run." in later


async def test_no_more_than_a_hundred_calls_are_shown(bench: Bench) -> None:
    await bench.call("studio__customers_list", {})
    (row, *_) = await bench.store.records(limit=1)
    rows = [RecordRow(f"c{index}", row.at, row.event, row.body) for index in range(120)]
    await bench.store.append(rows)

    async with bench.browser() as browser:
        page = await browser.get("/console/history")

    shown = re.findall(r'href="/console/history/(\w+)"', page.text)
    assert shown == [f"c{index}" for index in range(119, 19, -1)]


async def test_one_call_shows_all_its_lines(bench: Bench) -> None:
    await bench.call()
    async with bench.browser() as browser:
        await answer(browser, "allow")
        await bench.call()
        page = await browser.get("/console/history")
        links = re.findall(r'href="(/console/history/\w+)"', page.text)
        words, first = [plain((await browser.get(one)).text) for one in links]

    assert first.index("A person is asked") < first.index("Ended")
    assert words.index("About") < words.index("Ended")
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
