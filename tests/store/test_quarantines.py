"""Tools in quarantine: entered once, lifted once, each on record."""

from dataclasses import replace

import pytest

from sayso.store import Database, QuarantineRow, RecordRow

pytestmark = pytest.mark.anyio

ONE = QuarantineRow("p", "find", "crm", 1_700_000_000.5, '["write /a"]')
RECORD = RecordRow("", 1.0, "quarantined", "{}")


async def test_a_tool_enters_once_and_only_that_is_on_record(store: Database) -> None:
    assert await store.quarantines.add(ONE, record=RECORD, seal=None)
    assert not await store.quarantines.add(replace(ONE, since=2.0), record=RECORD, seal=None)
    assert await store.quarantines.all() == await store.quarantines.all("p") == [ONE]
    assert await store.quarantines.all("q") == []
    assert len(await store.records.newest()) == 1


async def test_what_is_lifted_is_the_quarantine_that_was_seen(store: Database) -> None:
    await store.quarantines.add(ONE, record=RECORD, seal=None)
    lifted = replace(RECORD, event="lifted")
    assert not await store.quarantines.lift(replace(ONE, since=2.0), record=lifted, seal=None)
    assert await store.quarantines.lift(ONE, record=lifted, seal=None)
    assert not await store.quarantines.lift(ONE, record=lifted, seal=None)
    assert await store.quarantines.all() == []
    assert [row.event for row in await store.records.newest()] == ["lifted", "quarantined"]
