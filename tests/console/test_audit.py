"""The audit page: the list of calls, its filter, its pages, and what it is exported as."""

import contextlib
import csv
import json
import re
from datetime import datetime

import httpx2
import pytest
from tests.console.conftest import Bench, answer
from tests.console.test_approvals import plain

from sayso.console.entry.login import Session
from sayso.console.entry.roles import Role
from sayso.guard import UnknownToolError
from sayso.store import RecordRow

pytestmark = pytest.mark.anyio


def rows_of(page: httpx2.Response) -> list[str]:
    """The rows of the list, in words."""
    return [plain(row) for row in re.findall(r"<tr class.*?</tr>", page.text, re.DOTALL)]


def calls_of(page: httpx2.Response) -> list[str]:
    """The calls that the list leads to."""
    return re.findall(r'id="to-[^"]*" href="/console/audit/(\w+)', page.text)


async def some_calls(bench: Bench) -> None:
    """A list, a question by another agent, and a tool that is not there."""
    await bench.call("studio__customers_list", {})
    await bench.call(client="night-agent", subject="amy")
    with contextlib.suppress(UnknownToolError):
        await bench.call("studio__no_such_tool")


async def repeated(bench: Bench, count: int) -> None:
    """So many calls as the log has them, made of one."""
    await bench.call("studio__customers_list", {})
    (row, *_) = await bench.store.records.newest(limit=1)
    rows = [RecordRow(f"c{index}", row.at, row.event, row.body) for index in range(count)]
    await bench.store.records.append(rows)


async def test_without_calls_there_is_a_word_and_no_table(bench: Bench) -> None:
    async with bench.browser() as browser:
        page = await browser.get("/console/audit")

    assert "No call has been made yet." in page.text
    assert "<table" not in page.text


async def test_the_newest_calls_say_who_did_what_and_how_it_ended(bench: Bench) -> None:
    await bench.call("studio__customers_list", {})
    await bench.call(client="night-agent")
    with contextlib.suppress(UnknownToolError):
        await bench.call("studio__no_such_tool")

    async with bench.browser() as browser:
        unknown, waited, listed = rows_of(await browser.get("/console/audit"))

    assert (
        "studio__no_such_tool – This caller has no such tool. Nothing was run. desk-agent"
        in unknown
    )
    assert "may delete or overwrite No answer yet. Nothing was run. night-agent" in waited
    assert "Delete customer · customer_id 41 customer_delete on studio ▲ Destructive" in waited
    assert waited.endswith("night-agent for this machine’s user 1")
    assert (
        "List customers · customer_id 41 customers_list on studio ○ Read changes nothing" in listed
    )
    assert listed.endswith("–")


async def test_a_call_of_another_day_carries_its_date(bench: Bench) -> None:
    await bench.call()
    bench.clock.now += 86_400

    async with bench.browser() as browser:
        page = await browser.get("/console/audit")

    assert re.search(r">2026-11-2\d \d\d:00:00</time>", page.text)


async def test_a_call_that_was_never_sent_did_not_run(bench: Bench) -> None:
    await bench.call()
    asked = (await bench.store.records.newest())[-1]
    await bench.store.records.append([RecordRow("c1", bench.clock(), asked.event, asked.body)])

    async with bench.browser() as browser:
        now = plain((await browser.get("/console/audit")).text)
        bench.clock.now += 3601
        later = plain((await browser.get("/console/audit")).text)

    assert "A person is asked." in now
    assert "A person was asked. Nothing was run." in later


async def test_what_happens_to_the_log_itself_is_in_it(bench: Bench) -> None:
    await bench.store.records.append([RecordRow("", bench.clock(), "opened", '{"heads": {}}')])

    async with bench.browser() as browser:
        (row,) = rows_of(await browser.get("/console/audit"))

    assert "the log itself – The log was opened." in row


async def test_pages_follow_each_other_without_a_gap(bench: Bench) -> None:
    await repeated(bench, 120)

    async with bench.browser() as browser:
        shown, text, address = list[str](), "", "/console/audit"
        while address:
            text = (page := await browser.get(address)).text
            shown += calls_of(page)
            older = re.search(r'href="([^"]+)">Older calls', text)
            address = older[1] if older else ""

    assert shown[:120] == [f"c{index}" for index in reversed(range(120))]
    assert len(shown) == 121
    assert "End of the log." in text


async def test_a_filter_is_in_the_address_and_in_its_fields(bench: Bench) -> None:
    await some_calls(bench)

    async with bench.browser() as browser:
        page = await browser.get("/console/audit?text=DELETE&client=NIGHT&level=destructive")
        (row,) = rows_of(page)
        (link,) = re.findall(r'id="to-\w+" href="([^"]+)"', page.text)
        call = await browser.get(link.replace("&amp;", "&"))

    assert "Delete customer" in row
    assert 'value="DELETE"' in page.text
    assert '<option value="destructive" selected>' in page.text
    assert 'href="/console/audit?text=DELETE&amp;client=NIGHT&amp;level=destructive"' in call.text


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("server=studio", 2),
        ("server=elsewhere", 0),
        ("tool=customers_list", 1),
        ("decision=confirm", 1),
        ("outcome=unknown_tool", 1),
        ("severity=info", 1),
        ("who=amy", 1),
        ("who=am", 0),
        ("attention=1", 0),
        ("outcome=ok&who=amy", 0),
    ],
)
async def test_each_field_of_the_filter_counts(bench: Bench, query: str, count: int) -> None:
    await some_calls(bench)

    async with bench.browser() as browser:
        page = await browser.get(f"/console/audit?{query}")

    assert len(rows_of(page)) == count
    assert ("No call matches" in page.text) is (count == 0)


async def test_what_went_wrong_needs_attention(bench: Bench) -> None:
    bench.is_failing = True
    await bench.call("studio__customers_list", {})
    bench.is_failing = False
    await bench.call("studio__customers_list", {})

    async with bench.browser() as browser:
        (row,) = rows_of(await browser.get("/console/audit?attention=1"))

    assert "The tool reported an error" in row


async def test_times_are_those_of_this_machine(bench: Bench) -> None:
    await bench.call("studio__customers_list", {})
    bench.clock.now += 3600
    await bench.call()
    middle = datetime.fromtimestamp(bench.clock.now - 1800).strftime("%Y-%m-%dT%H:%M")  # noqa: DTZ006 - as a browser writes it

    async with bench.browser() as browser:
        (late,) = rows_of(await browser.get(f"/console/audit?since={middle}"))
        (early,) = rows_of(await browser.get(f"/console/audit?until={middle}"))

    assert "Delete customer" in late
    assert "List customers" in early


@pytest.mark.parametrize(
    "query",
    [
        "level=huge",
        "since=yesterday",
        "until=9999999-01-01",
        "outcome=%27",
        "before=x&severity=loud",
    ],
)
async def test_what_cannot_be_meant_is_said_and_left_out(bench: Bench, query: str) -> None:
    await bench.call()

    async with bench.browser() as browser:
        page = await browser.get(f"/console/audit?{query}")
        file = await browser.get(f"/console/audit/export?{query}")

    assert page.status_code == 200
    assert "Invalid and ignored" in page.text
    assert len(rows_of(page)) == 1
    assert file.status_code == 400


async def test_a_search_that_ran_out_of_time_says_so_and_goes_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await repeated(bench, 2100)
    monkeypatch.setattr("sayso.console.audit.listing.SECONDS", 0.0)

    async with bench.browser() as browser:
        page = await browser.get("/console/audit?text=nothing")
        (further,) = re.findall(r'href="([^"]+)">Search older lines', page.text)
        rest = await browser.get(further.replace("&amp;", "&"))

    assert "Searched 2,048 lines" in page.text
    assert "text=nothing" in further
    assert "No older call matches" in plain(rest.text)


async def test_an_export_holds_what_the_filter_finds(bench: Bench) -> None:
    await some_calls(bench)

    async with bench.browser() as browser:
        whole = await browser.get("/console/audit/export?format=jsonl")
        some = await browser.get("/console/audit/export?format=jsonl&who=amy")

    assert whole.headers["content-disposition"] == 'attachment; filename="sayso-audit.jsonl"'
    found = [json.loads(line) for line in whole.text.splitlines()]
    assert [one.get("tool") for one in found] == [None, "customer_delete", "customers_list"]
    assert [json.loads(line)["subject"] for line in some.text.splitlines()] == ["amy"]


async def test_a_long_export_has_every_call_once_under_one_heading(bench: Bench) -> None:
    await repeated(bench, 1100)

    async with bench.browser() as browser:
        file = await browser.get("/console/audit/export?format=csv")

    heading, *lines = csv.reader(file.text.splitlines())
    assert file.headers["content-type"].startswith("text/csv")
    calls = [line[heading.index("call")] for line in lines]
    assert calls[:-1] == [f"c{index}" for index in reversed(range(1100))]


@pytest.mark.parametrize("sign", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
async def test_no_cell_of_an_export_is_a_formula(bench: Bench, sign: str) -> None:
    await bench.call(client=sign, subject=sign, arguments={"a": sign})

    async with bench.browser() as browser:
        file = await browser.get("/console/audit/export?format=csv")

    for line in csv.reader(file.text.split("\r\n")):
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in line), line


async def test_an_export_is_for_admins(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    await bench.call()

    async def session(*_: object) -> Session:
        return Session("c", bench.clock.now + 60, "amy", Role.APPROVER)

    monkeypatch.setattr("sayso.console.pages.Pages.session_of", session)
    async with bench.visitor() as browser:
        page = await browser.get("/console/audit")
        file = await browser.get("/console/audit/export?format=csv")

    assert "/export" not in page.text
    assert (file.status_code, "This requires the role “admin”" in file.text) == (403, True)


async def test_there_are_two_formats(bench: Bench) -> None:
    async with bench.browser() as browser:
        assert (await browser.get("/console/audit/export?format=xml")).status_code == 400


async def test_an_answered_call_is_one_row(bench: Bench) -> None:
    await bench.call()
    async with bench.browser() as browser:
        await answer(browser, "allow")
        await bench.call()
        ran, waited = rows_of(await browser.get("/console/audit"))

    assert "Ran in" in ran
    assert "No answer yet" in waited
