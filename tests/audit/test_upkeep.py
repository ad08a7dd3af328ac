"""What becomes of the log over time: erased, dropped, taken over, moved; and always verifiable."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from tests.audit.conftest import KEYS, facts
from tests.databases import Place
from tests.sample_tools import AMY, READ

from sayso.audit import (
    AuditLog,
    Chain,
    Outcome,
    close_unfinished,
    drop_before,
    erase_subject,
    heads_file,
    open_audit,
    read_heads,
)
from sayso.audit.lifecycle import Owner
from sayso.audit.verifier import verify
from sayso.errors import StoreError, UsageError
from sayso.keys import Keyring
from sayso.store import AnswerRow, Claim, Database, Head, Look, RecordRow, Use, open_store
from sayso.store.database import move_store

pytestmark = pytest.mark.anyio

BOB = replace(AMY, subject="bob")


async def call(log: AuditLog, number: int, *, at: float | None = None, bob: bool = False) -> None:
    """One call from its attempt to its end."""
    who = BOB if bob else AMY
    told = facts(
        {"n": number, "mail": f"{who.subject}@example.com"}, call=f"c{number}", principal=who
    )
    if at is not None:
        log = replace(log, clock=lambda: at)
    await log.attempt(told, None)
    await log.outcome(told, Outcome.OK, started=log.clock(), result={"n": number})


async def test_a_log_is_chained_from_its_first_line(log: AuditLog) -> None:
    await call(log, 1)
    report = await verify(log.records, KEYS)
    assert (report.records, report.unchained, report.problems) == (3, 0, [])
    assert log.chain is not None
    assert report.heads == [log.chain.head]


async def test_an_error_inside_comes_out_as_it_is(store: Database) -> None:
    with pytest.raises(UsageError, match="mine"):
        async with open_audit(store, KEYS):
            raise UsageError("mine")


async def test_many_calls_at_once_make_one_chain(log: AuditLog) -> None:
    async with anyio.create_task_group() as group:
        for number in range(200):
            group.start_soon(call, log, number)
    report = await verify(log.records, KEYS)
    assert (report.records, report.problems) == (401, [])
    assert report.heads[0].index == 401


async def test_lines_about_reads_are_seen_at_once_by_whoever_reads_here(log: AuditLog) -> None:
    told = facts(annotations=READ)
    await log.attempt(told, None)
    await log.outcome(told, Outcome.OK, started=0.0)
    assert [row.event for row in await log.newest(call="c1")] == ["outcome", "attempt"]


async def test_an_erased_person_is_gone_and_the_log_still_verifies(
    log: AuditLog, store: Database
) -> None:
    for number in range(4):
        await call(log, number, bob=number % 2 == 0)
    row = await store.questions.open("b1", json.dumps({"subject": "bob"}), now=0.0, expires=1.0)
    await store.questions.open("b2", json.dumps({"subject": "bob"}), now=0.0, expires=9e9)
    done = await erase_subject(log, "bob")
    assert (done.records, done.still_open) == (4, 1)
    assert await store.questions.find(row.number, now=0.0) is None
    rows = await log.newest()
    assert "bob" not in "".join(f"{one.body}{one.payload}{one.subject}" for one in rows)
    assert {json.loads(one.body).get("subject") for one in rows if one.call == "c0"} == {"(erased)"}
    report = await verify(log.records, KEYS)
    assert (report.erased, report.problems) == (4, [])
    assert (await erase_subject(log, "nobody")).records == 0


async def test_old_records_are_dropped_and_the_rest_still_verifies(
    log: AuditLog, store: Database
) -> None:
    old = replace(log, clock=lambda: 100.0)
    for number in range(3):
        await call(old, number, bob=True)
    await erase_subject(old, "bob")
    async with open_audit(store, KEYS, clock=lambda: 200.0) as second:
        await call(second, 10)
        await call(second, 11, at=5_000.0)
        # The first line of the first chain is of today, so that chain loses nothing.
        assert await drop_before(second, KEYS, 1_000.0) == 3
        assert await drop_before(second, KEYS, 50.0) == 0
        report = await verify(store.records, KEYS)
        assert report.problems == []
        assert report.erased == 6
        assert await drop_before(second, KEYS, 6_000.0) == 3
    report = await verify(store.records, KEYS)
    assert report.problems == []


async def test_a_chain_dropped_as_a_whole_is_not_missed(store: Database) -> None:
    async with open_audit(store, KEYS, clock=lambda: 100.0) as first:
        await call(first, 1)
        await call(first, 2, bob=True)
        await erase_subject(first, "bob")
    async with open_audit(store, KEYS, clock=lambda: 2_000.0) as second:
        assert await drop_before(second, KEYS, 1_000.0) == 6
        known = {one.writer: one for one in (await verify(store.records, KEYS)).heads}
        assert first.chain is not None
        assert first.chain.head is not None
        known[first.chain.head.writer] = first.chain.head
    report = await verify(store.records, KEYS, known=known)
    assert (report.records, report.problems) == (2, [])


async def test_nothing_is_dropped_from_a_log_that_does_not_verify(log: AuditLog) -> None:
    await call(log, 1)
    with pytest.raises(StoreError, match="does not verify"):
        await drop_before(log, Keyring.of([b"x" * 32]), 9e9)


async def test_what_a_dead_writer_left_open_is_closed_and_a_living_one_is_left_alone(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Owner, "this", lambda: Owner("", 0, ""))
    async with open_audit(store, KEYS) as alive, open_audit(store, KEYS, lease=3600.0) as mine:
        await alive.attempt(facts(call="living"), None)
        await _leave_open(store)
        async with anyio.create_task_group() as group:
            for log in (alive, mine, alive, mine):
                group.start_soon(close_unfinished, log)
        rows = await mine.newest(call="dead")
        assert [row.event for row in rows] == ["outcome", "attempt"]
        body = json.loads(rows[0].body)
        assert (body["outcome"], body["severity"]) == ("outcome_unknown", "critical")
        assert body["subject"] == AMY.subject
        assert [row.event for row in await mine.newest(call="done")] == ["outcome", "attempt"]
        assert [row.event for row in await mine.newest(call="living")] == ["attempt"]
    # A log that is closed takes its own open calls along.
    assert len(await alive.newest(call="living")) == 2
    assert (await verify(store.records, KEYS)).problems == []


async def _leave_open(store: Database) -> None:
    """A writer that ends without a word, with one call open."""
    gone = AuditLog(store.records, chain=Chain.begin(KEYS))
    assert gone.chain is not None
    await gone.attempt(facts(call="dead"), None)
    await gone.attempt(facts(call="done"), None)
    await gone.outcome(facts(call="done"), Outcome.OK, started=0.0)
    await store.records.beat(gone.chain.writer, "elsewhere:1:1", seconds=0.0)


async def test_a_call_that_was_tried_several_times_gets_one_end(store: Database) -> None:
    gone = AuditLog(store.records, chain=Chain.begin(KEYS))
    for number in (1, 2, 3):
        await gone.attempt(replace(facts(call="dead"), more={"try": number}), None)
    await store.records.beat(gone.writer, "elsewhere:1:1", seconds=0.0)
    async with open_audit(store, KEYS) as log:
        rows = await log.newest(call="dead")
    assert [row.event for row in rows] == ["outcome", "attempt", "attempt", "attempt"]
    assert json.loads(rows[0].body)["try"] == 3


async def test_records_from_before_the_chains_are_vouched_for_as_they_were_found(
    tmp_path: Path,
) -> None:
    path = tmp_path / "sayso.db"
    store = open_store(f"sqlite:{path}")
    await call(AuditLog(store.records), 1)
    first = (await verify(store.records, KEYS)).first
    assert first is not None
    assert "not in a chain" in first.what
    async with open_audit(store, KEYS) as log:
        await call(log, 2)
        assert (await verify(store.records, KEYS)).problems == []
        assert await drop_before(log, KEYS, 1.0) == 0
    await store.close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE records SET body = '{}' WHERE seq = 1")
    db.close()
    store = open_store(f"sqlite:{path}")
    first = (await verify(store.records, KEYS)).first
    assert first is not None
    assert "before the chains was changed" in first.what
    await call(AuditLog(store.records), 3)
    problems = (await verify(store.records, KEYS)).problems
    assert "inserted outside the chains" in problems[0].what
    await store.close()


async def test_records_from_before_the_chains_are_dropped_too(store: Database) -> None:
    await call(AuditLog(store.records, clock=lambda: 10.0), 1)
    await call(AuditLog(store.records, clock=lambda: 5_000.0), 2)
    async with open_audit(store, KEYS, clock=lambda: 6_000.0) as log:
        assert await drop_before(log, KEYS, 1_000.0) == 2
        report = await verify(store.records, KEYS)
        assert (report.unchained, report.problems) == (2, [])


async def test_a_chain_that_was_removed_as_a_whole_is_named_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "sayso.db"
    store = open_store(f"sqlite:{path}")
    async with open_audit(store, KEYS) as log:
        await call(log, 1)
    async with open_audit(store, KEYS) as other:
        await call(other, 2)
    await store.close()
    assert log.chain is not None
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM records WHERE writer = ? AND idx > 1", (log.chain.writer,))
    db.close()
    store = open_store(f"sqlite:{path}")
    first = (await verify(store.records, KEYS)).first
    assert first is not None
    assert (first.writer, first.index) == (log.chain.writer, 2)
    await store.close()


async def test_heads_go_to_a_file_and_find_a_cut_tail(place: Place, tmp_path: Path) -> None:
    store, file = open_store(place.url), tmp_path / "heads"
    async with open_audit(store, KEYS, emit=heads_file(file), lease=0.03) as log:
        await call(log, 1)
        with anyio.fail_after(60):
            while not file.exists() or '"index": 3' not in file.read_text():
                await anyio.sleep(0.005)
    known = read_heads(["not one", *file.read_text().splitlines(), "2026 INFO {broken"])
    assert [one.index for one in known.values()] == [3]
    assert (await verify(store.records, KEYS, known=known)).problems == []
    further = {name: Head(name, 9, "0") for name in known}
    assert (await verify(store.records, KEYS, known=further)).first is not None
    with pytest.raises(UsageError, match="no chain head"):
        read_heads(["{}", "[1]"])
    await store.close()


async def test_heads_that_cannot_be_written_do_not_stop_the_log(
    store: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_audit(store, KEYS, emit=heads_file(tmp_path / "no" / "heads")) as log:
        await call(log, 1)
    assert "cannot write" in caplog.text


async def test_a_log_whose_store_is_gone_says_so_and_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(f"sqlite:{tmp_path / 'sayso.db'}")
    async with open_audit(store, KEYS, lease=0.03):
        await store.close()
        with anyio.fail_after(60):
            while "heartbeat failed" not in caplog.text:
                await anyio.sleep(0.005)
    assert "could not be closed properly" in caplog.text


async def test_a_log_without_a_chain_has_nothing_to_keep(store: Database) -> None:
    for work in (
        erase_subject(AuditLog(store.records), "amy"),
        close_unfinished(AuditLog(store.records)),
    ):
        if work.__name__ == "close_unfinished":
            await store.records.beat("w", "elsewhere:1:1", seconds=0.0)
        with pytest.raises(StoreError, match="no chain"):
            await work


async def test_a_log_verifies_after_a_move_to_the_other_database(
    store: Database, tmp_path: Path, place: Place
) -> None:
    async with open_audit(store, KEYS) as log:
        for number in range(5):
            await call(log, number, bob=number == 2)
        await erase_subject(log, "bob")
    row = await store.questions.open("b", '{"subject": "amy"}', now=1.0, expires=2.0)
    if place.server is not None:
        other = open_store(f"sqlite:{tmp_path / 'other.db'}")
    else:
        other = open_store(f"sqlite:{tmp_path / 'copy.db'}")
    assert await move_store(store, other) == 12
    report = await verify(other.records, KEYS)
    assert (report.records, report.problems) == (12, [])
    assert await other.questions.find(row.number, now=1.0) == row
    await other.records.append([replace((await other.records.newest(limit=1))[0], writer="")])
    assert (await other.records.newest(limit=1))[0].seq == 13
    with pytest.raises(UsageError, match="not empty"):
        await move_store(store, other)
    await other.close()


@pytest.mark.process
async def test_a_log_moves_to_postgresql_and_goes_on_there(
    tmp_path: Path, postgres: object
) -> None:
    source = open_store(f"sqlite:{tmp_path / 'sayso.db'}")
    async with open_audit(source, KEYS) as log:
        await call(log, 1)
    row = await source.questions.open("b", "{}", now=1.0, expires=2.0)
    target = open_store(postgres.fresh())  # pyright: ignore[reportAttributeAccessIssue]
    seen: list[int] = []
    assert await move_store(source, target, seen.append) == 3
    assert seen == [3]
    async with open_audit(target, KEYS) as log:
        await call(log, 2)
    assert (await verify(target.records, KEYS)).problems == []
    after = await target.questions.open("c", "{}", now=1.0, expires=2.0)
    assert after.number == row.number + 1
    await source.close()
    await target.close()


async def test_what_was_spent_claimed_and_granted_moves_too(
    store: Database, tmp_path: Path
) -> None:
    claim = Claim("k", "amy", "request", "call", "", None, 9e9)
    assert await store.tokens.spend("token", now=1.0, expires=9.0)
    await store.claims.take(claim, now=1.0)
    await store.records.begin([RecordRow("c", 1.0, "attempt", "{}")], USE)
    row = await store.questions.open("b", BODY, now=1.0, expires=9.0)
    answer = AnswerRow(row.number, "bo", True, "x", "y", 1.0, expires=9.0)  # noqa: FBT003
    assert await store.questions.answer(answer, grant=GRANT)
    other = open_store(f"sqlite:{tmp_path / 'moved.db'}")
    await move_store(store, other)
    assert not await other.tokens.spend("token", now=2.0, expires=9.0)
    assert await other.claims.find("k") == claim
    assert await other.grants.newest() == await store.grants.newest() != []
    assert (
        await other.questions.answers(row.number) == await store.questions.answers(row.number) != []
    )
    look = Look("amy", "chat", now=2.0, idle=60.0, since=0.0, first_use="t", has_ticks=True)
    assert await other.records.look(look) == await store.records.look(look)
    assert not (await other.records.look(look)).is_first_use
    await other.close()


USE = Use("amy", "chat", "t", "write", "{}", 1.0, 60.0)
BODY = '{"subject": "amy", "client": "chat"}'
GRANT = {
    "binding": "g", "subject": "amy", "client": "chat", "span": "session", "body": "{}",
    "is_for_conversation": True, "approval": 1, "given_by": "bo", "channel": "x", "created": 1.0,
}  # fmt: skip
