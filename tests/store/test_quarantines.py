"""Tools in quarantine: entered once, lifted once, each on record."""

from dataclasses import replace

import pytest

from avow.store import QuarantineRow, RecordRow, Store

pytestmark = pytest.mark.anyio

ONE = QuarantineRow("p", "find", "crm", 1_700_000_000.5, '["write /a"]')
RECORD = RecordRow("", 1.0, "quarantined", "{}")


async def test_a_tool_enters_once_and_only_that_is_on_record(store: Store) -> None:
    assert await store.quarantine(ONE, record=RECORD, seal=None)
    assert not await store.quarantine(replace(ONE, since=2.0), record=RECORD, seal=None)
    assert await store.quarantines() == await store.quarantines("p") == [ONE]
    assert await store.quarantines("q") == []
    assert len(await store.records()) == 1


async def test_what_is_lifted_is_the_quarantine_that_was_seen(store: Store) -> None:
    await store.quarantine(ONE, record=RECORD, seal=None)
    lifted = replace(RECORD, event="lifted")
    assert not await store.lift_quarantine(replace(ONE, since=2.0), record=lifted, seal=None)
    assert await store.lift_quarantine(ONE, record=lifted, seal=None)
    assert not await store.lift_quarantine(ONE, record=lifted, seal=None)
    assert await store.quarantines() == []
    assert [row.event for row in await store.records()] == ["lifted", "quarantined"]
