"""A resource that is opened on first use and held open by its own task."""

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
    """A resource that is opened on first use, or `seconds` after the start.

    Its own task holds it, since the task that enters a context must leave it, and connections come
    and go in other tasks. If opening fails, it is tried again on the next use.
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
        """Return the resource once it is open. Raises what opening it raised."""
        if self._kept.done():
            return self._kept.result()
        self._wanted.set()
        return await asyncio.shield(self._kept)

    async def close(self) -> None:
        """Close the resource in its own task. Raises what closing it raised."""
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
        """Wait until it is wanted, `limit` seconds at most; return whether it was closed."""
        try:
            async with asyncio.timeout(limit):
                await self._wanted.wait()
        except TimeoutError:
            pass
        return self._done.is_set()

    def _fail(self, error: Exception) -> None:
        failed = self._kept
        self._kept = asyncio.get_running_loop().create_future()
        self._wanted.clear()
        failed.set_exception(error)
        failed.exception()  # marks it as seen, in case no caller waits
