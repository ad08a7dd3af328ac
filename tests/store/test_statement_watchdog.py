"""A network between sayso and PostgreSQL that swallows what is sent and closes nothing."""

import contextlib
import select
import socket
import threading
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import anyio
import psycopg
import pytest
from tests.postgres import PostgresServer

from sayso.errors import StoreError
from sayso.store import RecordRow, open_store, statement_watchdog
from sayso.store.postgres import PostgresDriver, PostgresSession

pytestmark = pytest.mark.anyio

ROW = RecordRow("a", 1.0, "attempt", "{}")


class Net:
    """Passes bytes on in both directions, but for the connections that it has swallowed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.is_down = False
        self._swallowed: set[socket.socket] = set()
        self._all: list[socket.socket] = []
        self._lock = threading.Lock()
        self._is_closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def swallow(self) -> None:
        """From now on nothing passes over the connections that there are."""
        self._swallowed.update(self._all)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            for end in (self._listener, *self._all):
                end.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                if not self._take(here):
                    return
                there = socket.create_connection(("127.0.0.1", self._port))
                if not self._take(there):
                    return
                for ends in ((here, there), (there, here)):
                    threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _take(self, end: socket.socket) -> bool:
        """Keep a socket to be closed; one that comes while the net is closed ends at once."""
        with self._lock:
            if self._is_closed:
                end.close()
            else:
                self._all.append(end)
            return not self._is_closed

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError):
            while True:
                is_ready = select.select([source], [], [], 0.02)[0] != []
                if self.is_down or source in self._swallowed:
                    time.sleep(0.02)
                elif is_ready and (data := source.recv(65536)):
                    sink.sendall(data)
                elif is_ready:
                    sink.shutdown(socket.SHUT_RDWR)
                    return


@pytest.fixture
def net(postgres: PostgresServer) -> Iterator[Net]:
    made = Net(postgres.port)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statement_watchdog, "PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(statement_watchdog, "_LOOK_SECONDS", 0.1)
    monkeypatch.setattr(statement_watchdog, "_PROBE_SECONDS", 1.0)
    monkeypatch.setattr("sayso.store.postgres.PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr("sayso.store.postgres._LISTEN_SECONDS", 0.2)
    monkeypatch.setattr("sayso.store.postgres._DEFAULTS", {"connect_timeout": "2"})


def through(net: Net, server: PostgresServer) -> str:
    return server.url(urlsplit(server.fresh()).path[1:], port=net.port)


async def test_what_a_network_swallows_ends_with_an_error_and_goes_on_when_it_is_back(
    postgres: PostgresServer, net: Net
) -> None:
    store = open_store(through(net, postgres))
    await store.records.append([ROW])
    assert await store.records.count() == 1
    net.is_down = True
    with anyio.fail_after(30):
        for work in (store.records.count, lambda: store.records.append([ROW])):
            with pytest.raises(StoreError, match="cannot be reached"):
                await work()
    net.is_down = False
    await store.records.append([ROW])
    assert await store.records.count() == 2
    await store.close()


async def test_a_statement_whose_connection_alone_is_dead_is_made_on_another(
    postgres: PostgresServer, net: Net
) -> None:
    store = open_store(through(net, postgres))
    await store.records.append([ROW])
    assert await store.records.count() == 1
    net.swallow()
    with anyio.fail_after(30):
        await store.records.append([ROW])
        assert await store.records.count() == 2
    await store.close()


async def test_a_watcher_finds_out_that_nothing_can_come(
    postgres: PostgresServer, net: Net
) -> None:
    url = through(net, postgres)
    store, told = open_store(url), list[int]()
    with psycopg.connect(postgres.url(urlsplit(url).path[1:]), autocommit=True) as db:

        async def hears() -> None:
            told.clear()
            with anyio.fail_after(30):
                while not told:
                    db.execute("NOTIFY mine, '7'")
                    await anyio.sleep(0.05)

        async with anyio.create_task_group() as group:
            group.start_soon(store.questions.watch, told.append, "mine")
            await hears()
            net.swallow()
            await hears()
            group.cancel_scope.cancel()
    await store.close()


def opened(url: str) -> PostgresSession:
    session = PostgresDriver(url).open()
    assert isinstance(session, PostgresSession)
    return session


def test_a_statement_that_the_database_works_on_takes_its_time(postgres: PostgresServer) -> None:
    session = opened(postgres.fresh())
    assert session.query("SELECT 1 FROM pg_sleep(2)") == [(1,)]
    session.close()


def test_a_statement_that_a_pooler_numbers_otherwise_is_given_more_time(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened(postgres.fresh())
    monkeypatch.setattr(session.watchdog, "_process", -1)
    assert session.query("SELECT 1 FROM pg_sleep(2)") == [(1,)]
    monkeypatch.setattr(statement_watchdog, "_FORGOTTEN_SECONDS", 1.0)
    with pytest.raises(psycopg.OperationalError):
        session.query("SELECT 1 FROM pg_sleep(20)")
    session.close()


def test_a_connection_that_is_closed_is_cut_no_more(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened(postgres.fresh())
    session.close()
    monkeypatch.setattr(session.watchdog, "_process", 0)
    monkeypatch.setattr(statement_watchdog, "_FORGOTTEN_SECONDS", 0.0)
    with session.watchdog:
        time.sleep(1)
        session.watchdog.look()
        session.watchdog.look()
