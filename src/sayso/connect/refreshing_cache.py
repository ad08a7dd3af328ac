"""A cache of one fetched value: used while fresh, renewed by one task at a time."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import anyio

from sayso.errors import SaysoError, UnreachableError

T = TypeVar("T")
COOLDOWN: Final = 5.0
"""Seconds after a fetch: until then `get` retries no failed fetch, and `renew` does not fetch."""


@dataclass(frozen=True, slots=True)
class Fetched(Generic[T]):
    """A value that is `fresh` for some seconds, and `usable` longer if a new fetch fails."""

    value: T = field(repr=False)
    fresh: float
    usable: float


@dataclass(slots=True)
class RefreshingCache(Generic[T]):
    """A cached value. Safe to use from many tasks of one event loop at once."""

    fetch: Callable[[], Awaitable[Fetched[T]]]
    cooldown: float = COOLDOWN
    clock: Callable[[], float] = time.monotonic
    _fetched: Fetched[T] | None = None
    _since: float = 0.0
    _tried: float = float("-inf")
    _error: SaysoError | None = None
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def get(self) -> T:
        """Return the value. Raises what `fetch` raises if there is no usable value."""
        found = self._usable()
        if found is not None and (self._age() < found.fresh or self._lock.locked()):
            return found.value
        async with self._lock:
            found = self._usable()
            if found is not None and self._age() < found.fresh:
                return found.value
            if self._error is None or not self._is_cool():
                await self._try()
            return self._answer()

    async def renew(self) -> T:
        """Fetch and return the value; within the cooldown, return the value without a fetch."""
        tried = self._tried
        async with self._lock:
            if tried == self._tried and not self._is_cool():
                await self._try()
            return self._answer()

    def drop(self) -> None:
        """Drop the value, unless it was just fetched."""
        if not self._is_cool():
            self._fetched = None

    async def _try(self) -> None:
        began = self.clock()
        try:
            self._fetched = await self.fetch()
            self._since = began
            self._error = None
        except SaysoError as error:
            self._error = error
        # A cancelled fetch does not get here, so the next caller tries again.
        self._tried = self.clock()

    def _answer(self) -> T:
        found = self._usable()
        if found is not None:
            return found.value
        error = self._error or UnreachableError("the fetched value has already expired")
        raise error.with_traceback(None)

    def _usable(self) -> Fetched[T] | None:
        if self._fetched is None or self._age() >= self._fetched.usable:
            return None
        return self._fetched

    def _age(self) -> float:
        return self.clock() - self._since

    def _is_cool(self) -> bool:
        return self.clock() - self._tried < self.cooldown
