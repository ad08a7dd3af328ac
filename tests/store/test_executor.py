"""Connections of a store are closed, however it ends with them."""

import asyncio
import threading
from dataclasses import dataclass, field
from typing import Any, ClassVar

import anyio
import pytest

from sayso.errors import StoreError
from sayso.store.executor import Executor

pytestmark = pytest.mark.anyio


class GoneError(Exception):
    """The errors of a database that ends a connection."""


@dataclass
class Connection:
    """A connection that fails as a test says, and that knows whether it was closed."""

    has_clock: bool
    is_closed: bool = False

    def now(self) -> float:
        if not self.has_clock:
            raise GoneError
        return 1.0

    def close(self) -> None:
        self.is_closed = True


@dataclass
class Server:
    """A driver whose connections end without that our side notices. See `Driver`."""

    clock: bool = True
    where: str = "here"
    opened: list[Connection] = field(default_factory=list[Connection])
    errors: ClassVar[tuple[type[Exception], ...]] = (GoneError,)
    has_clock: ClassVar[bool] = True

    def open(self) -> Any:
        self.opened.append(Connection(self.clock))
        return self.opened[-1]

    def is_lost(self, _error: Exception) -> bool:
        return True

    def is_clash(self, _error: Exception) -> bool:
        return False

    def explain(self, _error: Exception) -> StoreError:
        return StoreError("the database cannot be reached", where=self.where)


def fail(_session: Any) -> None:
    raise GoneError


async def test_a_reader_that_the_database_has_left_is_closed() -> None:
    server = Server()
    executor = Executor(server)  # type: ignore[arg-type] # a part of a driver
    await executor.read(lambda _: None)
    with pytest.raises(StoreError, match="cannot be reached"):
        await executor.read(fail)

    assert [connection.is_closed for connection in server.opened] == [False, True, True]
    await executor.close()
    assert [connection.is_closed for connection in server.opened] == [True, True, True]


async def test_a_store_whose_clock_cannot_be_read_leaves_no_connection() -> None:
    server = Server(clock=False)
    with pytest.raises(StoreError, match="cannot be reached"):
        Executor(server)  # type: ignore[arg-type] # a part of a driver
    assert [connection.is_closed for connection in server.opened] == [True]


async def test_another_error_while_it_opens_leaves_no_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server()

    def end(_connection: Connection) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr(Connection, "now", end)
    with pytest.raises(KeyboardInterrupt):
        Executor(server)  # type: ignore[arg-type] # a part of a driver
    assert [connection.is_closed for connection in server.opened] == [True]


async def test_a_store_that_is_closed_by_a_task_which_is_cancelled_leaves_no_connection() -> None:
    server = Server()
    executor = Executor(server)  # type: ignore[arg-type] # a part of a driver
    await executor.read(lambda _: None)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await executor.close()
    await executor.writer.close()
    assert [connection.is_closed for connection in server.opened] == [True, True]


async def test_a_read_that_was_cancelled_while_it_connected_leaves_no_connection() -> None:
    server = SlowServer()
    executor = Executor(server)  # type: ignore[arg-type] # a part of a driver
    server.may_open.clear()
    server.is_opening.clear()
    reading = asyncio.create_task(executor.read(lambda _: None))
    await asyncio.to_thread(server.is_opening.wait)
    # Not a cancel scope: anyio would wait for the thread.
    reading.cancel()
    await asyncio.wait([reading])
    closing = asyncio.create_task(executor.close())
    await asyncio.sleep(0.05)
    assert not closing.done()

    server.may_open.set()
    await closing
    assert [connection.is_closed for connection in server.opened] == [True, True]


@dataclass
class SlowServer(Server):
    """Takes as long to connect as a test wants."""

    may_open: threading.Event = field(default_factory=threading.Event)
    is_opening: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.may_open.set()

    def open(self) -> Any:
        self.is_opening.set()
        assert self.may_open.wait(10)
        return super().open()
