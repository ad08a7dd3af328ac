"""The lists of one connection: cached, and read again in the background."""

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
"""The lifetime of a list, if its server gives none."""
_MIN_SECONDS: Final = 1.0
_MAX_SECONDS: Final = 300.0
"""The limits of a lifetime that a server gives."""
_REST: Final = 20.0
"""A list is valid for this many times as long as reading it took, or a server with a long list and
no lifetime would do nothing but list."""
_CHANGED_SECONDS: Final = 0.25
"""How long a call waits for a list after its server announced a change."""
_MAX_AGE_SECONDS: Final = 900.0
"""The age at which a list that cannot be read again is dropped."""
_TRIES: Final = 3
"""How often a list is read that keeps changing."""

Ask = Callable[[str], Awaitable[Listed]]


@dataclass(slots=True)
class CachedList:
    """A list, the time it was read `at`, the seconds it `took`, and whether it has changed."""

    listed: Listed
    at: float
    is_changed: bool = False
    took: float = 0.0

    @property
    def is_stale(self) -> bool:
        seconds = FRESH_SECONDS
        if self.listed.seconds is not None:
            least = max(_MIN_SECONDS, min(_REST * self.took, FRESH_SECONDS))
            seconds = min(max(self.listed.seconds, least), _MAX_SECONDS)
        return self.is_changed or time.monotonic() - self.at > seconds

    @property
    def is_lost(self) -> bool:
        return time.monotonic() - self.at > _MAX_AGE_SECONDS


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

        A stale list is returned and read again in the background. A list whose server announced a
        change is waited for; only for a moment if it `may_be_stale`.
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
        """Return a list after all changes that the server has announced."""
        entries = await asyncio.shield(self._begin(method))
        tries = 1
        while tries < _TRIES and self.current(method) is None:
            entries = await asyncio.shield(self._begin(method))
            tries += 1
        return entries

    def change(self, method: str) -> None:
        """Mark a list as changed: it is read again now, in the background."""
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
        """Read a list in a task, or join the one that reads it; it survives a cancelled waiter."""
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
            # A waiter gets the error; the list stays unchanged.
            _log.debug("%s failed: %s", method, error)
