"""A resource that is opened on first use, in a task of its own."""

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

    A context must be entered and left by the same task, but connections use many tasks. So the
    resource has its own task. If opening fails, the next use tries again.
    """

    opening: Callable[[], AbstractAsyncContextManager[T]]
    seconds: float
    _requested: asyncio.Event = field(default_factory=asyncio.Event)
    _done: asyncio.Event = field(default_factory=asyncio.Event)
    _resource: "asyncio.Future[T]" = field(init=False)
    _task: "asyncio.Task[None]" = field(init=False)

    def __post_init__(self) -> None:
        self._resource = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._keep())

    async def get(self) -> T:
        """Return the resource, opened if necessary. Raises the error of opening it."""
        if self._resource.done():
            return self._resource.result()
        self._requested.set()
        return await asyncio.shield(self._resource)

    async def close(self) -> None:
        """Close the resource in its own task. Raises the error of closing it."""
        self._done.set()
        self._requested.set()
        await self._task

    async def _keep(self) -> None:
        limit: float | None = self.seconds
        while not await self._is_closed(limit):
            try:
                async with self.opening() as kept:
                    self._resource.set_result(kept)
                    await self._done.wait()
            except Exception as error:
                if self._resource.done():
                    raise
                _log.error("%s", error)
                self._fail(error)
                limit = None

    async def _is_closed(self, limit: float | None) -> bool:
        """Wait up to `limit` seconds for the first use; return whether the resource was closed."""
        try:
            async with asyncio.timeout(limit):
                await self._requested.wait()
        except TimeoutError:
            pass
        return self._done.is_set()

    def _fail(self, error: Exception) -> None:
        failed = self._resource
        self._resource = asyncio.get_running_loop().create_future()
        self._requested.clear()
        failed.set_exception(error)
        failed.exception()  # mark the exception as retrieved, in case no caller waits
