"""Whether the log is intact: looked for beside everything else, and told as it is."""

import re
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from tests.console.conftest import Bench, csrf_of
from tests.console.test_approvals import plain

from sayso.audit import AuditLog, open_audit
from sayso.audit.chain import payload_digest
from sayso.console.audit.chain import Checker
from sayso.errors import StoreError
from sayso.guard import Shutdown
from sayso.store import RecordRow

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def chained(bench: Bench, calls: int = 3) -> AsyncGenerator[AuditLog]:
    """A log with a chain, and some calls in it."""
    async with open_audit(bench.store, bench.gateway.keys, clock=bench.clock) as log:
        object.__setattr__(bench.gateway.guard, "audit", log)
        for _ in range(calls):
            await bench.call("studio__customers_list", {})
        yield log


async def checked(browser: httpx2.AsyncClient) -> str:
    """Press the button, and wait for the verdict."""
    page = await browser.get("/console/audit/chain")
    told = await browser.post("/console/audit/chain/check", data={"csrf": csrf_of(page)})
    assert (told.status_code, told.headers["location"]) == (303, "/console/audit/chain")
    with anyio.fail_after(60):
        while "Checking:" in (text := plain((await browser.get("/console/audit/chain")).text)):
            await anyio.sleep(0.005)
    return text


async def test_nothing_is_said_before_it_was_looked_at(bench: Bench) -> None:
    async with chained(bench), bench.browser() as browser:
        page = await browser.get("/console/audit/chain")
        listed = await browser.get("/console/audit")

    for shown in (page, listed):
        assert "has not been verified since sayso started" in shown.text
        assert "is intact:" not in shown.text


async def test_a_whole_log_is_said_to_be_whole(bench: Bench) -> None:
    async with chained(bench), bench.browser() as browser:
        text = await checked(browser)
        listed = plain((await browser.get("/console/audit")).text)

    assert "The log is intact: 7 lines, verified at" in text
    assert "7 lines in 1 chain, 0 not in a chain, 0 erased" in text
    assert "The log is intact:" in listed


async def test_a_changed_line_is_found_and_named(bench: Bench, tmp_path: Path) -> None:
    async with chained(bench):
        await bench.store.records.count()
        with sqlite3.connect(tmp_path / "sayso.db") as db:
            db.execute("UPDATE records SET body = replace(body, 'allow', 'deny') WHERE seq = 3")
        db.close()
        async with bench.browser() as browser:
            text = await checked(browser)
            page = (await browser.get("/console/audit/chain")).text
            listed = plain((await browser.get("/console/audit")).text)

    assert "The log was tampered with or damaged." in text
    assert "record 3" in text
    assert "its MAC does not match" in text
    assert re.search(r'href="/console/audit/\w+">the call', page)
    assert "The log was tampered with or damaged." in listed


async def test_many_mistakes_are_counted(bench: Bench) -> None:
    async with chained(bench) as log:
        strays = [
            RecordRow("", 1.0, "opened", "{}", writer="x", index=one) for one in range(25, 0, -1)
        ]
        await log.records.append(strays)
        async with bench.browser() as browser:
            text = await checked(browser)

    assert re.search(r"And \d+ more\.", text)


async def test_a_line_that_is_no_json_is_no_good_verdict(bench: Bench) -> None:
    async with chained(bench, 1) as log:
        await log.records.append(
            [RecordRow("", 1.0, "opened", "{}", payload="[", digest=payload_digest("["))]
        )
        async with bench.browser() as browser:
            text = await checked(browser)

    assert "The log was tampered with or damaged." in text
    assert "its payload is not a JSON object" in text


async def test_a_store_that_fails_is_no_good_verdict(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chained(bench):

        async def fail(*_: Any) -> None:
            raise StoreError("the disk is gone")

        monkeypatch.setattr("sayso.store.records.Records.scan", fail)
        async with bench.browser() as browser:
            text = await checked(browser)
        monkeypatch.undo()

    assert "The log could not be verified." in text
    assert "the disk is gone" in text


async def test_one_check_runs_at_a_time_and_ends_with_the_process(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutdown, begun = Shutdown(), anyio.Event()

    async def forever(*_: Any) -> None:
        begun.set()
        await anyio.sleep_forever()

    async with chained(bench) as log:
        checker = Checker(log, bench.gateway.keys, shutdown)
        shutdown.begin()
        await checker.wait()
        monkeypatch.setattr("sayso.store.records.Records.scan", forever)
        assert checker.start()
        assert not checker.start()
        with anyio.fail_after(60):
            await begun.wait()
            shutdown.begin()
            await checker.wait()
        monkeypatch.undo()

    assert (checker.progress, checker.verdict) == (None, None)


async def test_progress_is_shown_while_it_is_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, begun = anyio.Event(), anyio.Event()

    async def slowly(*_: Any) -> list[RecordRow]:
        begun.set()
        await go.wait()
        return []

    async with chained(bench), bench.browser() as browser:
        page = await browser.get("/console/audit/chain")
        monkeypatch.setattr("sayso.store.records.Records.scan", slowly)
        await browser.post("/console/audit/chain/check", data={"csrf": csrf_of(page)})
        with anyio.fail_after(60):
            await begun.wait()
        page = await browser.get("/console/audit/chain")
        listed = await browser.get("/console/audit")
        go.set()
        monkeypatch.undo()

    assert "Checking: 0 of" in page.text
    assert "<progress" in page.text
    assert "Check now" not in page.text
    assert "The log is being verified" in listed.text
