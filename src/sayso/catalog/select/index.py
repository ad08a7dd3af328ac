"""The BM25 index of terms and tools (Robertson and Zaragoza, 2009).

A term scores higher the rarer it is, the more weight its text has, and the shorter the tool's
texts are. Scores of a term are computed on first use, since most terms are never requested.
"""

import math
from array import array
from collections.abc import Collection, Iterator, KeysView, Mapping
from typing import Final, NamedTuple

_SATURATION: Final = 1.2  # BM25's k1
_LENGTH: Final = 0.9  # BM25's b
_UNIT: Final = 4
"""The weight of a word of a description. `_SATURATION` and `_LENGTH` were chosen for it."""
_CHAMPIONS: Final = 24
"""The number of tools that become candidates because of one term."""
_BITS: Final = 16
MAX_WEIGHT: Final = (1 << _BITS) - 1
_MAX_CACHED: Final = 4_000_000


class Concept(NamedTuple):
    """The scores of a term, by tool number."""

    scores: Mapping[int, float]
    best: Collection[int]
    """The tools that become candidates because of the term."""


class Index:
    """An updatable index of tools by number.

    >>> index = Index()
    >>> index.add(7, {"customer": 12, "delet": 12}, "crm__customer_delete")
    >>> list(index.find("customer").scores)
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
        for word, weight in words.items():
            postings = codes.get(word)
            if postings is None:
                codes[word] = array("Q", (high | weight,))
            else:
                postings.append(high | weight)
        length = sum(words.values())
        self._lengths[number] = length
        self._keys[number] = key
        self._total += length
        self._forget()

    def remove(self, number: int, words: Mapping[str, int]) -> None:
        for word, weight in words.items():
            postings = self._codes[word]
            postings.remove((number << _BITS) | weight)
            if not postings:
                del self._codes[word]
        self._total -= self._lengths.pop(number)
        del self._keys[number]
        self._forget()

    def without(self, numbers: Collection[int]) -> "Index":
        """Return an index of all tools except `numbers`, which no longer influence scores."""
        other = Index()
        for word, codes in self._codes.items():
            left = array("Q", [code for code in codes if code >> _BITS not in numbers])
            if left:
                other._codes[word] = left
        other._lengths = {
            number: length for number, length in self._lengths.items() if number not in numbers
        }
        other._keys = {number: key for number, key in self._keys.items() if number not in numbers}
        other._total = sum(other._lengths.values())
        return other

    def rarity(self, term: str) -> float:
        count = len(self._codes.get(term, ()))
        return math.log(1 + (len(self._lengths) - count + 0.5) / (count + 0.5))

    def find(self, term: str) -> Concept | None:
        if term in self._concepts:
            return self._concepts[term]
        concept = self._make(term)
        self._cached += 1
        if concept is not None:
            self._cached += len(concept.scores)
        if self._cached > _MAX_CACHED:
            self._concepts.clear()
            self._cached = 0
        self._concepts[term] = concept
        return concept

    def _make(self, term: str) -> Concept | None:
        if term not in self._codes:
            return None
        scores = self.impacts(term, self.rarity(term))
        if len(scores) <= _CHAMPIONS:
            return Concept(scores, scores)
        lowest = sorted(scores.values())[-_CHAMPIONS]
        best = [number for number, score in scores.items() if score >= lowest]
        if len(best) > _CHAMPIONS:
            keys = self._keys
            best.sort(key=lambda number: (-scores[number], keys[number]))
        return Concept(scores, best[:_CHAMPIONS])

    def impacts(self, term: str, factor: float) -> dict[int, float]:
        """Return the scores of a term times `factor`, by tool number."""
        if self._damping is None:
            mean_length = self._total / len(self._lengths) or 1.0
            per = _SATURATION * _LENGTH * _UNIT / mean_length
            minimum = _SATURATION * (1 - _LENGTH) * _UNIT
            self._damping = {
                number: minimum + per * length for number, length in self._lengths.items()
            }
        damping = self._damping
        factor *= 1 + _SATURATION
        return {
            (number := code >> _BITS): factor
            * (weight := code & MAX_WEIGHT)
            / (weight + damping[number])
            for code in self._codes[term]
        }

    def _forget(self) -> None:
        self._damping: dict[int, float] | None = None
        self._concepts: dict[str, Concept | None] = {}
        self._cached = 0
