"""The first record of a chain: when it is written, what it names, and what that finds."""

import json
import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.audit.conftest import KEYS, facts

from sayso.audit import AuditLog, Outcome, drop_before, open_audit
from sayso.audit.verifier import Report, verify
from sayso.errors import StoreError
from sayso.store import Database, RecordRow, open_store

pytestmark = pytest.mark.anyio

BEGINNINGS = ("opened", "checkpoint")


async def call(log: AuditLog, name: str, at: float = 1.0) -> None:
    """Record one call from its attempt to its end."""
    log = replace(log, clock=lambda: at)
    await log.attempt(facts(call=name), None)
    await log.outcome(facts(call=name), Outcome.OK, started=at)


async def start(store: Database, name: str = "", at: float = 1.0) -> str:
    """Start a process that makes one call, or none; return the name of its chain."""
    async with open_audit(store, KEYS, clock=lambda: at) as log:
        if name:
            await call(log, name, at)
    return log.writer


async def namings(store: Database) -> list[RecordRow]:
    return [row for row in await store.records.scan(0, 1000) if row.event in BEGINNINGS]


async def names(store: Database) -> list[int]:
    """Return how many ends each beginning of a chain names, oldest first."""
    return [len(json.loads(row.body)["heads"]) for row in await namings(store)]


def cut(path: Path, writer: str, left: int) -> None:
    """Delete what follows the first records of a chain, as somebody with the file could."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM records WHERE writer = ? AND idx > ?", (writer, left))


def rewrite(path: Path, seq: int, body: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE records SET body = ? WHERE seq = ?", (body, seq))


async def check(path: Path) -> Report:
    store = open_store(f"sqlite:{path}")
    report = await verify(store.records, KEYS)
    await store.close()
    return report


async def test_a_process_that_is_never_called_writes_no_record(store: Database) -> None:
    for _ in range(20):
        await start(store)
    assert await store.records.count() == 0
    await start(store, "c")
    assert [row.event for row in await store.records.scan(0, 9)] == ["opened", "attempt", "outcome"]
    assert (await verify(store.records, KEYS)).problems == []


async def test_each_end_of_a_chain_is_named_once(store: Database) -> None:
    for number in range(12):
        await start(store, f"c{number}")
    assert await names(store) == [0] + [1] * 11
    assert (await verify(store.records, KEYS)).problems == []


async def test_chains_that_go_on_are_named_again_and_chains_that_ended_are_not(
    store: Database,
) -> None:
    ended = await start(store, "ended")
    async with open_audit(store, KEYS) as living:
        await call(living, "a")
        await start(store, "b")
        await call(living, "c")
        await start(store, "d")
        named = [json.loads(row.body)["heads"] for row in await namings(store)]
        assert [ended in heads for heads in named] == [False, True, False, False]
        assert [heads.get(living.writer, [0])[0] for heads in named] == [0, 0, 3, 5]
    assert (await verify(store.records, KEYS)).problems == []


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_is_cut_from_earlier_chains_is_found(tmp_path: Path, seed: int) -> None:
    """Without the newest chain, which only a head kept elsewhere protects."""
    path, chance = tmp_path / "sayso.db", random.Random(seed)  # noqa: S311 - not for a secret
    store = open_store(f"sqlite:{path}")
    async with open_audit(store, KEYS) as living:
        chains = [await start(store, f"c{number}") for number in range(4)]
        await call(living, "living")
        chains += [await start(store, f"d{number}") for number in range(3)]
    newest = await start(store, "newest")
    assert (await verify(store.records, KEYS)).problems == []
    await store.close()
    chains.append(living.writer)
    assert newest not in chains
    for writer in chance.sample(chains, chance.randint(1, 8)):
        cut(path, writer, chance.randint(0, 2))
    assert (await check(path)).problems != []


async def test_a_tail_cut_between_the_start_and_the_first_call_is_found(tmp_path: Path) -> None:
    path = tmp_path / "sayso.db"
    store = open_store(f"sqlite:{path}")
    first, second = await start(store, "a"), await start(store, "b")
    async with open_audit(store, KEYS) as log:
        cut(path, first, 2)
        cut(path, second, 0)
        await call(log, "c")
    problems = (await verify(store.records, KEYS)).problems
    assert {(one.writer, one.index) for one in problems} == {(first, 3), (second, 1)}
    await store.close()


async def test_a_record_that_was_changed_to_name_an_end_does_not_count(tmp_path: Path) -> None:
    """Else its true text could be put back later, and nothing would name that end."""
    path = tmp_path / "sayso.db"
    store = open_store(f"sqlite:{path}")
    await start(store, "a")
    second = await start(store, "b")
    opened = (await namings(store))[1]
    end = next(head for head in await store.records.heads() if head.writer == second)
    claims = json.dumps({"heads": {end.writer: [end.index, end.mac]}})
    rewrite(path, opened.seq, claims)
    await start(store, "c")
    rewrite(path, opened.seq, opened.body)
    assert (await verify(store.records, KEYS)).problems == []
    cut(path, second, 2)
    assert [one.writer for one in (await verify(store.records, KEYS)).problems] == [second]
    await store.close()


async def test_an_end_stays_named_when_the_record_that_named_it_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "sayso.db"
    store = open_store(f"sqlite:{path}")
    # The clock of the second process is behind, so its records go first.
    kept = await start(store, "a", at=5_000.0)
    await start(store, "b", at=100.0)
    async with open_audit(store, KEYS, clock=lambda: 6_000.0) as log:
        assert await drop_before(log, KEYS, 1_000.0) == 3
    await start(store, "c", at=6_000.0)
    assert (await verify(store.records, KEYS)).problems == []
    cut(path, kept, 2)
    assert kept in {one.writer for one in (await verify(store.records, KEYS)).problems}
    await store.close()


async def test_a_checkpoint_repeats_only_what_is_dropped_with_it(store: Database) -> None:
    heads = {}
    sizes: list[int] = []
    for day in range(1, 13):
        await start(store, f"c{day}", at=day * 100.0)
        heads |= {head.writer: head for head in await store.records.heads()}
        async with open_audit(store, KEYS, clock=lambda at=day * 100.0: at) as log:
            # What is older than five days goes.
            await drop_before(log, KEYS, (day - 5) * 100.0 + 50)
        sizes.append(sum(len(json.loads(row.body)["dropped"]) for row in await namings(store)
                         if row.event == "checkpoint"))  # fmt: skip
    report = await verify(store.records, KEYS, known=heads)
    assert report.problems == []
    # Each dropped chain stands in one checkpoint, not in each: in all 16 chains were dropped.
    assert sizes[-1] <= len(heads)


async def test_a_chain_whose_first_record_could_not_be_written_begins_again(
    store: Database,
) -> None:
    async with open_audit(store, KEYS) as log:
        with pytest.raises(StoreError):
            await store.records.append([RecordRow("c", 1.0, None, "{}")], seal=log.chain)  # pyright: ignore[reportArgumentType]
        assert await store.records.count() == 0
        await call(log, "a")
    report = await verify(store.records, KEYS)
    assert (report.records, report.problems) == (3, [])


async def test_records_in_no_chain_get_one_at_the_start(store: Database) -> None:
    await call(AuditLog(store.records), "old")
    assert (await verify(store.records, KEYS)).problems != []
    await start(store)
    report = await verify(store.records, KEYS)
    assert (report.records, report.unchained, report.problems) == (3, 2, [])
