"""Group commit: one thread writes. Jobs that arrive meanwhile share its next commit."""

import asyncio
import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple, TypeVar, cast

from sayso.errors import StoreError
from sayso.store import recording, usage
from sayso.store.recording import Seal
from sayso.store.rows import RecordRow
from sayso.store.session import Driver, Session
from sayso.store.usage import Use

_DEFERRED_SECONDS: Final = 0.02
"""How long deferred work may wait for other work to share its commit."""
_MAX_DEFERRED: Final = 4096
"""If so many deferred jobs wait, `defer` waits until its records are on disk."""
_MAX_BATCH: Final = 4096
_MAX_CLASHES: Final = 5

_log: Final = logging.getLogger(__name__)

T = TypeVar("T")


class Commit(NamedTuple):
    """One commit: how many jobs it had, how many of them failed, and how long it took."""

    jobs: int
    failed: int
    seconds: float


Work = Callable[[Session], T]


@dataclass(slots=True, eq=False)
class _Job:
    """Records or other work to be written. A job without a future is deferred."""

    records: Sequence[RecordRow]
    work: Work[Any] | None
    seal: Seal | None
    future: "asyncio.Future[Any] | None" = None
    queue: str | None = None
    use: Use | None = None
    result: Any = None
    error: Exception | None = None


_kind: Final = attrgetter("work", "seal")
"""The key that groups consecutive records of the same chain."""


class GroupWriter:
    """Runs work in transactions, in one thread of its own.

    If a job fails, the transaction is rolled back, and each of its jobs runs again alone.
    """

    def __init__(self, driver: Driver, session: Session) -> None:
        self._driver = driver
        self._session: Session | None = session
        self._jobs: deque[_Job | None] = deque()
        self._bell: SimpleQueue[None] = SimpleQueue()
        # Any job wakes an idle thread. A lingering thread is woken only by a job with a future.
        self._is_idle = False
        self._is_lingering = False
        # Two counters, each changed by one thread only, so that no lock is needed.
        self._deferred = 0
        self._undeferred = 0
        self._failure: StoreError | None = None
        # While writes fail, as on a full disk, deferred work waits to be told so too.
        self._is_failing = False
        self._is_closed = False
        self.watch: Callable[[Commit], None] | None = None
        self._thread = threading.Thread(target=self._run, name="sayso-store", daemon=True)
        self._thread.start()

    @property
    def queued(self) -> int:
        return len(self._jobs)

    async def run(self, work: Work[T], *, seal: Seal | None = None, queue: str | None = None) -> T:
        """Run `work`, and return its result when it is on disk. Raises `StoreError`.

        Work with the same `queue` is serialized across processes. Work with a `seal` also queues
        under its writer. So a process that takes over from a dead writer waits for its last commit.
        """
        return cast("T", await self._put(_Job((), work, seal, queue=queue)))

    def add(
        self, records: Sequence[RecordRow], *, seal: Seal | None = None, use: Use | None = None
    ) -> Awaitable[None]:
        """Write records, and the use of a tool with them.

        The returned future is done when the records are on disk. Raises `StoreError`.
        """
        return self._put(_Job(records, None, seal, use=use, queue=use and use.subject))

    async def defer(
        self, records: Sequence[RecordRow], *, seal: Seal | None = None, use: Use | None = None
    ) -> None:
        """Write records soon, or at once if the last write failed.

        Raises `StoreError` if these records, or earlier deferred ones, could not be written.
        """
        if self._is_failing or self._deferred - self._undeferred >= _MAX_DEFERRED:
            await self.add(records, seal=seal, use=use)
            return
        self._check()
        self._deferred += 1
        self._jobs.append(_Job(records, None, seal, use=use, queue=use and use.subject))
        if self._is_idle:
            self._ring()

    async def flush(self) -> None:
        if self._deferred > self._undeferred:
            await self.run(lambda _: None)

    async def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._jobs.append(None)
            self._ring()
        await asyncio.to_thread(self._thread.join)

    def _put(self, job: _Job) -> "asyncio.Future[Any]":
        self._check()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        job.future = future
        self._jobs.append(job)
        # Ring only for a sleeping thread; an awake thread checks for jobs itself.
        if self._is_idle or self._is_lingering:
            self._ring()
        return future

    def _ring(self) -> None:
        self._is_idle = self._is_lingering = False
        self._bell.put(None)

    def _check(self) -> None:
        failure = self._failure
        self._failure = None
        if failure is not None:
            raise failure
        if self._is_closed:
            raise StoreError("the database cannot be used: it is closed", where=self._driver.where)

    def _run(self) -> None:
        is_open = True
        while is_open:
            jobs, is_open = self._take()
            if jobs:
                began = time.monotonic()
                self._write(jobs)
                self._report(jobs)
                if self.watch is not None:
                    failed = sum(isinstance(job.error, StoreError) for job in jobs)
                    self.watch(Commit(len(jobs), failed, time.monotonic() - began))
        if self._session is not None:
            with contextlib.suppress(*self._driver.errors):
                self._session.close()

    def _take(self) -> tuple[list[_Job], bool]:
        """Return all waiting jobs, and `False` if closed. Deferred jobs may wait for others."""
        jobs: list[_Job] = []
        due: float | None = None
        while True:
            while self._jobs and len(jobs) < _MAX_BATCH:
                job = self._jobs.popleft()
                if job is None:
                    return jobs, False
                jobs.append(job)
                if job.future is not None:
                    due = 0.0
                elif due is None:
                    due = time.monotonic() + _DEFERRED_SECONDS
            if len(jobs) == _MAX_BATCH:
                return jobs, True
            remaining = None
            if due is not None:
                remaining = due - time.monotonic()
                if remaining <= 0:
                    return jobs, True
            self._sleep(remaining)

    def _sleep(self, seconds: float | None) -> None:
        """Sleep until the bell rings. With a limit in `seconds`, deferred jobs do not ring it."""
        self._is_idle = seconds is None
        self._is_lingering = seconds is not None
        # Check for jobs after setting the flags: any later job rings the bell.
        limit = 0 if self._jobs else seconds
        with contextlib.suppress(Empty):
            self._bell.get(timeout=limit)
        self._is_idle = self._is_lingering = False

    def _write(self, jobs: list[_Job]) -> None:
        """Write all jobs in one transaction. If it fails, write each job in its own."""
        try:
            self._transact(jobs)
        except _UnknownError as error:
            _fail(jobs, error.store_error)
        except Exception as error:  # noqa: BLE001 - work may raise anything; it is handed to its caller
            if len(jobs) == 1 and not self._may_repeat(error):
                jobs[0].error = self._explained(error)
                return
            for job in jobs:
                self._alone(job)

    def _alone(self, job: _Job) -> None:
        tries = 0
        while True:
            tries += 1
            try:
                self._transact([job])
                return
            except _UnknownError as error:
                _fail([job], error.store_error)
                return
            except Exception as error:  # noqa: BLE001 - as above
                if tries == _MAX_CLASHES or not self._may_repeat(error):
                    job.error = self._explained(error)
                    return

    def _transact(self, jobs: list[_Job]) -> None:
        """Run jobs in one transaction. If a job raises, roll back and raise its error."""
        session = self._connected()
        seals = {id(job.seal): job.seal for job in jobs if job.seal is not None}.values()
        try:
            session.begin()
            names = {job.queue for job in jobs if job.queue is not None}
            names |= {seal.writer for seal in seals}
            # Lock the names in the same order in all processes, to avoid deadlocks.
            for name in sorted(names):
                session.queue(name)
            _carry_out(session, jobs)
        except BaseException as error:
            self._undo(session, error)
            _settle(seals, is_written=False)
            raise
        try:
            session.commit()
        except BaseException as error:
            is_lost = self._driver.is_lost(cast("Exception", error))
            self._undo(session, error)
            _settle(seals, is_written=None if is_lost else False)
            if not is_lost:
                raise
            what = "the connection was lost during a commit; it is unknown whether it succeeded"
            lost = StoreError(what, where=self._driver.where)
            lost.__cause__ = error
            raise _UnknownError(lost) from error
        _settle(seals, is_written=True)

    def _connected(self) -> Session:
        if self._session is None:
            self._session = self._driver.open()
        return self._session

    def _undo(self, session: Session, error: BaseException) -> None:
        is_lost = isinstance(error, self._driver.errors) and self._driver.is_lost(error)
        try:
            if not is_lost:
                session.rollback()
        except self._driver.errors:
            is_lost = True
        if is_lost:
            self._session = None
            with contextlib.suppress(*self._driver.errors):
                session.close()

    def _may_repeat(self, error: Exception) -> bool:
        """Return whether a retry may succeed: after a clash, or a connection lost before commit."""
        is_ours = isinstance(error, self._driver.errors)
        return is_ours and (self._driver.is_lost(error) or self._driver.is_clash(error))

    def _explained(self, error: Exception) -> Exception:
        if isinstance(error, self._driver.errors):
            return self._driver.explain(error)
        return error

    def _report(self, jobs: list[_Job]) -> None:
        # Only records say whether writes succeed: queries do so on a full disk, too.
        if writes := [job for job in jobs if job.records]:
            self._is_failing = any(isinstance(job.error, StoreError) for job in writes)
        waiting: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
        for job in jobs:
            if job.future is not None:
                waiting.setdefault(job.future.get_loop(), []).append(job)
                continue
            if job.error is not None:
                what = "a deferred record could not be written"
                _log.error("%s: %s", what, job.error)
                error = job.error
                self._failure = error if isinstance(error, StoreError) else StoreError(what)
            self._undeferred += 1
        for loop, done in waiting.items():
            # The loop may have ended.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_resolve, done)


class _UnknownError(Exception):
    """A commit whose connection was lost."""

    def __init__(self, store_error: StoreError) -> None:
        super().__init__(str(store_error))
        self.store_error = store_error


def _carry_out(session: Session, jobs: Iterable[_Job]) -> None:
    """Run all jobs in order. Seal and send consecutive records of one chain together."""
    for (work, seal), some in groupby(jobs, key=_kind):
        if work is None:
            recording_jobs = list(some)
            records = [row for job in recording_jobs for row in job.records]
            # Records of deferred jobs are about reads, and need no check that they are on disk.
            is_checked = any(job.future is not None for job in recording_jobs)
            recording.add(session, records, seal, is_checked=is_checked)
            usage.note(session, [job.use for job in recording_jobs if job.use is not None])
        else:
            for job in some:
                job.result = work(session)


def _fail(jobs: Iterable[_Job], error: StoreError) -> None:
    for job in jobs:
        job.error = error


def _settle(seals: Iterable[Seal], *, is_written: bool | None) -> None:
    for seal in seals:
        seal.settle(is_written=is_written)


def _resolve(jobs: list[_Job]) -> None:
    for job in jobs:
        if job.future is None or job.future.done():
            continue
        if job.error is not None:
            job.future.set_exception(job.error)
        else:
            job.future.set_result(job.result)
