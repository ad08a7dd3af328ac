"""Tools as they are defined, in the store: one row each, whoever writes. On both databases."""

from dataclasses import replace

import pytest
from tests.audit.conftest import KEYS
from tests.databases import Place

from sayso.audit import AuditLog, erase_subject, open_audit
from sayso.audit.verifier import verify
from sayso.store import Database, DefinitionRow, Known, RecordRow, open_store
from sayso.store.database import move_store

pytestmark = pytest.mark.anyio

NOW = 1_000_000.0
ONE = DefinitionRow("p", "note", "s", '{"name": "note"}', "m1", NOW)
HELD = replace(ONE, held='{"a": 1}', held_mark="m2", held_since=NOW + 1, revision=2)
RECORD = RecordRow("", NOW, "accepted", "{}")


async def test_a_tool_is_known_once_it_was_put(store: Database) -> None:
    assert await store.definitions.known("p") == {}
    await store.definitions.put([ONE, replace(ONE, tool="\ufffd", place="q")])
    assert await store.definitions.known("p") == {"note": Known("m1")}
    assert await store.definitions.all("p") == [ONE]
    assert [row.place for row in await store.definitions.all()] == ["p", "q"]
    assert await store.definitions.all(is_held=True) == []


async def test_what_somebody_else_wrote_in_the_meantime_stays(store: Database) -> None:
    await store.definitions.put([ONE])
    await store.definitions.put([replace(ONE, definition="{}", mark="other")])
    assert await store.definitions.all("p") == [ONE]
    await store.definitions.put([HELD])
    await store.definitions.put([replace(HELD, held_mark="m3")])
    assert await store.definitions.all("p", is_held=True) == [HELD]
    assert await store.definitions.known("p") == {"note": Known("m1", None, "m2")}


async def test_what_is_held_is_accepted_once_and_on_record(store: Database) -> None:
    await store.definitions.put([HELD])
    other = replace(HELD, held_mark="m3")
    accept = store.definitions.accept
    assert not await accept(other, by="bo", now=NOW + 2, record=RECORD, seal=None)
    assert await store.records.newest() == []
    assert await accept(HELD, by="bo\0", now=NOW + 2, record=RECORD, seal=None)
    assert not await accept(HELD, by="bo", now=NOW + 3, record=RECORD, seal=None)
    assert [row.event for row in await store.records.newest()] == ["accepted"]
    (row,) = await store.definitions.all()
    assert (row.definition, row.mark, row.since) == ('{"a": 1}', "m2", NOW + 2)
    assert (row.held, row.held_mark, row.held_since) == (None, None, None)
    assert (row.accepted, row.accepted_by, row.accepted_at) == ("m2", "bo\ufffd", NOW + 2)
    assert row.revision == 3


async def test_who_accepted_stays_when_the_tool_changes_again_and_can_be_erased(
    store: Database,
) -> None:
    async with open_audit(store, KEYS) as log:
        await store.definitions.put([HELD])
        assert await log.accept(store.definitions, HELD, changes=["it reads"], by="bo")
        (row,) = await store.definitions.all()
        await store.definitions.put([replace(row, mark="m4", revision=row.revision + 1)])
        assert (await store.definitions.known("p"))["note"].accepted == "m2"
        (newest, *_) = await log.newest()
        assert '"subject": "bo"' in newest.body
        assert newest.event == "accepted"
        await erase_subject(log, "bo")
        (row,) = await store.definitions.all()
        assert row.accepted_by == "erased"
        assert (await verify(store.records, KEYS)).problems == []


async def test_without_a_chain_an_acceptance_is_on_record_all_the_same(store: Database) -> None:
    await store.definitions.put([HELD])
    assert await AuditLog(store.records).accept(store.definitions, HELD, changes=[], by="bo")
    assert not await AuditLog(store.records).accept(store.definitions, HELD, changes=[], by="bo")
    assert await store.records.count() == 1


async def test_definitions_move_with_the_store(place: Place) -> None:
    old, new = open_store(place.url), open_store(_beside(place))
    await old.definitions.put([HELD])
    await move_store(old, new, lambda _: None)
    assert await new.definitions.all() == [HELD]
    await old.close()
    await new.close()


def _beside(place: Place) -> str:
    if place.server is not None:
        return place.server.fresh()
    return f"{place.url}.moved"
