"""A value that is fetched from elsewhere and kept: used while fresh, renewed by one at a time."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import anyio

from sayso.errors import SaysoError, UnreachableError

T = TypeVar("T")
COOLDOWN: Final = 5.0
"""Seconds. However many ask, a fetch that failed is not tried again before."""


@dataclass(frozen=True, slots=True)
class Fetched(Generic[T]):
    """A value, for how many seconds it is fresh, and for how many it may be used at most.

    In between it is used only while nothing newer can be had.
    """

    value: T = field(repr=False)
    fresh: float
    usable: float


@dataclass(slots=True)
class RefreshingCache(Generic[T]):
    """One such value. Safe to use from many tasks of one event loop at once."""

    fetch: Callable[[], Awaitable[Fetched[T]]]
    cooldown: float = COOLDOWN
    clock: Callable[[], float] = time.monotonic
    _found: Fetched[T] | None = None
    _since: float = 0.0
    _tried: float = float("-inf")
    _error: SaysoError | None = None
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def get(self) -> T:
        """The value. Raises what `fetch` raises where there is none that may be used."""
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
        """The value, fetched anew unless that was tried a moment ago."""
        tried = self._tried
        async with self._lock:
            if tried == self._tried and not self._is_cool():
                await self._try()
            return self._answer()

    def drop(self) -> None:
        """Use the value no more, unless it was fetched a moment ago: then no other is to be had."""
        if not self._is_cool():
            self._found = None

    async def _try(self) -> None:
        began = self.clock()
        try:
            self._found = await self.fetch()
            self._since = began
            self._error = None
        except SaysoError as error:
            self._error = error
        # Not where it was cancelled: then nothing is known, and the next one tries.
        self._tried = self.clock()

    def _answer(self) -> T:
        found = self._usable()
        if found is not None:
            return found.value
        error = self._error or UnreachableError("what was fetched is void already")
        raise error.with_traceback(None)

    def _usable(self) -> Fetched[T] | None:
        found = self._found
        return found if found is not None and self._age() < found.usable else None

    def _age(self) -> float:
        return self.clock() - self._since

    def _is_cool(self) -> bool:
        """Whether it was tried so short a while ago that it is not tried again."""
        return self.clock() - self._tried < self.cooldown
