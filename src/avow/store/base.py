"""What a store on a SQL database stands on: a session that reads, and a thread that writes."""

from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.to_thread

from avow.errors import StoreError
from avow.store import lines
from avow.store.clock import DatabaseClock, elapsed
from avow.store.group import GroupWriter
from avow.store.interface import Commit, Seal
from avow.store.rows import RecordRow
from avow.store.session import Driver, Session

T = TypeVar("T")


class SqlBase:
    """Two sessions of one database: one reads, and one writes in groups."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._reader: Session | None = None
        self._turn = anyio.CapacityLimiter(1)
        self._clock = DatabaseClock(driver.where)
        session = driver.open()
        self._set_clock(session)
        self._writer = GroupWriter(driver, session)
        self._is_closed = False

    @property
    def where(self) -> str:
        """See `Store.where`."""
        return self._driver.where

    @property
    def queued(self) -> int:
        """See `Store.queued`."""
        return self._writer.queued

    def measure(self, told: Callable[[Commit], None]) -> None:
        """See `Store.measure`."""
        self._writer.watch = told

    def clock(self) -> float:
        """See `Store.clock`."""
        return self._clock()

    async def _recorded(
        self, change: Callable[[Session], bool], record: RecordRow, seal: Seal | None
    ) -> bool:
        """Make a change, and write down that it was made; whether it was."""

        def work(session: Session) -> bool:
            has_counted = change(session)
            if has_counted:
                lines.add(session, [record], seal)
            return has_counted

        return await self._writer.run(work, seal=seal)

    async def close(self) -> None:
        """See `Store.close`."""
        self._is_closed = True
        await self._writer.close()
        await anyio.to_thread.run_sync(self._close_reader, limiter=self._turn)

    def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def _set_clock(self, session: Session) -> None:
        if self._driver.has_clock:
            began = elapsed()
            self._clock.set(session.now(), began)

    async def _read(self, work: Callable[[Session], T]) -> T:
        await self._writer.flush()
        return await anyio.to_thread.run_sync(self._read_here, work, limiter=self._turn)

    def _read_here(self, work: Callable[[Session], T]) -> T:
        """Read; again on a new connection when the one at hand turns out to be gone."""
        # Looked at here, where `close` has its turn before or after: what is opened is closed.
        if self._is_closed:
            raise StoreError("the database cannot be used: it is closed", where=self.where)
        is_new = self._reader is None
        try:
            if self._reader is None:
                self._reader = self._driver.open()
            return work(self._reader)
        except self._driver.errors as error:
            if self._driver.is_lost(error):
                self._reader = None
                if not is_new:
                    return self._read_here(work)
            raise self._driver.explain(error) from error
