"""The end of a call that cannot be written when it comes: kept, and written once when it can be."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from tests.audit.conftest import KEYS, facts
from tests.connect.serving import until
from tests.postgres import PostgresServer

from sayso.audit import AuditLog, Outcome, close_unfinished, deferred, lifecycle, open_audit
from sayso.audit.lifecycle import Owner
from sayso.audit.verifier import verify
from sayso.errors import StoreError
from sayso.store import Database, WriterRow, open_store

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deferred, "_AGAIN_SECONDS", 0.02)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Database]:
    opened = open_store(f"sqlite:{tmp_path / 'a.db'}")
    yield opened
    await opened.close()


class Away:
    """A store that takes no more lines for a while; `is_doubtful` where it has taken them."""

    def __init__(self, store: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_away, self.is_doubtful = False, False
        for name in ("append", "finish"):
            failing = self._failing(getattr(store.records, name))
            monkeypatch.setattr(store.records, name, failing)

    def _failing(self, work: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def run(*args: object, **more: object) -> object:
            if self.is_away and not self.is_doubtful:
                raise StoreError("it is away")
            found = await work(*args, **more)
            if self.is_away:
                raise StoreError("the connection was lost in mid-commit")
            return found

        return run


def dead(_row: WriterRow, _here: Owner) -> bool:
    return True


async def end(log: AuditLog, call: str, outcome: Outcome = Outcome.OK) -> None:
    with pytest.raises(StoreError):
        await log.outcome(facts(call=call), outcome, started=log.clock())


async def outcomes(store: Database) -> list[tuple[str, str]]:
    rows = [one for one in await store.records.newest(limit=10_000) if one.event == "outcome"]
    return sorted((one.call, json.loads(one.body)["outcome"]) for one in rows)


async def until_written(log: AuditLog) -> None:
    assert log.deferred is not None
    waiting = log.deferred
    await until(lambda: not waiting.count, 20)


@pytest.mark.parametrize("is_doubtful", [False, True])
async def test_an_end_that_could_not_be_written_is_written_once_and_as_it_was(
    store: Database, monkeypatch: pytest.MonkeyPatch, *, is_doubtful: bool
) -> None:
    away = Away(store, monkeypatch)
    async with open_audit(store, KEYS) as log:
        for call in ("c1", "c2", "c3"):
            await log.attempt(facts(call=call), None)
        away.is_away, away.is_doubtful = True, is_doubtful
        await end(log, "c1")
        await end(log, "c2", Outcome.TOOL_ERROR)
        await anyio.sleep(0.1)
        away.is_away = False
        await until_written(log)
        assert await outcomes(store) == [("c1", "ok"), ("c2", "tool_error")]
        await log.outcome(facts(call="c3"), Outcome.OK, started=log.clock())
        assert (await verify(store.records, KEYS)).problems == []
    assert await outcomes(store) == [("c1", "ok"), ("c2", "tool_error"), ("c3", "ok")]


async def test_what_waits_when_the_log_ends_is_written_before_the_rest_is_closed(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = Away(store, monkeypatch)
    monkeypatch.setattr(deferred, "_AGAIN_SECONDS", 60)
    async with open_audit(store, KEYS) as log:
        for call in ("c1", "c2"):
            await log.attempt(facts(call=call), None)
        away.is_away = True
        await end(log, "c1")
        away.is_away = False
    assert await outcomes(store) == [("c1", "ok"), ("c2", "outcome_unknown")]


async def test_a_call_that_another_process_has_closed_gets_no_second_end(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = Away(store, monkeypatch)
    async with open_audit(store, KEYS) as log, open_audit(store, KEYS) as other:
        await log.attempt(facts(call="c1"), None)
        away.is_away = True
        await end(log, "c1")
        monkeypatch.setattr(lifecycle, "is_dead", dead)
        assert await close_unfinished(other) == 1
        away.is_away = False
        await until_written(log)
        assert await outcomes(store) == [("c1", "outcome_unknown")]
        assert (await verify(store.records, KEYS)).problems == []


async def test_so_many_are_kept_and_no_more(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deferred, "_MAX_DEFERRED", 2)
    away = Away(store, monkeypatch)
    async with open_audit(store, KEYS) as log:
        for call in ("c1", "c2", "c3"):
            await log.attempt(facts(call=call), None)
        away.is_away = True
        for call in ("c1", "c2", "c3"):
            await end(log, call)
        away.is_away = False
        await until_written(log)
        assert await outcomes(store) == [("c1", "ok"), ("c2", "ok")]
    assert ("c3", "outcome_unknown") in await outcomes(store)


async def test_who_could_not_reach_the_store_closes_nobodys_calls_for_a_while(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one could not show that it lives either."""
    is_away = True
    beat, looked = store.records.beat, 0

    async def failing(writer: str, owner: str, *, seconds: float) -> None:
        if is_away and looked:
            raise StoreError("it is away")
        await beat(writer, owner, seconds=seconds)

    writers = store.records.writers

    async def looking() -> object:
        nonlocal looked
        looked += 1
        return await writers()

    monkeypatch.setattr(store.records, "beat", failing)
    monkeypatch.setattr(store.records, "writers", looking)
    async with open_audit(store, KEYS, lease=0.6):
        assert looked == 1
        await anyio.sleep(0.5)
        is_away = False
        await anyio.sleep(0.4)
        assert looked == 1
        await anyio.sleep(0.9)
        assert looked > 1


@pytest.mark.process
async def test_a_database_that_is_away_for_a_while_loses_no_end(
    postgres: PostgresServer,
) -> None:
    store = open_store(postgres.fresh())
    async with open_audit(store, KEYS) as log:
        await log.attempt(facts(call="c1"), None)
        await anyio.to_thread.run_sync(postgres.stop)
        try:
            await end(log, "c1")
        finally:
            await anyio.to_thread.run_sync(postgres.start)
        await until_written(log)
        assert await outcomes(store) == [("c1", "ok")]
        assert (await verify(store.records, KEYS)).problems == []
    await store.close()
