"""Waiting for changes in the store, with one shared poll for all waiters."""

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable, Collection, Hashable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Entry:
    """A key's event, and the number of tasks that wait for it."""

    changed: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: int = 0


@dataclass(slots=True, eq=False)
class Waiters(Generic[K]):
    """Tasks that wait until a key in the store has changed.

    `look` takes keys and returns the ones that may have changed. One task calls `look` for all keys
    every `period()` seconds, and at once for new keys. If `look` fails, all waiters wake and query
    the store themselves, so that each gets the error.
    """

    look: Callable[[Collection[K]], Awaitable[Collection[K]]]
    period: Callable[[], float]
    _entries: dict[K, _Entry] = field(default_factory=dict[K, _Entry])
    _new: set[K] = field(default_factory=set[K])
    _has_new: asyncio.Event = field(default_factory=asyncio.Event)
    _task: "asyncio.Task[None] | None" = None

    def __len__(self) -> int:
        return len(self._entries)

    async def wait(self, key: K) -> None:
        """Return when this key may have changed; the caller checks whether it has."""
        entry = self._entries.setdefault(key, _Entry())
        entry.tasks += 1
        self._new.add(key)
        self._has_new.set()
        self._start()
        try:
            await entry.changed.wait()
        finally:
            entry.tasks -= 1
            if not entry.tasks and self._entries.get(key) is entry:
                del self._entries[key]
                self._new.discard(key)
            if not self._entries:
                self._stop()

    def wake(self, key: K) -> None:
        entry = self._entries.pop(key, None)
        self._new.discard(key)
        if entry is not None:
            entry.changed.set()

    def wake_all(self) -> None:
        for key in [*self._entries]:
            self.wake(key)

    def _start(self) -> None:
        if self._task is None:
            # In an empty context, because the task serves other calls too and outlives this call.
            self._task = asyncio.create_task(self._run(), context=contextvars.Context())

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + self.period()
        while True:
            is_due = loop.time() >= due
            await self._look([*(self._entries if is_due else self._new)])
            if is_due:
                due = loop.time() + self.period()
            try:
                async with asyncio.timeout_at(due):
                    await self._has_new.wait()
            except TimeoutError:
                pass

    async def _look(self, keys: Collection[K]) -> None:
        self._new.difference_update(keys)
        self._has_new.clear()
        if not keys:
            return
        try:
            changed = await self.look(keys)
        except Exception as error:  # noqa: BLE001 - each waiter queries the store and raises it
            _log.info("%d waiting calls wake after an error: %s", len(self._entries), error)
            self.wake_all()
            # Pause, because the waiters may call `wait` again at once.
            await asyncio.sleep(self.period())
        else:
            for key in changed:
                self.wake(key)
