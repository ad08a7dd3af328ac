"""API keys in the store: made, found, taken back. On both databases."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.audit.conftest import KEYS
from tests.databases import Place

from sayso.audit import erase_subject, open_audit
from sayso.errors import StoreError, UsageError
from sayso.store import ApiKeyRow, Database, open_store
from sayso.store.database import move_store

pytestmark = pytest.mark.anyio

NOW = 1_000_000.0
ROW = ApiKeyRow("k1", "ci", '["crm.read"]', "[]", NOW, "amy", NOW + 60, "mac")


async def test_a_key_is_found_by_its_id(store: Database) -> None:
    await store.api_keys.add(ROW)
    assert await store.api_keys.find("k1") == ROW
    assert await store.api_keys.find("k2") is None
    assert await store.api_keys.find("k\0\ud800") is None


async def test_an_id_is_taken_once(store: Database) -> None:
    await store.api_keys.add(ROW)
    with pytest.raises(StoreError):
        await store.api_keys.add(replace(ROW, name="other"))
    assert await store.api_keys.find("k1") == ROW


async def test_all_of_a_name_are_taken_back_or_one_by_its_id(store: Database) -> None:
    for number, name in [("k1", "ci"), ("k2", "ci"), ("k3", "cron"), ("k4", "cron")]:
        await store.api_keys.add(replace(ROW, id=number, name=name))
    assert await store.api_keys.revoke("ci", by="bo", now=NOW + 1) == 2
    assert await store.api_keys.revoke("k3", by="bo", now=NOW + 2) == 1
    assert await store.api_keys.revoke("ci", by="al", now=NOW + 3) == 0
    assert await store.api_keys.revoke("none", by="al", now=NOW + 3) == 0
    shown = [(one.id, one.revoked_at, one.revoked_by) for one in await store.api_keys.all()]
    assert shown == [
        ("k4", None, None),
        ("k1", NOW + 1, "bo"),
        ("k2", NOW + 1, "bo"),
        ("k3", NOW + 2, "bo"),
    ]


async def test_what_one_process_takes_back_the_others_see(place: Place) -> None:
    one, other = open_store(place.url), open_store(place.url)
    await one.api_keys.add(ROW)
    assert await other.api_keys.find("k1") == ROW
    await other.api_keys.revoke("ci", by="bo", now=NOW)
    found = await one.api_keys.find("k1")
    assert found is not None
    assert found.revoked_at == NOW
    await one.close()
    await other.close()


async def test_the_last_use_only_moves_forward(store: Database) -> None:
    await store.api_keys.add(ROW)
    seen: list[float | None] = []
    for at in (7200.0, 3600.0, 10800.0):
        await store.api_keys.touch("k1", at=at)
        found = await store.api_keys.find("k1")
        assert found is not None
        seen.append(found.used)
    assert seen == [7200.0, 7200.0, 10800.0]


async def test_an_erased_person_is_named_in_no_key_and_the_key_stays(store: Database) -> None:
    await store.api_keys.add(ROW)
    await store.api_keys.add(replace(ROW, id="k2", created_by="bo"))
    await store.api_keys.revoke("k2", by="amy", now=NOW)
    async with open_audit(store, KEYS) as log:
        await erase_subject(log, "amy")
    first, second = await store.api_keys.all()
    assert (first.id, first.created_by) == ("k1", "erased")
    assert (second.created_by, second.revoked_by) == ("bo", "erased")


async def test_keys_move_with_their_store(store: Database, tmp_path: Path) -> None:
    await store.api_keys.add(ROW)
    await store.api_keys.touch("k1", at=3600.0)
    target = open_store(f"sqlite:{tmp_path / 'target.db'}")
    await move_store(store, target)
    assert await target.api_keys.all() == await store.api_keys.all()
    with pytest.raises(UsageError, match="this store is not empty"):
        await move_store(store, target)
    await target.close()
