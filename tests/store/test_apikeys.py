"""API keys in the store: made, found, taken back. On both databases."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.audit.conftest import KEYS
from tests.databases import Place

from avow.audit import erase_subject, open_audit
from avow.errors import StoreError, UsageError
from avow.store import ApiKeyRow, Store, open_store
from avow.store.move import move_store

pytestmark = pytest.mark.anyio

NOW = 1_000_000.0
ROW = ApiKeyRow("k1", "ci", '["crm.read"]', "[]", NOW, "amy", NOW + 60, "mac")


async def test_a_key_is_found_by_its_id(store: Store) -> None:
    await store.add_api_key(ROW)
    assert await store.find_api_key("k1") == ROW
    assert await store.find_api_key("k2") is None
    assert await store.find_api_key("k\0\ud800") is None


async def test_an_id_is_taken_once(store: Store) -> None:
    await store.add_api_key(ROW)
    with pytest.raises(StoreError):
        await store.add_api_key(replace(ROW, name="other"))
    assert await store.find_api_key("k1") == ROW


async def test_all_of_a_name_are_taken_back_or_one_by_its_id(store: Store) -> None:
    for number, name in [("k1", "ci"), ("k2", "ci"), ("k3", "cron"), ("k4", "cron")]:
        await store.add_api_key(replace(ROW, id=number, name=name))
    assert await store.revoke_api_keys("ci", by="bo", now=NOW + 1) == 2
    assert await store.revoke_api_keys("k3", by="bo", now=NOW + 2) == 1
    assert await store.revoke_api_keys("ci", by="al", now=NOW + 3) == 0
    assert await store.revoke_api_keys("none", by="al", now=NOW + 3) == 0
    shown = [(one.id, one.revoked_at, one.revoked_by) for one in await store.api_keys()]
    assert shown == [
        ("k4", None, None),
        ("k1", NOW + 1, "bo"),
        ("k2", NOW + 1, "bo"),
        ("k3", NOW + 2, "bo"),
    ]


async def test_what_one_process_takes_back_the_others_see(place: Place) -> None:
    one, other = open_store(place.url), open_store(place.url)
    await one.add_api_key(ROW)
    assert await other.find_api_key("k1") == ROW
    await other.revoke_api_keys("ci", by="bo", now=NOW)
    found = await one.find_api_key("k1")
    assert found is not None
    assert found.revoked_at == NOW
    await one.close()
    await other.close()


async def test_the_last_use_only_moves_forward(store: Store) -> None:
    await store.add_api_key(ROW)
    seen: list[float | None] = []
    for at in (7200.0, 3600.0, 10800.0):
        await store.touch_api_key("k1", at=at)
        found = await store.find_api_key("k1")
        assert found is not None
        seen.append(found.used)
    assert seen == [7200.0, 7200.0, 10800.0]


async def test_an_erased_person_is_named_in_no_key_and_the_key_stays(store: Store) -> None:
    await store.add_api_key(ROW)
    await store.add_api_key(replace(ROW, id="k2", created_by="bo"))
    await store.revoke_api_keys("k2", by="amy", now=NOW)
    async with open_audit(store, KEYS) as log:
        await erase_subject(log, "amy")
    first, second = await store.api_keys()
    assert (first.id, first.created_by) == ("k1", "erased")
    assert (second.created_by, second.revoked_by) == ("bo", "erased")


async def test_keys_move_with_their_store(store: Store, tmp_path: Path) -> None:
    await store.add_api_key(ROW)
    await store.touch_api_key("k1", at=3600.0)
    target = open_store(f"sqlite:{tmp_path / 'target.db'}")
    await move_store(store, target)
    assert await target.api_keys() == await store.api_keys()
    with pytest.raises(UsageError, match="this store is not empty"):
        await move_store(store, target)
    await target.close()
