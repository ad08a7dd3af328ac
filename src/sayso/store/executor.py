"""Runs statements on one database: reads in one session, grouped writes in another."""

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
"""If the two clocks differ by more, a warning is logged."""

_log: Final = logging.getLogger(__name__)


def elapsed() -> float:
    """Return seconds of a clock that cannot be set and that runs during sleep."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


@dataclass(slots=True)
class DatabaseClock:
    """The database's clock in Unix seconds, continued by this machine between readings.

    Until it is first set, it is this machine's own clock. If the two clocks differ by more than 2
    seconds, a warning is logged, and again only if the difference changes.
    """

    where: str
    _set_at: tuple[float, float] | None = None
    _reported: float = 0.0

    def __call__(self) -> float:
        if self._set_at is None:
            return time.time()
        now, set_at = self._set_at
        return now + elapsed() - set_at

    def set(self, now: float, began: float) -> None:
        """Set the clock to `now`, which was requested when `elapsed()` was `began`."""
        # The database answered between `began` and this moment: assume the middle.
        self._set_at = now, (began + elapsed()) / 2
        ahead = time.time() - self()
        if abs(ahead - self._reported) > _DIFFERENCE_SECONDS:
            self._reported = ahead
            side = "ahead of" if ahead > 0 else "behind"
            what = "%s: this machine's clock is %.1f s %s the database's clock, which approvals use"
            _log.warning(what, self.where, abs(ahead), side)


class Executor:
    """Runs the statements of all subjects on one database.

    Raises `StoreError` if the database fails. Nothing was written then, except if the error says
    that this is unknown. If a caller is cancelled, its write happens completely or not at all.
    Writes that arrive at the same time share one commit.
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
        # A second lock, because `Task.cancel` releases the limiter while the thread still reads.
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
        """Make a change; if it has an effect, write its record. Return whether it has an effect."""

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
            # Shielded, so that cancelling does not leave the reader's session open. The writer's
            # thread closes its own session in any case.
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
        """Run a read. If the connection was lost, run it once more on a new one."""
        # Checked under the lock that `close` also takes, so no session is opened after closing.
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
                # The database ended the connection; this side notices only now.
                with contextlib.suppress(*self.driver.errors):
                    self._close_reader()
                if not is_new:
                    return self._read_alone(work)
            raise self.driver.explain(error) from error
