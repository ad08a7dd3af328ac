"""Keeping, answering once and using once, on both databases."""

from collections.abc import Sequence

import anyio
import pytest
from tests.databases import Place
from tests.postgres import PostgresServer

from sayso.errors import StoreError
from sayso.store import (
    AnswerRow,
    ApprovalState,
    Database,
    LogView,
    RecordRow,
    ReplicaRow,
    open_store,
)

pytestmark = pytest.mark.anyio

NOW = 1_000_000.0


async def ask(store: Database, binding: str = "b", now: float = NOW) -> int:
    row = await store.questions.open(binding, "{}", now=now, expires=now + 60)
    return row.number


async def answer(
    store: Database, number: int, *, is_allowed: bool = True, now: float = NOW
) -> bool:
    return await store.questions.answer(
        AnswerRow(number, "console", is_allowed, "console", "out_of_band", now, expires=now + 60)
    )


async def test_records_come_back_newest_first(store: Database) -> None:
    await store.records.append(
        [RecordRow("a", 1.0, "attempt", "{}"), RecordRow("a", 2.0, "outcome", "{}")]
    )
    await store.records.append([RecordRow("b", 3.0, "attempt", '{"x": "é"}')])
    assert [(row.call, row.event) for row in await store.records.newest()] == [
        ("b", "attempt"),
        ("a", "outcome"),
        ("a", "attempt"),
    ]
    assert [row.seq for row in await store.records.newest(call="a", limit=1)] == [2]


@pytest.mark.smoke
async def test_postgresql_keeps_and_answers(postgres: PostgresServer) -> None:
    url = postgres.fresh()
    store = open_store(url)
    await store.records.append([RecordRow("a", 1.0, "attempt", "{}")])
    assert await answer(store, await ask(store))
    await store.close()
    again = open_store(url)
    assert [row.call for row in await again.records.newest()] == ["a"]
    await again.close()
    postgres.drop(url)


async def test_the_same_question_is_joined_and_another_is_not(store: Database) -> None:
    assert await ask(store) == await ask(store)
    assert await ask(store, "other") != await ask(store)


async def test_64_callers_at_once_open_one_question(place: Place) -> None:
    stores = [open_store(place.url) for _ in range(4)]
    numbers: list[int] = []

    async def one(index: int) -> None:
        numbers.append(await ask(stores[index % 4]))

    async with anyio.create_task_group() as group:
        for index in range(64):
            group.start_soon(one, index)
    assert len(numbers) == 64
    assert len(set(numbers)) == 1
    for opened in stores:
        await opened.close()


async def test_of_64_answers_exactly_one_counts(place: Place) -> None:
    stores = [open_store(place.url) for _ in range(4)]
    number = await ask(stores[0])
    won: list[bool] = []

    async def one(index: int) -> None:
        won.append(await answer(stores[index % 4], number, is_allowed=index % 2 == 0))

    async with anyio.create_task_group() as group:
        for index in range(64):
            group.start_soon(one, index)
    assert (len(won), sum(won)) == (64, 1)
    for opened in stores:
        await opened.close()


async def test_of_64_calls_exactly_one_uses_an_approval(place: Place) -> None:
    stores = [open_store(place.url) for _ in range(4)]
    number = await ask(stores[0])
    assert await answer(stores[0], number)
    used: list[bool] = []

    async def one(index: int) -> None:
        store = stores[index % 4]
        used.append(await store.questions.use(number, binding="b", call=str(index), now=NOW))

    async with anyio.create_task_group() as group:
        for index in range(64):
            group.start_soon(one, index)
    assert (len(used), sum(used)) == (64, 1)
    for opened in stores:
        await opened.close()


async def test_only_what_was_approved_can_be_used(store: Database) -> None:
    number = await ask(store)
    assert not await store.questions.use(number, binding="b", call="c", now=NOW)
    assert await answer(store, number)
    assert not await store.questions.use(number, binding="other", call="c", now=NOW)
    assert not await store.questions.use(number, binding="b", call="c", now=NOW + 61)
    assert await store.questions.use(number, binding="b", call="c", now=NOW)
    row = await store.questions.find(number, now=NOW)
    assert row is not None
    assert (row.state, row.used_by, row.answered_by) == (ApprovalState.USED, "c", "console")


async def test_a_used_approval_does_not_answer_the_next_question(store: Database) -> None:
    number = await ask(store)
    await answer(store, number)
    await store.questions.use(number, binding="b", call="c", now=NOW)
    assert await ask(store) != number


async def test_a_denial_is_joined_for_a_while_and_then_forgotten(store: Database) -> None:
    number = await ask(store)
    assert await answer(store, number, is_allowed=False)
    assert await ask(store, now=NOW + 59) == number
    assert await ask(store, now=NOW + 61) != number


async def test_what_nobody_answered_in_time_can_no_longer_be_answered(store: Database) -> None:
    number = await ask(store)
    assert not await answer(store, number, now=NOW + 61)
    row = await store.questions.find(number, now=NOW + 61)
    assert row is not None
    assert row.state is ApprovalState.EXPIRED
    assert await ask(store, now=NOW + 61) != number


async def test_pending_questions_are_listed_first(store: Database) -> None:
    first, second = await ask(store, "1"), await ask(store, "2")
    await answer(store, second)
    rows = await store.questions.newest(now=NOW)
    assert [(row.number, row.state) for row in rows] == [(first, "pending"), (second, "approved")]
    assert await store.questions.find(99, now=NOW) is None


async def test_a_failed_write_leaves_nothing_behind(store: Database) -> None:
    good, bad = RecordRow("a", 1.0, "attempt", "{}"), RecordRow("a", 1.0, "attempt", None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(StoreError):
        await store.records.append([good, bad])
    assert await store.records.newest() == []


async def test_what_the_log_says_of_itself_is_read_to_its_beginning_newest_first(
    store: Database,
) -> None:
    of_calls = [RecordRow("a", 1.0, "attempt", "{}"), RecordRow("", 1.0, "erased", "{}")]
    own = [RecordRow("", float(at), "opened", str(at)) for at in range(1, 1502)]
    await store.records.append([*own[:700], *of_calls, *own[700:]], is_deferred=True)
    seal = Reading()
    await store.records.append([RecordRow("b", 2.0, "attempt", "{}")], seal=seal)
    assert [row.body for row in seal.read] == [str(at) for at in range(1501, 0, -1)]


class Reading:
    """A seal that reads the log in the transaction of its first record, and seals nothing."""

    writer = ""
    is_in_doubt = False
    is_new = True

    def __init__(self) -> None:
        self.read: list[RecordRow] = []

    def first(self, log: LogView) -> list[RecordRow]:
        self.read = list(log.about_itself(["opened"]))
        return []

    def recall(self, head: object) -> None:
        """Know nothing."""

    def seal(self, records: Sequence[RecordRow]) -> list[RecordRow]:
        return list(records)

    def settle(self, *, is_written: bool | None) -> None:
        """Keep nothing."""


async def test_replicas_are_listed_as_long_as_their_lease_runs(store: Database) -> None:
    one, other = ReplicaRow("r1", "http://a", "k"), ReplicaRow("r2", "http://b", "k")
    await store.replicas.beat(one, seconds=600)
    await store.replicas.beat(other, seconds=600)
    await store.replicas.beat(one, seconds=600)
    assert await store.replicas.all() == [one, other]
    await store.replicas.drop("r1")
    assert await store.replicas.all() == [other]
    await store.replicas.beat(other, seconds=-1)
    assert await store.replicas.all() == []
