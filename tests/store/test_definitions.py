"""Tools as they are defined, in the store: one row each, whoever writes. On both databases."""

from dataclasses import replace

import pytest
from tests.audit.conftest import KEYS
from tests.databases import Place

from avow.audit import AuditLog, erase_subject, open_audit
from avow.audit.verify import verify
from avow.store import DefinitionRow, Known, RecordRow, Store, open_store
from avow.store.move import move_store

pytestmark = pytest.mark.anyio

NOW = 1_000_000.0
ONE = DefinitionRow("p", "note", "s", '{"name": "note"}', "m1", NOW)
HELD = replace(ONE, held='{"a": 1}', held_mark="m2", held_since=NOW + 1, revision=2)
RECORD = RecordRow("", NOW, "accepted", "{}")


async def test_a_tool_is_known_once_it_was_put(store: Store) -> None:
    assert await store.known("p") == {}
    await store.put_definitions([ONE, replace(ONE, tool="\ufffd", place="q")])
    assert await store.known("p") == {"note": Known("m1")}
    assert await store.definitions("p") == [ONE]
    assert [row.place for row in await store.definitions()] == ["p", "q"]
    assert await store.definitions(is_held=True) == []


async def test_what_somebody_else_wrote_in_the_meantime_stays(store: Store) -> None:
    await store.put_definitions([ONE])
    await store.put_definitions([replace(ONE, definition="{}", mark="other")])
    assert await store.definitions("p") == [ONE]
    await store.put_definitions([HELD])
    await store.put_definitions([replace(HELD, held_mark="m3")])
    assert await store.definitions("p", is_held=True) == [HELD]
    assert await store.known("p") == {"note": Known("m1", None, "m2")}


async def test_what_is_held_is_accepted_once_and_on_record(store: Store) -> None:
    await store.put_definitions([HELD])
    other = replace(HELD, held_mark="m3")
    accept = store.accept_definition
    assert not await accept(other, by="bo", now=NOW + 2, record=RECORD, seal=None)
    assert await store.records() == []
    assert await accept(HELD, by="bo\0", now=NOW + 2, record=RECORD, seal=None)
    assert not await accept(HELD, by="bo", now=NOW + 3, record=RECORD, seal=None)
    assert [row.event for row in await store.records()] == ["accepted"]
    (row,) = await store.definitions()
    assert (row.definition, row.mark, row.since) == ('{"a": 1}', "m2", NOW + 2)
    assert (row.held, row.held_mark, row.held_since) == (None, None, None)
    assert (row.accepted, row.accepted_by, row.accepted_at) == ("m2", "bo\ufffd", NOW + 2)
    assert row.revision == 3


async def test_who_accepted_stays_when_the_tool_changes_again_and_can_be_erased(
    store: Store,
) -> None:
    async with open_audit(store, KEYS) as log:
        await store.put_definitions([HELD])
        assert await log.accept(HELD, changes=["it reads"], by="bo")
        (row,) = await store.definitions()
        await store.put_definitions([replace(row, mark="m4", revision=row.revision + 1)])
        assert (await store.known("p"))["note"].accepted == "m2"
        (newest, *_) = await log.newest()
        assert '"subject": "bo"' in newest.body
        assert newest.event == "accepted"
        await erase_subject(log, "bo")
        (row,) = await store.definitions()
        assert row.accepted_by == "erased"
        assert (await verify(store, KEYS)).problems == []


async def test_without_a_chain_an_acceptance_is_on_record_all_the_same(store: Store) -> None:
    await store.put_definitions([HELD])
    assert await AuditLog(store).accept(HELD, changes=[], by="bo")
    assert not await AuditLog(store).accept(HELD, changes=[], by="bo")
    assert await store.count() == 1


async def test_definitions_move_with_the_store(place: Place) -> None:
    old, new = open_store(place.url), open_store(_beside(place))
    await old.put_definitions([HELD])
    await move_store(old, new, lambda _: None)
    assert await new.definitions() == [HELD]
    await old.close()
    await new.close()


def _beside(place: Place) -> str:
    if place.server is not None:
        return place.server.fresh()
    return f"{place.url}.moved"
