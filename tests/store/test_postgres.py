"""PostgreSQL: lost and found again, refused, shared by processes."""

import json
import re
import subprocess
import sys
import threading
from dataclasses import replace
from typing import ClassVar, LiteralString

import anyio
import anyio.lowlevel
import psycopg
import pytest
from psycopg import errors
from tests.databases import Place
from tests.postgres import PASSWORD, PostgresServer
from tests.sample_tools import AMY, DELETE, tool

from sayso.approvals import Answer, Approvals, listening, make_question
from sayso.audit import Chain, open_audit
from sayso.audit.verifier import verify
from sayso.errors import StoreError, UsageError
from sayso.extras import install_command
from sayso.keys import Keyring
from sayso.policy import Decision, Effect
from sayso.schema import digest
from sayso.store import AnswerRow, Claim, RecordRow, database_host, open_store
from sayso.store.database import Database
from sayso.store.postgres import PostgresDriver
from sayso.store.session import Session

pytestmark = pytest.mark.anyio

CONFIRM = Decision(Effect.CONFIRM, "r", "it destroys")
YES = Answer(is_allowed=True, by="console", channel="console")

KEYS = Keyring.of([b"k" * 32])
NOW = 1_000_000.0
ROW = RecordRow("a", 1.0, "attempt", "{}")


async def test_a_server_that_was_restarted_between_calls_is_found_again(
    postgres: PostgresServer,
) -> None:
    store = open_store(postgres.fresh())
    await store.records.append([ROW])
    assert await store.records.count() == 1
    for mode in ("fast", "immediate"):
        postgres.stop(mode)
        postgres.start()
        await store.records.append([ROW])
        assert (await store.records.newest())[0].call == "a"
    assert await store.records.count() == 3
    await store.close()


async def test_a_server_that_is_gone_is_told_of_and_what_comes_back_is_used(
    postgres: PostgresServer,
) -> None:
    store = open_store(postgres.fresh())
    async with open_audit(store, KEYS) as log:
        postgres.stop()
        try:
            with pytest.raises(StoreError, match="cannot be reached") as caught:
                await store.records.append([ROW], seal=log.chain)
            with pytest.raises(StoreError, match="cannot be reached"):
                await store.records.append([ROW], seal=log.chain)
            with pytest.raises(StoreError, match="cannot be reached"):
                await store.records.newest()
            assert PASSWORD not in str(caught.value)
        finally:
            postgres.start()
        await store.records.append([ROW], seal=log.chain)
        assert (await verify(store.records, KEYS)).problems == []
    await store.close()


async def test_a_wrong_password_is_told_of_and_never_shown(postgres: PostgresServer) -> None:
    with pytest.raises(StoreError, match="refuses this user") as caught:
        open_store(postgres.url(password="hunter2"))
    assert "hunter2" not in str(caught.value)
    assert f"postgresql://postgres@127.0.0.1:{postgres.port}/postgres" in str(caught.value)
    assert PASSWORD not in repr(PostgresDriver(postgres.url()))


async def test_a_port_where_nothing_listens_is_told_of(postgres: PostgresServer) -> None:
    with pytest.raises(StoreError, match="cannot be reached"):
        open_store(postgres.url(port=1))


def test_a_url_that_cannot_be_read_is_not_repeated() -> None:
    with pytest.raises(UsageError, match="cannot be read") as caught:
        open_store("postgresql://amy:hunter2@db:port:port/x?y")
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_missing_driver_is_told_of_with_the_name_of_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def find_nothing(_name: str) -> None:
        return None

    monkeypatch.setattr("sayso.store.location.find_spec", find_nothing)
    with pytest.raises(UsageError, match=re.escape(install_command("postgres"))):
        open_store("postgresql://db/x")


async def test_tables_of_another_program_and_of_a_newer_sayso_are_left_alone(
    postgres: PostgresServer,
) -> None:
    url = postgres.fresh()
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("CREATE SCHEMA sayso CREATE TABLE precious (x bigint)")
        with pytest.raises(StoreError, match="belongs to another program"):
            open_store(url)
        db.execute("DROP SCHEMA sayso CASCADE")
        await open_store(url).close()
        db.execute("UPDATE sayso.version SET version = 99")
        with pytest.raises(StoreError, match="is of version 99"):
            open_store(url)


async def test_a_user_who_may_not_make_tables_is_told_what_to_do(postgres: PostgresServer) -> None:
    url = postgres.fresh()
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("DROP ROLE IF EXISTS guest")
        db.execute("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    with pytest.raises(StoreError, match="create the schema sayso"):
        open_store(url.replace("postgres:pass%3Aword%2F42", "guest:guest"))


async def test_many_that_make_the_tables_at_once_make_them_once(postgres: PostgresServer) -> None:
    url = postgres.fresh()

    async def make() -> None:
        store = await anyio.to_thread.run_sync(open_store, url)
        await store.records.append([ROW])
        await store.close()

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(make)
    store = open_store(url)
    assert await store.records.count() == 8
    await store.close()


async def test_answers_are_announced_by_their_number(postgres: PostgresServer) -> None:
    url = postgres.fresh()
    store = open_store(url)
    row = await store.questions.open("b", "{}", now=NOW, expires=NOW + 60)
    with psycopg.connect(url, autocommit=True) as listener:
        listener.execute("LISTEN sayso_x")
        assert await store.questions.answer(
            AnswerRow(row.number, "x", True, "y", "out_of_band", NOW, expires=NOW + 60),  # noqa: FBT003
            notify="sayso_x",
        )
        told = [one.payload for one in listener.notifies(timeout=5, stop_after=1)]
    assert told == [str(row.number)]
    await store.close()


async def test_a_commit_whose_answer_was_lost_is_looked_up_before_the_chain_goes_on(
    postgres: PostgresServer,
) -> None:
    driver = Flaky(postgres.fresh())
    store, chain = Database(driver), Chain.begin(KEYS)
    for is_there in (True, False):
        await store.records.append([ROW], seal=chain)
        Flaky.fails_after = is_there
        Flaky.is_armed = True
        with pytest.raises(StoreError, match="lost during a commit"):
            await store.records.append([ROW], seal=chain)
        assert chain.is_in_doubt
    await store.records.append([ROW], seal=chain)
    assert await store.records.count() == 4
    assert (await verify(store.records, KEYS)).problems == []
    rows = await store.records.scan(0, 10)
    assert [row.index for row in rows] == [1, 2, 3, 4]
    await store.close()


class Flaky(PostgresDriver):
    """Loses the connection in mid-commit, once it is armed."""

    is_armed = False
    fails_after = False

    def open(self) -> Session:
        return Losing(super().open())  # pyright: ignore[reportReturnType]


class Losing:
    def __init__(self, session: Session) -> None:
        self._session = session

    def __getattr__(self, name: str) -> object:
        return getattr(self._session, name)

    def commit(self) -> None:
        if Flaky.is_armed and Flaky.fails_after:
            self._session.commit()
        if Flaky.is_armed:
            Flaky.is_armed = False
            raise psycopg.OperationalError("the connection is lost")
        self._session.commit()


def test_what_the_database_says_is_put_into_words() -> None:
    driver = PostgresDriver("postgresql://amy:hunter2@db/x")
    assert driver.where == "postgresql://amy@db/x"
    assert "the disk is full" in str(driver.explain(errors.DiskFull("no space")))
    assert "cannot be used: odd" in str(driver.explain(errors.DataError("odd\nmore")))
    assert driver.is_clash(errors.DeadlockDetected())
    assert driver.is_lost(errors.AdminShutdown())
    assert PostgresDriver("postgresql:///x").where == "postgresql://localhost/x"


RACER = """
import anyio, json, sys
from sayso.store import AnswerRow, open_store

url, number, kind, name = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
NOW = 1_000_000.0

async def main():
    stores = [open_store(url) for _ in range(2)]
    won = []
    async def one(index):
        store = stores[index % 2]
        if kind == "answer":
            person = f"{name}{index}"
            has_won = await store.questions.answer(
                AnswerRow(number, person, True, name, "out_of_band", NOW, expires=NOW + 60)
            )
        else:
            has_won = await store.questions.use(number, binding="b", call=f"{name}{index}", now=NOW)
        won.append(has_won)
    print("ready", flush=True)
    await anyio.to_thread.run_sync(sys.stdin.readline)
    async with anyio.create_task_group() as group:
        for index in range(32):
            group.start_soon(one, index)
    for store in stores:
        await store.close()
    print(json.dumps([len(won), sum(won)]))

anyio.run(main)
"""


@pytest.mark.parametrize("kind", ["answer", "use"])
async def test_of_64_over_2_processes_exactly_one_wins(place: Place, kind: str) -> None:
    store = open_store(place.url)
    for _ in range(5):
        row = await store.questions.open("b", "{}", now=NOW, expires=NOW + 60)
        if kind == "use":
            await store.questions.answer(
                AnswerRow(row.number, "x", True, "y", "out_of_band", NOW, expires=NOW + 60)  # noqa: FBT003
            )
        racers = [
            subprocess.Popen(  # noqa: ASYNC220 - nothing else runs meanwhile
                [sys.executable, "-c", RACER, place.url, str(row.number), kind, name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for name in "ab"
        ]
        for one in racers:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        for one in racers:
            assert one.stdin is not None
            one.stdin.write("go\n")
            one.stdin.flush()
        told = [json.loads(one.communicate(timeout=60)[0]) for one in racers]
        assert [tried for tried, _ in told] == [32, 32]
        assert sum(won for _, won in told) == 1
        if kind == "answer":
            await store.questions.use(row.number, binding="b", call="end", now=NOW)
    await store.close()


WRITER = """
import anyio, sys
from sayso.audit import AuditLog, open_audit
from sayso.keys import Keyring
from sayso.store import RecordRow, open_store

async def main():
    store = open_store(sys.argv[1])
    async with open_audit(store, Keyring.of([b"k" * 32])) as log:
        async def one(name):
            for at in range(100_000):
                body = '{"level":"destructive"}'
                row = RecordRow(f"{name}-{at}", 1.0, "attempt", body)
                await store.records.append([row], seal=log.chain)
                print(row.call, flush=True)
        async with anyio.create_task_group() as group:
            for name in range(8):
                group.start_soon(one, name)

anyio.run(main)
"""


async def test_whatever_returned_before_a_kill_is_there_and_is_closed_as_unknown(
    place: Place,
) -> None:
    returned: set[str] = set()
    for round_ in range(3):
        writer = subprocess.Popen(  # noqa: ASYNC220 - as above
            [sys.executable, "-c", WRITER, place.url], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        for _ in range(20 + 77 * round_):
            returned.add(writer.stdout.readline().strip())
        writer.kill()
        # The last line may have been cut in the middle by the kill.
        returned |= {line.strip() for line in writer.stdout if line.endswith("\n")}
        writer.wait(timeout=10)
        writer.stdout.close()
        store = open_store(place.url)
        async with open_audit(store, KEYS):
            rows = await store.records.scan(0, 1_000_000)
        await store.close()
        attempts = {row.call for row in rows if row.event == "attempt"}
        outcomes = [row.call for row in rows if row.event == "outcome"]
        assert returned <= attempts
        assert sorted(outcomes) == sorted(attempts)
        assert all("outcome_unknown" in row.body for row in rows if row.event == "outcome")
        returned = set()
    store = open_store(place.url)
    assert (await verify(store.records, KEYS)).problems == []
    await store.close()


class Held(PostgresDriver):
    """Commits on the server and is never told so: as a process that was killed in mid-commit."""

    may_commit: ClassVar[threading.Event] = threading.Event()

    def open(self) -> Session:
        return Holding(super().open())  # pyright: ignore[reportReturnType]


class Holding:
    def __init__(self, session: Session) -> None:
        self._session = session

    def __getattr__(self, name: str) -> object:
        return getattr(self._session, name)

    def commit(self) -> None:
        assert Held.may_commit.wait(60)
        self._session.commit()


@pytest.mark.parametrize("what", ["attempt", "claim"])
async def test_a_commit_that_a_dead_writer_had_sent_is_waited_for(
    postgres: PostgresServer, what: str
) -> None:
    url = postgres.fresh()
    heir, chain = open_store(url), Chain.begin(KEYS)
    await heir.records.beat("dead", "elsewhere:1:1", seconds=0.0)
    Held.may_commit.clear()
    dead = Database(Held(url))
    taken: list[int | None] = []

    async def die() -> None:
        if what == "attempt":
            await dead.records.append([ROW], seal=replace(Chain.begin(KEYS), writer="dead"))
        else:
            await dead.claims.take(Claim("k", "amy", "r", "c", "dead", expires=60.0), now=0.0)

    async def take_over() -> None:
        end = RecordRow("a", 2.0, "outcome", "{}")
        taken.append(
            await heir.records.take_over(
                "dead", finish=lambda found: [end] * len(found), seal=chain
            )
        )

    with psycopg.connect(url, autocommit=True) as db, anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(die)
            await _until(db, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted")
            group.start_soon(take_over)
            await _until(db, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
            Held.may_commit.set()
    assert taken == [1 if what == "attempt" else 0]
    assert await heir.claims.find("k") is None
    await dead.close()
    await heir.close()


async def _until(db: "psycopg.Connection[tuple[object, ...]]", sql: LiteralString) -> None:
    while not db.execute(sql).fetchall():
        await anyio.sleep(0.005)


async def test_an_answer_given_in_another_process_wakes_who_waits_at_once(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Looking for itself every hour, nobody would see it within the limit below.
    monkeypatch.setattr("sayso.approvals.ledger._POLL_SECONDS", 3600.0)
    url = postgres.fresh()
    here, there = open_store(url), open_store(url)
    ours, theirs = Approvals.of(here, keys=KEYS), Approvals.of(there, keys=KEYS)
    asked = await ours.ask(make_question(AMY, tool("t", DELETE), {}, CONFIRM, digest({})))
    states: list[str] = []

    async def wait() -> None:
        found = await ours.wait(asked.number, 15)
        states.append(found.state if found else "gone")

    async with listening(ours), anyio.create_task_group() as group:
        with anyio.fail_after(60):
            await until_listened(postgres)
        group.start_soon(wait)
        await theirs.answer(asked.number, YES)
    assert states == ["approved"]
    await here.close()
    await there.close()


async def until_listened(server: PostgresServer) -> None:
    sql = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO %sayso listens%'"
    with psycopg.connect(server.url(), autocommit=True) as db:
        while db.execute(sql).fetchone() == (0,):
            await anyio.sleep(0.005)


async def test_whoever_listens_hears_of_answers_again_after_the_connection_was_lost(
    postgres: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("sayso.store.postgres._AGAIN_SECONDS", 0.01)
    url = postgres.fresh()
    store, told = open_store(url), list[int]()
    ending = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND query LIKE 'DO %sayso listens%'"
    )
    with anyio.fail_after(30), psycopg.connect(url, autocommit=True) as other:
        async with anyio.create_task_group() as group:
            group.start_soon(store.questions.watch, told.append, "sayso_x")
            while not other.execute(ending).fetchall():
                await anyio.sleep(0.005)
            while not told:
                other.execute("SELECT pg_notify('sayso_x', '7')")
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
    assert set(told) == {7}
    assert "answers arrive late" in caplog.text
    await store.close()


def test_without_its_driver_a_postgres_store_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def find_nothing(_name: str) -> None:
        return None

    monkeypatch.setattr("sayso.store.location.find_spec", find_nothing)
    with pytest.raises(UsageError, match="needs the extra postgres") as told:
        open_store("postgresql://somebody@nowhere.invalid/sayso")
    assert install_command("postgres") in str(told.value.fix)


def test_only_a_postgres_store_has_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    assert database_host("postgresql://amy:secret@db.example:5433/sayso") == "db.example"
    assert database_host("postgresql:///sayso") is None
    assert database_host("sqlite:sayso.db") is None
    monkeypatch.setenv("SAYSO_STORE", "postgres://db.example/sayso")
    assert database_host() == "db.example"
