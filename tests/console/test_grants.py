"""The grants page: what stands, in words, and taking it back on record."""

import json

import httpx2
import pytest
from tests.console.conftest import Bench, csrf_of
from tests.console.test_approvals import plain

from sayso.approvals import Answer
from sayso.console.entry.login import Session
from sayso.console.entry.roles import Role
from sayso.intent import Span

pytestmark = pytest.mark.anyio


async def given(bench: Bench, *, span: Span = Span.SESSION, is_narrow: bool = False) -> None:
    """A grant, as an answer gives it."""
    await bench.call()
    (newest, *_) = await bench.gateway.guard.approvals.newest()
    said = Answer(
        is_allowed=True, by="bo", channel="console", span=span, is_for_arguments=is_narrow
    )
    assert await bench.gateway.guard.approvals.answer(newest.number, said)


async def revoke(browser: httpx2.AsyncClient, number: str = "1") -> httpx2.Response:
    fields = {"csrf": csrf_of(await browser.get("/console/grants"))}
    return await browser.post(f"/console/grants/{number}/revoke", data=fields)


async def test_without_grants_there_is_a_word(bench: Bench) -> None:
    async with bench.browser() as browser:
        page = await browser.get("/console/grants")

    assert "There are no grants." in page.text


async def test_a_grant_is_told_in_words(bench: Bench) -> None:
    await given(bench, is_narrow=True)
    await bench.call()

    async with bench.browser() as browser:
        page = plain((await browser.get("/console/grants")).text)

    for shown in (
        "“ desk-agent ” may run “ Delete customer ” on “ studio ” for this machine’s user",
        "with exactly these arguments",
        "customer_id number 41",
        "by bo at",
        "through the console",
        "until its conversation ends",
        "once, last at",
    ):
        assert shown in page, shown


async def test_a_grant_of_a_conversation_that_is_over_holds_no_more(bench: Bench) -> None:
    await given(bench)
    bench.clock.now += 3600

    async with bench.browser() as browser:
        page = plain((await browser.get("/console/grants")).text)

    assert "no longer: its conversation has ended" in page
    assert "with any arguments" in page
    assert "Revoke" not in page


async def test_what_is_taken_back_asks_again_and_is_on_record(bench: Bench) -> None:
    await given(bench)
    await bench.call()
    async with bench.browser() as browser:
        told = await revoke(browser)
        page = plain((await browser.get(told.headers["location"])).text)
        again = await revoke_again(browser)
        late = plain((await browser.get(again.headers["location"])).text)
    # The approval that the grant came with is for one call more, and for five minutes.
    bench.clock.now += 301
    await bench.call()

    assert "Grant 1 was revoked, which is recorded in the log." in page
    assert "revoked by console at" in page
    assert "Grant 1 was no longer valid, so nothing was changed." in late
    log = await bench.gateway.guard.audit.newest()
    rows = [json.loads(row.body) | {"event": row.event} for row in log]
    (said,) = [row for row in rows if row["event"] == "revoked"]
    assert (said["grant"], said["tool"], said["subject"]) == (1, "customer_delete", "console")
    assert len(bench.ran) == 1


async def revoke_again(browser: httpx2.AsyncClient) -> httpx2.Response:
    fields = {"csrf": csrf_of(await browser.get("/console/"))}
    return await browser.post("/console/grants/1/revoke", data=fields)


@pytest.mark.parametrize("number", ["2", "0", "x", "1e9", "9" * 30])
async def test_a_grant_that_is_not_there_is_not_taken_back(bench: Bench, number: str) -> None:
    await given(bench)

    async with bench.browser() as browser:
        assert (await revoke(browser, number)).status_code == 404
        page = await browser.get(f"/console/grants?revoked={number}")
    assert (page.status_code, "was taken back" in page.text) == (200, False)


async def test_a_viewer_takes_nothing_back(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    await given(bench)

    async def session(*_: object) -> Session:
        return Session("c", bench.clock.now + 60, "amy", Role.VIEWER)

    monkeypatch.setattr("sayso.console.pages.Pages.session_of", session)
    async with bench.visitor() as browser:
        page = await browser.get("/console/grants")
        told = await browser.post("/console/grants/1/revoke", data={"csrf": "c"})
        check = await browser.post("/console/audit/chain/check", data={"csrf": "c"})

    assert "Revoke" not in page.text
    assert (told.status_code, check.status_code) == (403, 403)
    (grant,) = await bench.gateway.guard.approvals.list_grants()
    assert grant.holds
