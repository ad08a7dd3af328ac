"""A cache of values that are computed once for each object."""

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Once(Generic[K, V]):
    """A cache of `make(key)` for at most `most` objects that never change.

    >>> lengths = Once(lambda text: print("made") or len(text), most=2)
    >>> text = "four"
    >>> lengths.of(text), lengths.of(text)
    made
    (4, 4)
    """

    def __init__(self, make: Callable[[K], V], most: int) -> None:
        self._make = make
        self._most = most
        self._known: dict[int, tuple[K, V]] = {}

    def of(self, key: K) -> V:
        """Return the value of an object, computed at its first use."""
        # Look up by id, because hashing the object may be slow or fail. The entry keeps the object
        # alive, so no other object gets its id.
        entry = self._known.get(id(key))
        if entry is None:
            if len(self._known) >= self._most:
                self._known.clear()
            entry = self._known[id(key)] = (key, self._make(key))
        return entry[1]
