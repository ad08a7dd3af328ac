"""What is worked out once for an object, and remembered as long as there is room."""

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Once(Generic[K, V]):
    """Remembers what `make` gives for an object that never changes, for `most` of them.

    >>> said = Once(lambda one: print("made") or len(one), most=2)
    >>> text = "four"
    >>> said.of(text), said.of(text)
    made
    (4, 4)
    """

    def __init__(self, make: Callable[[K], V], most: int) -> None:
        self._make = make
        self._most = most
        self._known: dict[int, tuple[K, V]] = {}

    def of(self, key: K) -> V:
        """What was made of it."""
        # By identity, since it may hold what cannot be hashed, or what takes long to; the entry
        # keeps it alive, so that its id stays its own.
        entry = self._known.get(id(key))
        if entry is None:
            if len(self._known) >= self._most:
                self._known.clear()
            entry = self._known[id(key)] = (key, self._make(key))
        return entry[1]
