"""A cache of tokens' verification results, keyed by a digest of the token."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, Generic, TypeVar

T = TypeVar("T")
MAX_TOKENS: Final = 4096


@dataclass(slots=True)
class TokenCache(Generic[T]):
    """A cache of up to `limit` values. The least recently used value is evicted first."""

    clock: Callable[[], float] = time.monotonic
    limit: int = MAX_TOKENS
    _entries: OrderedDict[bytes, tuple[T, float]] = field(
        default_factory=OrderedDict[bytes, "tuple[T, float]"], repr=False
    )

    def put(self, token: str, value: T, *, seconds: float) -> None:
        name = _name(token)
        self._entries[name] = value, self.clock() + seconds
        self._entries.move_to_end(name)
        while len(self._entries) > self.limit:
            self._entries.popitem(last=False)

    def get(self, token: str) -> T | None:
        name = _name(token)
        value, until = self._entries.get(name, (None, 0.0))
        if value is None:
            return None
        if self.clock() >= until:
            del self._entries[name]
            return None
        self._entries.move_to_end(name)
        return value


def _name(token: str) -> bytes:
    return sha256(token.encode()).digest()
