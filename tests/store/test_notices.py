"""Notifications: any role may send them, on any channel, with any text."""

import logging
import time
from collections.abc import Callable
from functools import partial

import anyio
import anyio.lowlevel
import psycopg
import pytest
from psycopg.sql import SQL, Identifier, Literal
from tests.approvals.questions import question, yes
from tests.postgres import PostgresServer

from sayso.approvals import Approvals, listening
from sayso.keys import Keyring
from sayso.store import open_store

KEYS = Keyring.of([b"k" * 32])
LISTENING = (
    "SELECT 1 FROM pg_stat_activity "
    "WHERE datname = current_database() AND query LIKE 'DO %sayso listens%'"
)
PAYLOADS = ("", "x", "-1", "0", "1.5", "9" * 4000, "\u0661", "1; 2", "null", "1 ")


async def until(db: "psycopg.Connection[tuple[object, ...]]", sql: str) -> None:
    with anyio.fail_after(60):
        while not db.execute(SQL(sql)).fetchall():  # pyright: ignore[reportArgumentType]
            await anyio.lowlevel.checkpoint()


async def test_no_notification_ends_a_watcher(
    postgres: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    url = postgres.fresh()
    store, told = open_store(url), list[int]()
    with psycopg.connect(url, autocommit=True) as db:
        async with anyio.create_task_group() as group:
            group.start_soon(store.questions.watch, told.append, "sayso_mine")
            await until(db, LISTENING)
            for channel in ("sayso_mine", "sayso_approvals"):
                for payload in PAYLOADS:
                    notify = SQL("NOTIFY {}, {}").format(Identifier(channel), Literal(payload))
                    db.execute(notify)
            db.execute("NOTIFY sayso_mine")
            db.execute("NOTIFY sayso_mine, '7'")
            with anyio.fail_after(60):
                while not told:
                    await anyio.sleep(0.005)
            group.cancel_scope.cancel()
    assert told == [7]
    assert caplog.text.count("ignored a malformed notification") == 1
    await store.close()


async def test_no_other_failure_ends_a_watcher(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.store.postgres._AGAIN_SECONDS", 0.01)
    url = postgres.fresh()
    store, told = open_store(url), list[int]()

    def tell(number: int) -> None:
        told.append(number)
        if len(told) < 3:
            raise ValueError(number)

    with psycopg.connect(url, autocommit=True) as db:
        async with anyio.create_task_group() as group:
            group.start_soon(store.questions.watch, tell, "sayso_mine")
            with anyio.fail_after(60):
                while len(told) < 3:
                    db.execute("NOTIFY sayso_mine, '7'")
                    await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
    await store.close()


async def test_the_channel_of_approvals_is_known_only_to_those_with_the_keys(
    postgres: PostgresServer,
) -> None:
    url = postgres.fresh()
    store = open_store(url)
    approvals = Approvals.of(store, keys=KEYS)
    other = Approvals.of(store, keys=Keyring.of([b"x" * 32]))
    assert approvals.signer.channel != other.signer.channel
    with psycopg.connect(url, autocommit=True) as db:
        async with listening(approvals):
            await until(db, LISTENING)
            asked = await approvals.ask(question())
            await approvals.answer(asked.number, yes())
            shown = db.execute("SELECT query FROM pg_stat_activity").fetchall()
    assert approvals.signer.channel not in str(shown)
    await store.close()


def _shifted(clock: Callable[[], float], seconds: float) -> float:
    return clock() + seconds


async def test_an_approval_expires_by_the_databases_clock(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    url = postgres.fresh()
    here = open_store(url)
    ours = Approvals.of(here, keys=KEYS)
    asked = await ours.ask(question())
    assert await ours.answer(asked.number, yes())
    # A replica whose clock is an hour behind, and one whose clock is an hour ahead.
    for difference, words in ((-3600.0, "behind"), (3600.0, "ahead of")):
        with monkeypatch.context() as patched, caplog.at_level(logging.WARNING):
            patched.setattr(time, "time", partial(_shifted, time.time, difference))
            there = open_store(url)
            theirs = Approvals.of(there, keys=KEYS)
            found = await theirs.find(asked.number)
            assert found is not None
            assert found.state == "approved"
            assert abs(theirs.clock() - ours.clock()) < 60
            assert f"s {words} the database's" in caplog.text
            await there.close()
    await here.close()
