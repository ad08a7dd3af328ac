"""Usage of callers: conversations, uses, and the last minute, on both databases."""

from dataclasses import replace
from typing import Any

import anyio
import pytest
from tests.databases import Place

from sayso.store import Database, Lapse, Look, Quota, RecordRow, Use, UseRow, open_store

pytestmark = pytest.mark.anyio

NOW = 1_000_000.0
ROW = RecordRow("c", NOW, "attempt", "{}")
USE = Use("amy", "chat", "o/demo/t/f", "write", "{}", NOW, 1800.0)
LOOK = Look("amy", "chat", NOW, 1800.0, since=0.0, first_use=USE.tool, has_ticks=True)
HOSTILE = "a\0b\ud800c"


async def use(store: Database, at: float = NOW, **more: Any) -> None:
    assert await store.records.begin([ROW], replace(USE, at=at, **more)) is None


async def test_a_use_is_looked_back_on_as_the_last_of_its_kind(store: Database) -> None:
    await use(store)
    await use(store, NOW + 5)
    await use(store, NOW + 6, facts='{"n": 1}')
    found = await store.records.look(replace(LOOK, now=NOW + 7))
    assert found.uses == (
        UseRow(USE.tool, "{}", NOW + 5, True),  # noqa: FBT003 - as the row says it
        UseRow(USE.tool, '{"n": 1}', NOW + 6, True),  # noqa: FBT003
    )
    assert [one.at for one in found.ticks] == [NOW, NOW + 5, NOW + 6]
    assert not found.is_first_use


async def test_only_what_is_asked_for_is_looked_up(store: Database) -> None:
    await use(store)
    found = await store.records.look(replace(LOOK, since=None, first_use=None, has_ticks=False))
    assert (found.uses, found.ticks, found.is_first_use) == ((), (), False)
    assert (await store.records.look(replace(LOOK, since=NOW + 1))).uses == ()


async def test_a_first_use_is_a_callers_first_through_whatever_client(store: Database) -> None:
    assert (await store.records.look(LOOK)).is_first_use
    await use(store)
    assert not (await store.records.look(replace(LOOK, client="other"))).is_first_use
    assert (await store.records.look(replace(LOOK, subject="bo"))).is_first_use
    assert (await store.records.look(replace(LOOK, first_use="o/demo/t/changed"))).is_first_use


async def test_a_conversation_is_of_one_client_and_ends_in_silence(store: Database) -> None:
    await use(store)
    for client, now, is_same in [
        ("chat", NOW + 1799, True),
        ("chat", NOW + 1800, False),
        ("other", NOW, False),
    ]:
        (found,) = (await store.records.look(replace(LOOK, client=client, now=now))).uses
        assert found.is_same_conversation is is_same
    await use(store, NOW + 1800, tool="another")
    uses = (await store.records.look(replace(LOOK, now=NOW + 1801))).uses
    assert [one.is_same_conversation for one in uses] == [False, True]


async def test_asking_goes_on_with_a_conversation(store: Database) -> None:
    await use(store)
    body = '{"subject": "amy", "client": "chat"}'
    await store.questions.open("b", body, now=NOW + 1000, expires=NOW + 9999, idle=1800.0)
    (found,) = (await store.records.look(replace(LOOK, now=NOW + 2000))).uses
    assert found.is_same_conversation


async def test_a_clock_that_is_set_back_neither_ends_nor_shortens_a_conversation(
    store: Database,
) -> None:
    await use(store)
    await use(store, NOW - 5000, tool="later")
    found = await store.records.look(replace(LOOK, now=NOW - 5000))
    assert [one.last for one in found.uses] == [NOW - 5000, NOW]
    assert [one.is_same_conversation for one in found.uses] == [False, True]


@pytest.mark.parametrize(
    ("quota", "allowed"),
    [
        (Quota(2), 0),
        (Quota(3), 1),
        (Quota(1, level="write"), 0),
        (Quota(1, level="destructive"), 1),
        (Quota(2, level="write"), 1),
        (Quota(1, tool=USE.tool), 0),
        (Quota(1, tool="other"), 1),
    ],
)
async def test_a_call_beyond_a_quota_leaves_nothing_behind(
    store: Database, quota: Quota, allowed: int
) -> None:
    await use(store, NOW - 10)
    await use(store, NOW - 20, level="read", tool="reads")
    await use(store, NOW - 61)
    before = await store.records.count()
    assert await store.records.begin([ROW], USE, quotas=[Quota(99), quota]) == (
        None if allowed else quota
    )
    assert await store.records.count() == before + allowed
    assert len((await store.records.look(LOOK)).ticks) == 2 + allowed


async def test_of_many_at_once_in_several_processes_a_quota_lets_so_many_through(
    place: Place,
) -> None:
    stores = [open_store(place.url) for _ in range(4)]
    over: list[Quota | Lapse | None] = []

    async def one(index: int) -> None:
        over.append(await stores[index % 4].records.begin([ROW], USE, quotas=[Quota(5)]))

    async with anyio.create_task_group() as group:
        for index in range(32):
            group.start_soon(one, index)
    assert (over.count(None), len(over)) == (5, 32)
    assert await stores[0].records.count() == 5
    for opened in stores:
        await opened.close()


async def test_a_deferred_use_is_seen_by_whoever_looks(store: Database) -> None:
    await store.records.begin([ROW], USE, is_deferred=True)
    assert not (await store.records.look(LOOK)).is_first_use
    assert await store.records.begin([ROW], USE, quotas=[Quota(1)], is_deferred=True) == Quota(1)


async def test_names_that_no_database_can_hold_are_kept_all_the_same(store: Database) -> None:
    await use(store, subject=HOSTILE, client=HOSTILE)
    look = replace(LOOK, subject=HOSTILE, client=HOSTILE)
    found = await store.records.look(look)
    assert [one.is_same_conversation for one in found.uses] == [True]
    assert not found.is_first_use
    hostile = replace(USE, subject=HOSTILE, client=HOSTILE)
    assert await store.records.begin([ROW], hostile, quotas=[Quota(1)]) == Quota(1)
