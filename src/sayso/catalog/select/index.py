"""The index: which terms stand in which tools, and how much each says of one (BM25).

A term says more of a tool the rarer it is among all of them, the more it is worth where it stands,
and the shorter the tool's texts are (Robertson and Zaragoza, 2009). Numbers that a term needs are
worked out when it is first asked for: most terms of most tools never are.
"""

import math
from array import array
from collections.abc import Collection, Iterator, KeysView, Mapping
from typing import Final, NamedTuple

_SATURATION: Final = 1.2
_LENGTH: Final = 0.9
"""BM25's k1 and b."""
_UNIT: Final = 4
"""What a word of a description is worth, which these figures are made for."""
_CHAMPIONS: Final = 24
"""So many tools become candidates because of one term: those of which it says most."""
_BITS: Final = 16
MOST_WORTH: Final = (1 << _BITS) - 1
_MOST_KEPT: Final = 4_000_000


class Concept(NamedTuple):
    """What a term says of each tool, by the tool's number."""

    worths: Mapping[int, float]
    best: Collection[int]
    """The tools that become candidates because of it."""


class Index:
    """Tools by number, to which some may come and from which some may go.

    >>> index = Index()
    >>> index.add(7, {"customer": 12, "delet": 12}, "crm__customer_delete")
    >>> list(index.find("customer").worths)
    [7]
    """

    __slots__ = ("_codes", "_concepts", "_damping", "_kept", "_keys", "_lengths", "_total")

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
        """The numbers of the tools in it."""
        return self._lengths.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self._codes)

    def __contains__(self, term: str) -> bool:
        return term in self._codes

    def add(self, number: int, words: Mapping[str, int], key: str) -> None:
        """Take in a tool; among tools that fit as well the order is by `key`.

        No word may be worth more than `MOST_WORTH`.
        """
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
        """Let go of a tool that was taken in with these words."""
        for word, worth in words.items():
            known = self._codes[word]
            known.remove((number << _BITS) | worth)
            if not known:
                del self._codes[word]
        self._total -= self._lengths.pop(number)
        del self._keys[number]
        self._forget()

    def without(self, numbers: Collection[int]) -> "Index":
        """An index of all other tools, in which these have no part at all."""
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
        """How much a term says: the fewer tools have it, the more."""
        having = len(self._codes.get(term, ()))
        return math.log(1 + (len(self._lengths) - having + 0.5) / (having + 0.5))

    def find(self, term: str) -> Concept | None:
        """What is known of a term; `None` where no tool has it."""
        if term in self._concepts:
            return self._concepts[term]
        made = self._make(term)
        self._kept += 1
        if made is not None:
            self._kept += len(made.worths)
        if self._kept > _MOST_KEPT:
            self._concepts.clear()
            self._kept = 0
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
        """What a term says of each tool that has it, times `factor`."""
        if self._damping is None:
            usual = self._total / len(self._lengths) or 1.0
            per = _SATURATION * _LENGTH * _UNIT / usual
            least = _SATURATION * (1 - _LENGTH) * _UNIT
            self._damping = {at: least + per * length for at, length in self._lengths.items()}
        damping = self._damping
        factor *= 1 + _SATURATION
        return {
            (at := code >> _BITS): factor * (worth := code & MOST_WORTH) / (worth + damping[at])
            for code in self._codes[term]
        }

    def _forget(self) -> None:
        self._damping: dict[int, float] | None = None
        self._concepts: dict[str, Concept | None] = {}
        self._kept = 0
