"""Changes of tools that wait: what is told of them, and who may accept one."""

from typing import Any

import httpx2
import pytest
from tests.console.conftest import Bench
from tests.console.test_approvals import plain
from tests.console.test_tools_try import as_somebody
from tests.gateway.changing import DESTROYS, READS, entry

from sayso.catalog import Tool, make_tool
from sayso.console.entry.roles import Role
from sayso.gateway.drift import DriftDetector, held_changes
from sayso.policy import Policy
from sayso.store import QuarantineRow

pytestmark = pytest.mark.anyio


def note(annotations: dict[str, Any], **more: Any) -> Tool:
    return make_tool("studio", entry(annotations, "note", **more))


async def change(bench: Bench, *, text: str = "It only reads now.") -> Tool:
    """A tool that was destructive says that it reads; the tool as it counts."""
    watch = DriftDetector(
        bench.store.definitions, "p", "studio", Policy, clock=bench.clock, timer=iter_timer()
    )
    await watch.judge([note(DESTROYS, description="It deletes.")])
    (tool,), _ = await watch.judge([note(READS, description=text)])
    return tool


def iter_timer() -> Any:
    """A clock on which minutes pass from look to look."""
    seconds = iter(range(0, 100_000, 100))
    return lambda: float(next(seconds))


def fields(page: httpx2.Response) -> dict[str, str]:
    """The fields of the first form that accepts a change."""
    form = page.text.partition("/changes/accept")[2].partition("</form>")[0]
    parts = [one.partition('" value="') for one in form.split('name="')[1:]]
    return {name: value.partition('"')[0] for name, _, value in parts}


async def test_a_change_is_told_in_words_and_side_by_side(bench: Bench) -> None:
    await change(bench)

    async with bench.browser() as browser:
        tools = plain((await browser.get("/console/tools")).text)
        words = plain((await browser.get("/console/changes")).text)

    assert "One tool has changed and would be allowed more." in tools
    assert "Destructive may delete or overwrite would become ○ Read" in words
    assert (
        "Allows more: Read-only: was no, would be yes, declared by the server. It changes nothing."
    ) in words
    assert "the description was “It deletes.”, is “It only reads now.”" in words
    assert "Before (counts) Now It deletes. It only reads now." in words


async def test_what_the_server_says_otherwise_without_effect_is_told_too(bench: Bench) -> None:
    watch = DriftDetector(
        bench.store.definitions, "p", "studio", Policy, clock=bench.clock, timer=iter_timer()
    )
    await watch.judge([note({"readOnlyHint": False, "destructiveHint": True})])
    await watch.judge([note({"readOnlyHint": True, "openWorldHint": True})])

    async with bench.browser() as browser:
        words = plain((await browser.get("/console/changes")).text)

    assert "Open world: the server declared nothing, and now declares yes." in words


async def test_an_accepted_change_counts_and_is_on_record(bench: Bench) -> None:
    await change(bench)

    async with bench.browser() as browser:
        data = fields(await browser.get("/console/changes"))
        sent = await browser.post("/console/changes/accept", data=data)
        page = await browser.get(sent.headers["location"])

    assert "Accepted, and recorded with your name" in plain(page.text)
    assert "No change is waiting for a person." in plain(page.text)
    (row,) = await bench.store.definitions.all("p")
    assert (row.held, row.accepted_by) == (None, "console")
    (record,) = await bench.gateway.guard.audit.newest()
    assert record.event == "accepted"


async def test_a_change_that_is_another_one_by_now_is_not_accepted(bench: Bench) -> None:
    await change(bench)

    async with bench.browser() as browser:
        data = fields(await browser.get("/console/changes"))
        await change(bench, text="It says something else.")
        sent = await browser.post("/console/changes/accept", data=data)
        page = await browser.get(sent.headers["location"])

    assert "Nothing was accepted: the tool changed again" in plain(page.text)
    assert len(await held_changes(bench.store.definitions)) == 1


@pytest.mark.parametrize("role", [Role.VIEWER, Role.APPROVER])
async def test_only_an_admin_accepts(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    await change(bench)

    async with bench.browser() as browser:
        data = fields(await browser.get("/console/changes"))
        as_somebody(monkeypatch, role=role)
        page = await browser.get("/console/changes")
        sent = await browser.post("/console/changes/accept", data=data)

    assert "Accepting a change needs the role “admin”." in page.text
    assert sent.status_code == 403
    assert len(await held_changes(bench.store.definitions)) == 1


async def test_a_tool_that_has_changed_says_so_on_its_page(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = await change(bench)

    async def tools(**_: object) -> tuple[list[Tool], list[str]]:
        return [tool], []

    monkeypatch.setattr(bench.shelf, "tools", tools)
    async with bench.browser() as browser:
        words = plain((await browser.get("/console/tools/studio__note")).text)
        found = plain((await browser.get("/console/tools?findings=changed")).text)

    assert "This tool has changed and would be allowed more." in words
    assert "The stricter value counts until a person accepts the change." in words
    assert "1 of 1 tool" in found


async def test_a_tool_in_quarantine_is_shown_with_what_it_tried_and_is_lifted_once(
    bench: Bench,
) -> None:
    row = QuarantineRow("p", "note", "studio", bench.clock(), '["write /home/bo/<b>.txt"]')
    log, quarantines = bench.gateway.guard.audit, bench.store.quarantines
    assert await log.quarantine(quarantines, row, call="1", subject="bo")

    async with bench.browser() as browser:
        tools = plain((await browser.get("/console/tools")).text)
        page = await browser.get("/console/changes")
        form = page.text.partition("/changes/lift")[2].partition("</form>")[0]
        parts = [one.partition('" value="') for one in form.split('name="')[1:]]
        data = {name: value.partition('"')[0] for name, _, value in parts}
        sent = await browser.post("/console/changes/lift", data=data)
        lifted = plain((await browser.get(sent.headers["location"])).text)
        again = await browser.post("/console/changes/lift", data=data)
        gone = plain((await browser.get(again.headers["location"])).text)

    assert "One tool counts as read-only and tried to change something." in tools
    assert "write /home/bo/&lt;b&gt;.txt" in page.text
    assert "Lifted, and recorded with your name" in lifted
    assert "Nothing was lifted" in gone
    assert await bench.store.quarantines.all() == []
    (record, *_) = await bench.gateway.guard.audit.newest()
    assert record.event == "lifted"
