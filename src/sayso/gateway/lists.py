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
"""How long a list is taken as it was, where its server does not say."""
_LEAST_SECONDS: Final = 1.0
_MOST_SECONDS: Final = 300.0
"""Limits of the time that a server may say its list holds."""
_REST: Final = 20.0
"""A list is not asked for again for so many times as long as it took, or a server that says of a
long list that it never holds would do nothing but give it."""
_CHANGED_SECONDS: Final = 0.25
"""How long a call waits for a list that its server says has changed."""
_OLDEST_SECONDS: Final = 900.0
"""How old a list may get that cannot be read again."""
_TRIES: Final = 3
"""How often a list is read that changes all the while."""

Ask = Callable[[str], Awaitable[Listed]]


@dataclass(slots=True)
class CachedList:
    """A list, when it was read, the seconds that it took, and whether its server has changed it."""

    listed: Listed
    at: float
    is_changed: bool = False
    took: float = 0.0

    @property
    def is_stale(self) -> bool:
        seconds = FRESH_SECONDS
        if self.listed.seconds is not None:
            least = max(_LEAST_SECONDS, min(_REST * self.took, FRESH_SECONDS))
            seconds = min(max(self.listed.seconds, least), _MOST_SECONDS)
        return self.is_changed or time.monotonic() - self.at > seconds

    @property
    def is_lost(self) -> bool:
        return time.monotonic() - self.at > _OLDEST_SECONDS


Shared = dict[str, CachedList]
"""Lists that are the same for all callers, by method."""


@dataclass(slots=True)
class Lists:
    """A server's lists as they were last read; `ask` asks for one.

    `shared` holds those that are the same for all callers, for all of them.
    """

    ask: Ask
    shared: Shared = field(default_factory=dict[str, CachedList])
    _kept: dict[str, CachedList] = field(default_factory=dict[str, CachedList])
    _asking: dict[str, asyncio.Task[list[Any]]] = field(
        default_factory=dict[str, "asyncio.Task[list[Any]]"]
    )
    _changes: Counter[str] = field(default_factory=Counter[str])

    @property
    def sizes(self) -> dict[str, int]:
        known = {**self.shared, **self._kept}
        return {method: len(kept.listed.entries) for method, kept in known.items()}

    def is_settled(self, method: str) -> bool:
        """Return whether a list is known and still valid."""
        return self.at_hand(method) is not None

    def at_hand(self, method: str) -> list[Any] | None:
        """Return a list that is known and still valid."""
        found = self._find(method)
        if found is None or found.is_stale:
            return None
        return found.listed.entries

    async def get(self, method: str, *, may_be_stale: bool = False) -> list[Any]:
        """Return a list: as it is known, or read now if it is not.

        A stale one is read again in the background, and returned as it was. One that its server
        says has changed is waited for; only for a moment if it `may_be_stale`.
        """
        found = self._find(method)
        if found is None or found.is_lost:
            return await asyncio.shield(self._begin(method))
        if not found.is_stale:
            return found.listed.entries
        self._begin(method)
        if found.is_changed:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_CHANGED_SECONDS if may_be_stale else None):
                    return await self.settled(method)
        return found.listed.entries

    async def settled(self, method: str) -> list[Any]:
        """Return a list after all changes that the server has announced."""
        entries = await asyncio.shield(self._begin(method))
        tries = 1
        while tries < _TRIES and not self.is_settled(method):
            entries = await asyncio.shield(self._begin(method))
            tries += 1
        return entries

    async def read(self, method: str) -> list[Any]:
        """Return a list that is asked for after this was called, and not before."""
        return await self._run(method)

    def change(self, method: str) -> None:
        """Note that a list has changed: it is read again now, in the background."""
        self._changes[method] += 1
        found = self._find(method)
        if found is not None:
            found.is_changed = True
            self._begin(method)

    def clear(self) -> None:
        """Forget all lists: the connection is another one."""
        self._changes[""] += 1
        self._kept.clear()
        self._asking.clear()

    def _find(self, method: str) -> CachedList | None:
        return self._kept.get(method) or self.shared.get(method)

    def _begin(self, method: str) -> asyncio.Task[list[Any]]:
        """Ask, or join the task that asks; it goes on if a waiter is cancelled."""
        if method not in self._asking:
            task = self._asking[method] = asyncio.ensure_future(self._run(method))
            task.add_done_callback(lambda done: self._ended(method, done))
        return self._asking[method]

    async def _run(self, method: str) -> list[Any]:
        before = self._changes[method]
        connection = self._changes[""]
        began = time.monotonic()
        listed = await self.ask(method)
        if self._changes[""] == connection:
            is_changed = self._changes[method] != before
            now = time.monotonic()
            self._keep(method, CachedList(listed, now, is_changed, now - began))
        return listed.entries

    def _ended(self, method: str, task: asyncio.Task[list[Any]]) -> None:
        if self._asking.get(method) is task:
            del self._asking[method]
        if not task.cancelled() and (error := task.exception()) is not None:
            # A waiter gets the error; without one, the list stays as it was.
            _log.debug("%s failed: %s", method, error)

    def _keep(self, method: str, kept: CachedList) -> None:
        self.shared.pop(method, None)
        self._kept.pop(method, None)
        if kept.listed.is_public:
            self.shared[method] = kept
        else:
            self._kept[method] = kept
