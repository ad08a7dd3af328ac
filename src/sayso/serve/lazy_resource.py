"""What is held open in a task of its own, and opened by whoever wants it first."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class LazyResource(Generic[T]):
    """Opens something when it is first wanted, `seconds` after the start at the latest.

    It is held in a task of its own: connections come and go in tasks of theirs, and what one task
    has entered no other may leave. What could not be opened is tried again when it is next wanted.
    """

    opening: Callable[[], AbstractAsyncContextManager[T]]
    seconds: float
    _wanted: asyncio.Event = field(default_factory=asyncio.Event)
    _done: asyncio.Event = field(default_factory=asyncio.Event)
    _kept: "asyncio.Future[T]" = field(init=False)
    _task: "asyncio.Task[None]" = field(init=False)

    def __post_init__(self) -> None:
        self._kept = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._keep())

    async def get(self) -> T:
        """What is kept, once it is open. Raises what opening it raised."""
        if self._kept.done():
            return self._kept.result()
        self._wanted.set()
        return await asyncio.shield(self._kept)

    async def close(self) -> None:
        """Close it, in the task that has opened it. Raises what closing it raised."""
        self._done.set()
        self._wanted.set()
        await self._task

    async def _keep(self) -> None:
        limit: float | None = self.seconds
        while not await self._is_closed(limit):
            try:
                async with self.opening() as kept:
                    self._kept.set_result(kept)
                    await self._done.wait()
            except Exception as error:
                if self._kept.done():
                    raise
                _log.error("%s", error)
                self._fail(error)
                limit = None

    async def _is_closed(self, limit: float | None) -> bool:
        """Wait until it is wanted, `limit` seconds at most; whether nobody wants it any more."""
        try:
            async with asyncio.timeout(limit):
                await self._wanted.wait()
        except TimeoutError:
            pass
        return self._done.is_set()

    def _fail(self, error: Exception) -> None:
        """Tell those who wait, and be ready for who comes next."""
        failed, self._kept = self._kept, asyncio.get_running_loop().create_future()
        self._wanted.clear()
        failed.set_exception(error)
        # Nobody needs to have waited.
        failed.exception()
