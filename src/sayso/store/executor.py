"""Work on one database: reads in one session, writes in groups in another."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
import anyio.to_thread

from sayso.errors import StoreError
from sayso.store import recording
from sayso.store.clock import DatabaseClock, elapsed
from sayso.store.group import GroupWriter
from sayso.store.rows import RecordRow
from sayso.store.seal import Seal
from sayso.store.session import Driver, Session

T = TypeVar("T")


class Executor:
    """Runs the statements of all subjects on one database.

    Raises `StoreError` when the database fails, and then nothing was written, unless the error
    says that this is unknown. If a caller is cancelled, its write is done or not done, never half
    done. Writes that come in at the same time share one commit.
    """

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.clock = DatabaseClock(driver.where)
        session = driver.open()
        try:
            self.set_clock(session)
        except BaseException as error:
            session.close()
            if isinstance(error, driver.errors):
                raise driver.explain(error) from error
            raise
        self.writer = GroupWriter(driver, session)
        self._reader: Session | None = None
        self._turn = anyio.CapacityLimiter(1)
        self._is_closed = False

    def write(
        self, work: Callable[[Session], T], *, seal: Seal | None = None, queue: str | None = None
    ) -> Awaitable[T]:
        """Run `work` in a transaction and return its result; see `GroupWriter.run`."""
        return self.writer.run(work, seal=seal, queue=queue)

    async def write_recorded(
        self, change: Callable[[Session], bool], record: RecordRow | None, seal: Seal | None
    ) -> bool:
        """Make a change and write its record in one transaction; return whether it was made.

        If it was not made, nothing is recorded.
        """

        def work(session: Session) -> bool:
            is_made = change(session)
            if is_made and record is not None:
                recording.add(session, [record], seal)
            return is_made

        return await self.write(work, seal=seal)

    async def read(self, work: Callable[[Session], T]) -> T:
        """Run `work` once all deferred records are on disk, and return its result."""
        await self.writer.flush()
        return await anyio.to_thread.run_sync(self._read, work, limiter=self._turn)

    async def close(self) -> None:
        """Write what was deferred, and close both sessions."""
        self._is_closed = True
        try:
            await self.writer.close()
        finally:
            # If this is cancelled, the writer's thread still ends its session; nobody else ends
            # the reader's.
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._close_reader, limiter=self._turn)

    def set_clock(self, session: Session) -> None:
        """Set the clock by the database's, if it has one."""
        if self.driver.has_clock:
            began = elapsed()
            self.clock.set(session.now(), began)

    def _close_reader(self) -> None:
        reader = self._reader
        self._reader = None
        if reader is not None:
            reader.close()

    def _read(self, work: Callable[[Session], T]) -> T:
        """Read; again on a new connection when the one at hand turns out to be gone."""
        # Checked here, where `close` has its turn before or after: what is opened is closed.
        if self._is_closed:
            what = "the database cannot be used: it is closed"
            raise StoreError(what, where=self.driver.where)
        is_new = self._reader is None
        try:
            if self._reader is None:
                self._reader = self.driver.open()
            return work(self._reader)
        except self.driver.errors as error:
            if self.driver.is_lost(error):
                # The database has ended the connection, which our end has yet to notice.
                with contextlib.suppress(*self.driver.errors):
                    self._close_reader()
                if not is_new:
                    return self._read(work)
            raise self.driver.explain(error) from error
