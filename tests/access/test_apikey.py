"""API keys: made once, shown once, taken back everywhere, and worth nothing in the database."""

import logging
import sqlite3
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.access.authority import Authority
from tests.access.conftest import KEYS, Opened, request_info
from tests.databases import Place

from sayso.access import (
    KEY_SECONDS,
    ApiKeyAuth,
    RefusedError,
    load_access,
    make_api_key,
    open_access,
)
from sayso.access.apikey import checksum, is_genuine, read_key
from sayso.access.token_cache import TokenCache
from sayso.errors import UsageError
from sayso.keys import Keyring
from sayso.policy import Principal
from sayso.store import Database, open_store

pytestmark = pytest.mark.anyio

NOW = 1_000_000.0
CI = Principal("key:ci", scopes=frozenset({"crm.read"}), roles=frozenset({"robot"}))


async def create(store: Database, name: str = "ci", seconds: float | None = None) -> str:
    text, row = make_api_key(
        KEYS, name, scopes=["crm.read"], roles=["robot"], now=time.time(), seconds=seconds, by="amy"
    )
    await store.api_keys.add(row)
    return text


async def refusal(machines: ApiKeyAuth, token: str | None) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        await machines.identify(request_info(token))
    return caught.value


async def test_a_key_says_which_machine_calls(store: Database) -> None:
    text = await create(store)
    machines = ApiKeyAuth(store.api_keys, KEYS)
    assert await machines.identify(request_info(text)) == CI
    assert await machines.identify(request_info(text, scheme="bearer")) == CI
    assert CI.is_known
    assert machines.metadata("/mcp") is None
    assert (await refusal(machines, None)).www_authenticate == "Bearer"


async def test_every_wrong_key_is_refused_in_the_same_words(
    store: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    text = await create(store)
    gone = await create(store, "gone")
    await store.api_keys.revoke("gone", by="amy", now=time.time())
    other, row = make_api_key(KEYS, "never-written", now=NOW, by="amy")
    forged, _ = make_api_key(KEYS, "ci", now=NOW, by="amy")
    same_id = with_id(forged, text)
    foreign, foreign_row = make_api_key(Keyring.of([b"x" * 32]), "foreign", now=NOW, by="amy")
    await store.api_keys.add(foreign_row)
    old = await create(store, "old", seconds=-1.0)
    machines = ApiKeyAuth(store.api_keys, KEYS)
    said = {str(await refusal(machines, one)) for one in (gone, other, same_id, foreign, old)}
    assert said == {"The API key is not valid here."}
    assert row.id not in caplog.text
    assert text.split("_")[2] not in caplog.text


def with_id(key: str, of: str) -> str:
    """`key` under the id of another, with a checksum that is right."""
    text = f"{of[:18]}_{key.split('_')[2][:-6]}"
    return f"{text}{checksum(text)}"


async def test_a_typing_mistake_is_told_from_a_key_that_does_not_hold(store: Database) -> None:
    text = await create(store)
    machines = ApiKeyAuth(store.api_keys, KEYS)
    for wrong in (text[:-1], f"{text}x", text.swapcase(), text.replace("sayso", "sasyo"), "sayso_"):
        assert "incomplete or mistyped" in (await refusal(machines, wrong)).sentence


async def test_a_key_that_is_taken_back_is_refused_on_every_replica_within_two_seconds(
    place: Place,
) -> None:
    stores = [open_store(place.url) for _ in range(2)]
    text = await create(stores[0])
    late = [0.0]
    replicas = [
        ApiKeyAuth(one.api_keys, KEYS, recent=TokenCache(lambda: late[0])) for one in stores
    ]
    for replica in replicas:
        assert await replica.identify(request_info(text)) == CI
    await stores[0].api_keys.revoke("ci", by="amy", now=time.time())
    late[0] = KEY_SECONDS
    for replica in replicas:
        assert (await refusal(replica, text)).status == 401
    for opened in stores:
        await opened.close()
    assert KEY_SECONDS == 2.0


async def test_a_key_ends_to_the_second_also_while_it_is_remembered(store: Database) -> None:
    text = await create(store, seconds=60)
    machines = ApiKeyAuth(store.api_keys, KEYS)
    assert await machines.identify(request_info(text)) == CI
    machines.now = lambda: time.time() + 61
    assert (await refusal(machines, text)).status == 401


async def test_whoever_writes_the_database_can_neither_make_nor_widen_a_key(
    tmp_path: Path,
) -> None:
    path = tmp_path / "sayso.db"
    store = open_store(f"sqlite:{path}")
    changes = ("scopes = '[\"admin\"]'", "roles = '[]'", "name = 'root'", "expires = NULL")
    texts = [await create(store, f"k{index}", seconds=60) for index in range(len(changes))]
    await store.close()
    db = sqlite3.connect(path)
    for index, change in enumerate(changes):
        db.execute(f"UPDATE api_keys SET {change} WHERE name = 'k{index}'")  # noqa: S608 - constants
    db.commit()
    db.close()
    store = open_store(f"sqlite:{path}")
    machines = ApiKeyAuth(store.api_keys, KEYS)
    for text in texts:
        assert (await refusal(machines, text)).status == 401
    await store.close()


async def test_nothing_of_a_key_is_in_the_database(store: Database) -> None:
    text = await create(store)
    secret = text.split("_")[2]
    rows = str(await store.api_keys.all())
    assert text[6:18] in rows
    assert secret not in rows
    assert secret[:-6] not in rows


async def test_the_hour_of_the_last_use_is_kept_and_no_more(store: Database) -> None:
    text = await create(store)
    for at in (NOW, NOW + 1000, NOW + 7200):
        machines = ApiKeyAuth(store.api_keys, KEYS, now=lambda at=at: at)
        await machines.identify(request_info(text))
        (row,) = await store.api_keys.all()
        assert row.used == at // 3600 * 3600


async def test_keys_outlast_a_new_key_of_the_ring(store: Database) -> None:
    text = await create(store)
    rotated = Keyring.of([b"n" * 32, b"k" * 32])
    assert await ApiKeyAuth(store.api_keys, rotated).identify(request_info(text)) == CI
    assert (await refusal(ApiKeyAuth(store.api_keys, Keyring.of([b"n" * 32])), text)).status == 401


def test_a_wrong_secret_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    import hmac

    compared: list[int] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append(len(one))
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", compare)
    text, row = make_api_key(KEYS, "ci", now=NOW, by="amy")
    key = read_key(text)
    assert key is not None
    assert is_genuine(KEYS, row, key[1])
    assert not is_genuine(KEYS, row, "x" * 43)
    assert compared == [64, 64]


@given(st.text())
def test_no_text_is_read_as_a_key_by_mistake(text: str) -> None:
    assert read_key(text) is None
    assert read_key(f"sayso_{text}") is None


@pytest.mark.parametrize("index", [6, 17, 19, 41, 61, 62, 67])
def test_one_wrong_letter_is_found_without_the_database(index: int) -> None:
    text, _ = make_api_key(KEYS, "ci", now=NOW, by="amy")
    other = "a" if text[index] != "a" else "b"
    assert read_key(text) is not None
    assert read_key(f"{text[:index]}{other}{text[index + 1 :]}") is None


def test_no_two_keys_are_alike() -> None:
    made = [make_api_key(KEYS, "ci", now=NOW, by="amy") for _ in range(100)]
    assert len({text for text, _ in made}) == len({row.id for _, row in made}) == 100
    assert {len(text) for text, _ in made} == {68}


@pytest.mark.parametrize("name", ["", "-x", "a b", "a" * 65, "a/b", "é", "a\n"])
def test_a_name_that_is_none_makes_no_key(name: str) -> None:
    with pytest.raises(UsageError, match="invalid key name"):
        make_api_key(KEYS, name, now=NOW, by="amy")


@pytest.mark.parametrize("word", ["", "a b", "a\n"])
def test_a_scope_that_is_none_makes_no_key(word: str) -> None:
    with pytest.raises(UsageError, match="invalid scope"):
        make_api_key(KEYS, "ci", scopes=[word], now=NOW, by="amy")


async def test_people_and_machines_come_in_by_the_same_door(
    authority: Authority, opened: Opened, kept: Database
) -> None:
    text = 'api_keys = true\n[oauth]\nissuer = "{issuer}"\n'
    key = await create(kept)
    async with opened(text) as access:
        assert await access.identify(request_info(key)) == CI
        assert (await access.identify(request_info(authority.sign()))).subject == "amy"
        assert access.metadata("/mcp") is not None
        for token in (None, f"{key}x", "hunter2"):
            with pytest.raises(RefusedError) as caught:
                await access.identify(request_info(token))
            assert "resource_metadata=" in (caught.value.www_authenticate or "")


async def test_where_only_keys_are_taken_a_token_is_none(store: Database) -> None:
    settings = load_access("api_keys = true")
    async with open_access(settings, store.api_keys, KEYS, url="https://sayso.example") as access:
        assert isinstance(access, ApiKeyAuth)
        with pytest.raises(RefusedError):
            await access.identify(request_info("eyJhbGciOiJub25lIn0.e30."))
