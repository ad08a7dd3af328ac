"""A cache of verified tokens, by the digest of a token and never by the token."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, Generic, TypeVar

T = TypeVar("T")
MOST: Final = 4096


@dataclass(slots=True)
class Recent(Generic[T]):
    """A bounded cache; the least recently used value goes first."""

    clock: Callable[[], float] = time.monotonic
    most: int = MOST
    _found: OrderedDict[bytes, tuple[T, float]] = field(
        default_factory=OrderedDict[bytes, "tuple[T, float]"], repr=False
    )

    def put(self, token: str, value: T, *, seconds: float) -> None:
        name = _name(token)
        self._found[name] = value, self.clock() + seconds
        self._found.move_to_end(name)
        while len(self._found) > self.most:
            self._found.popitem(last=False)

    def get(self, token: str) -> T | None:
        name = _name(token)
        value, until = self._found.get(name, (None, 0.0))
        if value is None:
            return None
        if self.clock() >= until:
            del self._found[name]
            return None
        self._found.move_to_end(name)
        return value


def _name(token: str) -> bytes:
    return sha256(token.encode()).digest()
