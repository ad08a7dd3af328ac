"""A few worker processes that all callers share fairly."""

import asyncio
import marshal
import time
from collections import Counter, deque
from collections.abc import Mapping
from typing import Any, Final, cast
from weakref import WeakKeyDictionary

from sayso.slices import rest_since
from sayso.workers.process import Output, Worker

WORKERS: Final = 4
"""The maximum number of processes. A process is started when needed, and stays."""

WORKERS_PER_CALLER: Final = 1
MAX_WAITING_PER_CALLER: Final = 32
WAIT_SECONDS: Final = 30.0

MEMORY_BYTES: Final = 128 * 1024 * 1024
_MEMORY_PER_BYTE: Final = 24
"""Bytes of memory for each byte of a job's arguments: parsed JSON takes many times its size."""


class BusyError(Exception):
    """Too many jobs of one caller wait, or this job has waited too long."""


class Pool:
    """Worker processes for one event loop.

    A caller uses one process at a time, so that the jobs of one caller never hold up another's.
    """

    def __init__(self, size: int = WORKERS, per_caller: int = WORKERS_PER_CALLER) -> None:
        self._size = size
        self._per_caller = per_caller
        self._idle: list[Worker] = []
        self._busy: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @property
    def idle(self) -> int:
        return len(self._idle)

    @property
    def busy(self) -> int:
        return self._busy.total()

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    async def run(
        self, caller: str, job: str, arguments: tuple[Any, ...], *, seconds: float
    ) -> Output:
        """Do one job for `caller` and return what it sent, complete or not.

        `seconds` are processor time. Raises `BusyError`, `OSError` if no process can be started,
        and `RuntimeError` if the job failed.
        """
        begun = time.perf_counter()
        request = packed((job, arguments))
        await rest_since(begun)
        memory = MEMORY_BYTES + _MEMORY_PER_BYTE * len(request)
        await self._enter(caller)
        try:
            # A process starts in milliseconds, or in many more if memory is short.
            worker = self._idle.pop() if self._idle else await asyncio.to_thread(Worker)
            try:
                return await worker.run(request, seconds=seconds, memory=memory)
            finally:
                if worker.is_alive:
                    self._idle.append(worker)
        finally:
            self._leave(caller)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().end()

    def _has_room(self, caller: str) -> bool:
        return self._busy.total() < self._size and self._busy[caller] < self._per_caller

    async def _enter(self, caller: str) -> None:
        """Wait for a worker. When cancelled, the place in the queue is given up."""
        queue = self._waiting.get(caller)
        if queue is None and self._has_room(caller):
            self._busy[caller] += 1
            return
        if queue is None:
            queue = self._waiting[caller] = deque()
        if len(queue) >= MAX_WAITING_PER_CALLER:
            raise BusyError
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self._leave(caller)
            else:
                self._forget(caller, turn)
            if isinstance(error, TimeoutError):
                raise BusyError from error
            raise

    def _forget(self, caller: str, turn: "asyncio.Future[None]") -> None:
        queue = self._waiting[caller]
        queue.remove(turn)
        if not queue:
            del self._waiting[caller]

    def _leave(self, caller: str) -> None:
        self._busy[caller] -= 1
        if not self._busy[caller]:
            del self._busy[caller]
        for waiting, queue in list(self._waiting.items()):
            if not self._has_room(waiting):
                continue
            # The caller goes to the end of the queue, so that each caller gets its turn.
            del self._waiting[waiting]
            turn = queue.popleft()
            if queue:
                self._waiting[waiting] = queue
            self._busy[waiting] += 1
            turn.set_result(None)
            return


_pools: Final["WeakKeyDictionary[asyncio.AbstractEventLoop, Pool]"] = WeakKeyDictionary()


def running_pool() -> Pool:
    """Return the pool of the running event loop."""
    loop = asyncio.get_running_loop()
    pool = _pools.get(loop)
    if pool is None:
        pool = _pools[loop] = Pool()
    return pool


async def run_job(caller: str, job: str, arguments: tuple[Any, ...], *, seconds: float) -> Output:
    """Do a job in a worker of the running event loop, as `Pool.run` does."""
    return await running_pool().run(caller, job, arguments, seconds=seconds)


def packed(value: Any) -> bytes:
    """Return plain data as bytes for a worker. Raises `ValueError` for deep nesting."""
    try:
        return marshal.dumps(value, 2)
    except ValueError as error:
        if "deeply" in str(error):
            raise
        return marshal.dumps(_plain(value), 2)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[Any]", value)]
    return value
