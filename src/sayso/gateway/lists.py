"""A cache of the lists of one connection, refreshed in the background."""

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from sayso.connect import Listed

_log: Final = logging.getLogger(__name__)

FRESH_SECONDS: Final = 30.0
"""The default lifetime of a list, for servers that send no `ttlMs`."""
_MIN_SECONDS: Final = 1.0
_MAX_SECONDS: Final = 300.0
"""The minimum and maximum lifetime of a list, whatever its server sends."""
_LIFETIME_FACTOR: Final = 20.0
"""A list is valid for at least this many times the seconds of its reading, up to `FRESH_SECONDS`.
Without this, a server with a long list and a short lifetime would only answer list requests."""
_CHANGED_SECONDS: Final = 0.25
"""The time a call waits for a list after its server announced a change."""
_MAX_AGE_SECONDS: Final = 900.0
"""The age at which a list is dropped if it cannot be refreshed."""
_TRIES: Final = 3
"""The maximum reads of a list that changes during each read."""

Ask = Callable[[str], Awaitable[Listed]]


@dataclass(slots=True)
class CachedList:
    """A list, when and for how long it was read, and whether the server has changed it since."""

    listed: Listed
    read_at: float
    is_changed: bool = False
    duration: float = 0.0

    @property
    def is_stale(self) -> bool:
        seconds = FRESH_SECONDS
        if self.listed.seconds is not None:
            least = max(_MIN_SECONDS, min(_LIFETIME_FACTOR * self.duration, FRESH_SECONDS))
            seconds = min(max(self.listed.seconds, least), _MAX_SECONDS)
        return self.is_changed or time.monotonic() - self.read_at > seconds

    @property
    def is_lost(self) -> bool:
        return time.monotonic() - self.read_at > _MAX_AGE_SECONDS


Shared = dict[str, CachedList]
"""Lists that are the same for all callers, by method."""


@dataclass(slots=True)
class Lists:
    """A cache of a server's lists; `request` reads one.

    `shared` holds the lists that are the same for all callers.
    """

    request: Ask
    shared: Shared = field(default_factory=dict[str, CachedList])
    _own: dict[str, CachedList] = field(default_factory=dict[str, CachedList])
    _asking: dict[str, asyncio.Task[list[Any]]] = field(
        default_factory=dict[str, "asyncio.Task[list[Any]]"]
    )
    _changes: Counter[str] = field(default_factory=Counter[str])

    @property
    def sizes(self) -> dict[str, int]:
        cached = {**self.shared, **self._own}
        return {method: len(each.listed.entries) for method, each in cached.items()}

    def current(self, method: str) -> list[Any] | None:
        """Return a list from the cache if it is still valid."""
        cached = self._find(method)
        if cached is None or cached.is_stale:
            return None
        return cached.listed.entries

    async def get(self, method: str, *, may_be_stale: bool = False) -> list[Any]:
        """Return a list from the cache, or read it now.

        An expired list is returned and refreshed in the background. If the server announced a
        change, this waits for the new list, but only for a moment if `may_be_stale`.
        """
        cached = self._find(method)
        if cached is None or cached.is_lost:
            return await asyncio.shield(self._begin(method))
        if not cached.is_stale:
            return cached.listed.entries
        self._begin(method)
        if cached.is_changed:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_CHANGED_SECONDS if may_be_stale else None):
                    return await self.settled(method)
        return cached.listed.entries

    async def settled(self, method: str) -> list[Any]:
        """Return a list that includes all changes that the server has announced."""
        entries = await asyncio.shield(self._begin(method))
        tries = 1
        while tries < _TRIES and self.current(method) is None:
            entries = await asyncio.shield(self._begin(method))
            tries += 1
        return entries

    def change(self, method: str) -> None:
        """Mark a list as changed, and refresh it now in the background."""
        self._changes[method] += 1
        cached = self._find(method)
        if cached is not None:
            cached.is_changed = True
            self._begin(method)

    def clear(self) -> None:
        """Drop all lists of a connection that has ended."""
        self._changes[""] += 1
        self._own.clear()
        self._asking.clear()

    def _find(self, method: str) -> CachedList | None:
        return self._own.get(method) or self.shared.get(method)

    def _begin(self, method: str) -> asyncio.Task[list[Any]]:
        """Return the task that reads a list; the task goes on if a waiting caller is cancelled."""
        if method not in self._asking:
            task = self._asking[method] = asyncio.ensure_future(self.read(method))
            task.add_done_callback(lambda done: self._ended(method, done))
        return self._asking[method]

    async def read(self, method: str) -> list[Any]:
        """Request a list now, and return it."""
        before = self._changes[method]
        connection = self._changes[""]
        began = time.monotonic()
        listed = await self.request(method)
        if self._changes[""] == connection:
            is_changed = self._changes[method] != before
            now = time.monotonic()
            self.shared.pop(method, None)
            self._own.pop(method, None)
            lists = self.shared if listed.is_public else self._own
            lists[method] = CachedList(listed, now, is_changed, now - began)
        return listed.entries

    def _ended(self, method: str, task: asyncio.Task[list[Any]]) -> None:
        if self._asking.get(method) is task:
            del self._asking[method]
        if not task.cancelled() and (error := task.exception()) is not None:
            # The callers that wait get this error; the cached list stays.
            _log.debug("%s failed: %s", method, error)
