"""Work on one database: reads in one session, writes in groups in another."""

import contextlib
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import anyio
import anyio.to_thread

from sayso.errors import StoreError
from sayso.store import recording
from sayso.store.group import GroupWriter
from sayso.store.recording import Seal
from sayso.store.rows import RecordRow
from sayso.store.session import Driver, Row, Session

T = TypeVar("T")

_DIFFERENCE_SECONDS: Final = 2.0
"""From which difference on a machine's clock is reported."""

_log: Final = logging.getLogger(__name__)


def elapsed() -> float:
    """Return seconds of a clock that cannot be set and runs while the machine sleeps."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


@dataclass(slots=True)
class DatabaseClock:
    """The database's clock in Unix seconds, continued by this machine between readings.

    Until it is first set it is this machine's own clock. A difference of more than 2 s between the
    two is logged, once until it changes.
    """

    where: str
    _set_at: tuple[float, float] | None = None
    _reported: float = 0.0

    def __call__(self) -> float:
        if self._set_at is None:
            return time.time()
        now, at = self._set_at
        return now + elapsed() - at

    def set(self, now: float, began: float) -> None:
        """Take over the database's time `now`, asked for when `elapsed()` was `began`."""
        # The answer was made somewhere in between.
        self._set_at = now, (began + elapsed()) / 2
        ahead = time.time() - self()
        if abs(ahead - self._reported) > _DIFFERENCE_SECONDS:
            self._reported = ahead
            side = "ahead of" if ahead > 0 else "behind"
            what = (
                "%s: this machine's clock is %.1f s %s the database's, which counts for approvals"
            )
            _log.warning(what, self.where, abs(ahead), side)


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
        # `Task.cancel` gives the turn back while the thread still reads.
        self._reading = threading.RLock()
        self._is_closed = False

    def write(
        self, work: Callable[[Session], T], *, seal: Seal | None = None, queue: str | None = None
    ) -> Awaitable[T]:
        """Run `work` in a transaction and return its result, as `GroupWriter.run` does."""
        return self.writer.run(work, seal=seal, queue=queue)

    async def write_recorded(
        self, change: Callable[[Session], bool], record: RecordRow | None, seal: Seal | None
    ) -> bool:
        """Make a change and, if it was made, write its record; return whether it was made."""

        def work(session: Session) -> bool:
            is_made = change(session)
            if is_made and record is not None:
                recording.add(session, [record], seal)
            return is_made

        return await self.write(work, seal=seal)

    async def read(self, work: Callable[[Session], T]) -> T:
        await self.writer.flush()
        return await anyio.to_thread.run_sync(self._read, work, limiter=self._turn)

    def query(self, sql: str, values: Mapping[str, Any] | None = None) -> Awaitable[list[Row]]:
        return self.read(lambda session: session.query(sql, values))

    def change(self, sql: str, values: Mapping[str, Any]) -> Awaitable[int]:
        return self.write(lambda session: session.change(sql, values))

    async def close(self) -> None:
        self._is_closed = True
        try:
            await self.writer.close()
        finally:
            # If this is cancelled, the writer's thread still ends its own session, but nothing else
            # would end the reader's.
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._close_reader, limiter=self._turn)

    def set_clock(self, session: Session) -> None:
        if self.driver.has_clock:
            began = elapsed()
            self.clock.set(session.now(), began)

    def _close_reader(self) -> None:
        with self._reading:
            reader = self._reader
            self._reader = None
            if reader is not None:
                reader.close()

    def _read(self, work: Callable[[Session], T]) -> T:
        with self._reading:
            return self._read_alone(work)

    def _read_alone(self, work: Callable[[Session], T]) -> T:
        """Read, and once more on a new connection if this one is gone."""
        # Checked under the lock, which `close` takes before or after: what is opened is closed.
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
                    return self._read_alone(work)
            raise self.driver.explain(error) from error
