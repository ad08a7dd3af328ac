"""Idempotency keys and single-use tokens, on both databases."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio
import pytest
from tests.databases import Place
from tests.postgres import PostgresServer

from sayso.store import Claim, Database, Lapse, RecordRow, Use, claims, open_store
from sayso.store.postgres import PostgresDriver
from sayso.store.session import Session

pytestmark = pytest.mark.anyio

NOW = 1_000_000.0
WANTED = Claim("k", "amy", "r", "c1", "w", expires=NOW + 60)


async def test_a_key_is_taken_by_the_first_and_shown_to_the_others(store: Database) -> None:
    assert await store.claims.take(WANTED, now=NOW) == WANTED
    assert await store.claims.take(replace(WANTED, call="c2", request="other"), now=NOW) == WANTED
    assert await store.claims.find("k") == WANTED
    assert await store.claims.find("other") is None


async def test_the_answer_is_kept_for_whoever_comes_later(store: Database) -> None:
    await store.claims.take(WANTED, now=NOW)
    await store.claims.settle("k", "somebody else", '{"a": 1}')
    assert await store.claims.find("k") == WANTED
    await store.claims.settle("k", "c1", '{"a": 1}')
    found = await store.claims.take(replace(WANTED, call="c2"), now=NOW)
    assert (found.call, found.answer) == ("c1", '{"a": 1}')


async def test_a_key_that_is_let_go_of_may_be_taken_again(store: Database) -> None:
    await store.claims.take(WANTED, now=NOW)
    await store.claims.settle("k", "somebody else", None)
    assert await store.claims.find("k") == WANTED
    await store.claims.settle("k", "c1", None)
    other = replace(WANTED, call="c2")
    assert await store.claims.take(other, now=NOW) == other


async def test_a_key_may_be_taken_again_when_it_has_expired(store: Database) -> None:
    await store.claims.take(WANTED, now=NOW)
    other = replace(WANTED, call="c2", expires=NOW + 120)
    assert await store.claims.take(other, now=NOW + 59) == WANTED
    assert await store.claims.take(other, now=NOW + 60) == other


async def test_of_64_callers_at_once_exactly_one_has_a_key(place: Place) -> None:
    stores = [open_store(place.url) for _ in range(4)]
    found: list[Claim] = []

    async def one(index: int) -> None:
        found.append(await stores[index % 4].claims.take(replace(WANTED, call=str(index)), now=NOW))

    async with anyio.create_task_group() as group:
        for index in range(64):
            group.start_soon(one, index)
    assert len({one.call for one in found}) == 1
    assert len(found) == 64
    for opened in stores:
        await opened.close()


async def test_a_dead_writers_keys_are_free_where_nothing_was_sent(store: Database) -> None:
    for key, writer in [("sent", "w"), ("unsent", "w"), ("done", "w"), ("alive", "v")]:
        await store.claims.take(Claim(key, "amy", "r", key, writer, expires=NOW + 60), now=NOW)
    await store.records.append([RecordRow("sent", NOW, "attempt", "{}")])
    await store.claims.settle("done", "done", "{}")
    for writer in ("v", "w"):
        await store.records.beat(writer, "1:2:3", seconds=60)
    assert await store.records.take_over("w", finish=lambda _: [], seal=Open()) == 0
    assert await store.records.take_over("w", finish=lambda _: [], seal=Open()) is None
    left = {key for key in ("sent", "unsent", "done", "alive") if await store.claims.find(key)}
    assert left == {"sent", "done", "alive"}


class Open:
    """A seal that seals nothing."""

    writer = ""
    is_in_doubt = False
    is_new = False

    def first(self, log: object) -> list[RecordRow]:
        del log
        return []

    def recall(self, head: object) -> None:
        """Know nothing."""

    def seal(self, records: object) -> list[RecordRow]:
        del records
        return []

    def settle(self, *, is_written: bool | None) -> None:
        """Keep nothing."""


async def test_a_token_is_spent_once_and_stays_so_when_the_clock_is_set_back(
    store: Database,
) -> None:
    assert await store.tokens.spend("t", now=NOW, expires=NOW + 60)
    assert not await store.tokens.spend("t", now=NOW, expires=NOW + 60)
    assert await store.tokens.spend("other", now=NOW + 29 * 86_400, expires=NOW + 30 * 86_400)
    assert not await store.tokens.spend("t", now=NOW - 86_400, expires=NOW + 60)


async def test_a_token_is_forgotten_a_month_after_it_is_void(store: Database) -> None:
    await store.tokens.spend("t", now=NOW, expires=NOW + 60)
    late = NOW + 60 + 30 * 86_400
    await store.tokens.spend("other", now=late, expires=late)
    assert [row[0] for row in (await store.dump())["spent"]] == ["other"]


async def test_of_64_at_once_exactly_one_spends_a_token(place: Place) -> None:
    stores = [open_store(place.url) for _ in range(4)]
    spent: list[bool] = []

    async def one(index: int) -> None:
        spent.append(await stores[index % 4].tokens.spend("t", now=NOW, expires=NOW + 60))

    async with anyio.create_task_group() as group:
        for index in range(64):
            group.start_soon(one, index)
    assert (len(spent), sum(spent)) == (64, 1)
    for opened in stores:
        await opened.close()


async def test_a_callers_name_that_no_database_can_hold_takes_a_key_all_the_same(
    store: Database,
) -> None:
    await store.claims.take(replace(WANTED, subject="a\0b\ud800"), now=NOW)
    found = await store.claims.find("k")
    assert found is not None
    assert found.subject == "a\ufffdb?"


class Slow:
    """A session that is slow to look who has a key: meanwhile it is let go of."""

    def __init__(self, session: Session, other: Session) -> None:
        self._session, self._other = session, other

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def query(self, sql: str, values: Mapping[str, Any] | None = None) -> Any:
        self._other.change("DELETE FROM claims WHERE call = 'first'")
        return self._session.query(sql, values)


@pytest.mark.process
def test_a_key_that_is_let_go_of_while_it_is_asked_for_is_taken_by_one(
    postgres: PostgresServer,
) -> None:
    driver = PostgresDriver(postgres.fresh())
    first, second = driver.open(), driver.open()
    claims.take(first, _claim("first"), now=0.0)
    slow: Any = Slow(second, first)
    assert claims.take(slow, _claim("second"), now=0.0).call == "second"
    assert claims.take(first, _claim("third"), now=0.0).call == "second"
    first.close()
    second.close()


def _claim(call: str) -> Claim:
    return Claim("k", "amy", "r", call, "w", expires=60.0)


async def test_the_keys_of_calls_that_go_on_are_named_with_their_calls(store: Database) -> None:
    for key in ("goes on", "sent", "ended", "settled"):
        await store.claims.take(replace(WANTED, key=key, call=f"call {key}"), now=NOW)
    await store.records.append(
        [RecordRow(f"call {key}", NOW, "attempt", "{}") for key in ("sent", "ended")]
    )
    await store.records.append([RecordRow("call ended", NOW, "outcome", "{}")])
    await store.claims.settle("settled", "call settled", "{}")
    asked = ["goes on", "sent", "ended", "settled", "other"]
    assert await store.claims.running(asked) == {("goes on", "call goes on"), ("sent", "call sent")}
    assert await store.claims.running([]) == set()


async def test_a_call_that_has_lost_its_key_is_not_begun(store: Database) -> None:
    await store.claims.take(WANTED, now=NOW)
    use = Use("amy", "chat", "t", "read", "{}", NOW, 1800.0, claim="k")
    assert await store.records.begin([RecordRow("c1", NOW, "attempt", "{}")], use) is None
    assert await store.records.begin([RecordRow("c2", NOW, "attempt", "{}")], use) == Lapse(
        claim="k"
    )
    assert [row.call for row in await store.records.newest()] == ["c1"]
