"""The BM25 index of terms and tools (Robertson and Zaragoza, 2009).

A term scores higher the rarer it is, the more weight its text has, and the shorter the tool's
texts are. Scores of a term are computed on first use, since most terms are never requested.
"""

import math
from array import array
from collections.abc import Collection, Iterator, KeysView, Mapping
from typing import Final, NamedTuple

_SATURATION: Final = 1.2
_LENGTH: Final = 0.9
"""BM25's k1 and b."""
_UNIT: Final = 4
"""The weight of a word of a description, for which the parameters were chosen."""
_CHAMPIONS: Final = 24
"""The number of tools that become candidates because of one term."""
_BITS: Final = 16
MAX_WEIGHT: Final = (1 << _BITS) - 1
_MAX_CACHED: Final = 4_000_000


class Concept(NamedTuple):
    """The scores of a term, by tool number."""

    worths: Mapping[int, float]
    best: Collection[int]
    """The tools that become candidates because of the term."""


class Index:
    """An updatable index of tools by number.

    >>> index = Index()
    >>> index.add(7, {"customer": 12, "delet": 12}, "crm__customer_delete")
    >>> list(index.find("customer").worths)
    [7]
    """

    __slots__ = ("_cached", "_codes", "_concepts", "_damping", "_keys", "_lengths", "_total")

    def __init__(self) -> None:
        self._codes: dict[str, array[int]] = {}
        self._lengths: dict[int, int] = {}
        self._keys: dict[int, str] = {}
        self._total = 0
        self._forget()

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def numbers(self) -> KeysView[int]:
        return self._lengths.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self._codes)

    def __contains__(self, term: str) -> bool:
        return term in self._codes

    def add(self, number: int, words: Mapping[str, int], key: str) -> None:
        """Add a tool; `key` breaks ties. No weight may exceed `MAX_WEIGHT`."""
        codes = self._codes
        high = number << _BITS
        for word, worth in words.items():
            known = codes.get(word)
            if known is None:
                codes[word] = array("Q", (high | worth,))
            else:
                known.append(high | worth)
        length = sum(words.values())
        self._lengths[number] = length
        self._keys[number] = key
        self._total += length
        self._forget()

    def remove(self, number: int, words: Mapping[str, int]) -> None:
        for word, worth in words.items():
            known = self._codes[word]
            known.remove((number << _BITS) | worth)
            if not known:
                del self._codes[word]
        self._total -= self._lengths.pop(number)
        del self._keys[number]
        self._forget()

    def without(self, numbers: Collection[int]) -> "Index":
        """Return an index of all other tools, uninfluenced by these."""
        other = Index()
        for word, codes in self._codes.items():
            left = array("Q", [code for code in codes if code >> _BITS not in numbers])
            if left:
                other._codes[word] = left
        other._lengths = {at: length for at, length in self._lengths.items() if at not in numbers}
        other._keys = {at: key for at, key in self._keys.items() if at not in numbers}
        other._total = sum(other._lengths.values())
        return other

    def rarity(self, term: str) -> float:
        having = len(self._codes.get(term, ()))
        return math.log(1 + (len(self._lengths) - having + 0.5) / (having + 0.5))

    def find(self, term: str) -> Concept | None:
        if term in self._concepts:
            return self._concepts[term]
        made = self._make(term)
        self._cached += 1
        if made is not None:
            self._cached += len(made.worths)
        if self._cached > _MAX_CACHED:
            self._concepts.clear()
            self._cached = 0
        self._concepts[term] = made
        return made

    def _make(self, term: str) -> Concept | None:
        if term not in self._codes:
            return None
        worths = self.impacts(term, self.rarity(term))
        if len(worths) <= _CHAMPIONS:
            return Concept(worths, worths)
        least = sorted(worths.values())[-_CHAMPIONS]
        best = [at for at, worth in worths.items() if worth >= least]
        if len(best) > _CHAMPIONS:
            keys = self._keys
            best.sort(key=lambda at: (-worths[at], keys[at]))
        return Concept(worths, best[:_CHAMPIONS])

    def impacts(self, term: str, factor: float) -> dict[int, float]:
        """Return the scores of a term times `factor`, by tool number."""
        if self._damping is None:
            usual = self._total / len(self._lengths) or 1.0
            per = _SATURATION * _LENGTH * _UNIT / usual
            least = _SATURATION * (1 - _LENGTH) * _UNIT
            self._damping = {at: least + per * length for at, length in self._lengths.items()}
        damping = self._damping
        factor *= 1 + _SATURATION
        return {
            (at := code >> _BITS): factor * (worth := code & MAX_WEIGHT) / (worth + damping[at])
            for code in self._codes[term]
        }

    def _forget(self) -> None:
        self._damping: dict[int, float] | None = None
        self._concepts: dict[str, Concept | None] = {}
        self._cached = 0
