"""Vectors: what texts mean, by a model of whoever builds the agent; none comes with sayso."""

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from operator import mul
from typing import Final, Protocol

from sayso.catalog.select.entry import Entry
from sayso.catalog.words import word_list as terms_of
from sayso.errors import UsageError

_LONGEST: Final = 1_000

_LATE: Final = 60
"""How little the first places count beside the next: reciprocal rank fusion's usual figure
(Cormack, Clarke and Büttcher, 2009)."""


class Embed(Protocol):
    """Anything that gives a vector for each text: a model, or a function."""

    def __call__(self, texts: Sequence[str], /) -> Iterable[Sequence[float]]: ...


class Vectors:
    """The vectors of tools by fingerprint, so that a tool is embedded once."""

    __slots__ = ("_embed", "_known")

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._known: dict[str, array[float]] = {}

    def learn(self, entries: Iterable[Entry]) -> None:
        """Make the vectors that are missing, in one call; forget those of all other tools."""
        wanted = {one.fingerprint: one for one in entries}
        new = [one for mark, one in wanted.items() if mark not in self._known]
        made = self._of([_text(one) for one in new])
        self._known = {mark: one for mark, one in self._known.items() if mark in wanted}
        self._known |= {one.fingerprint: vector for one, vector in zip(new, made, strict=True)}

    def rank(self, asked: Sequence[str], tools: Mapping[int, Entry]) -> list[int]:
        """The numbers of tools, those first that are nearest to any of what is asked."""
        wanted = self._of(asked)
        known = self._known
        nearest = {
            at: max((sum(map(mul, known[one.fingerprint], vector)) for vector in wanted), default=0)
            for at, one in tools.items()
        }
        return sorted(nearest, key=lambda at: (-nearest[at], tools[at].key))

    def _of(self, texts: Sequence[str]) -> list["array[float]"]:
        """The vectors of texts, each of length 1; raises `UsageError` where one is missing."""
        if not texts:
            return []
        found = [array("f", [float(number) for number in one]) for one in self._embed(texts)]
        if len(found) != len(texts):
            what = f"embed gave {len(found)} vectors for {len(texts)} texts"
            raise UsageError(what, fix="It must give one for each, in their order.")
        return [_unit(one) for one in found]


def _text(entry: Entry) -> str:
    """What is embedded of a tool."""
    said = (entry.intent.title, entry.raw.get("description"))
    texts = [" ".join(terms_of(entry.name)), *(one for one in said if isinstance(one, str))]
    return ". ".join(texts)[:_LONGEST]


def fuse(rankings: Iterable[Sequence[int]]) -> dict[int, float]:
    """One score of several rankings: the earlier in each, the more; 1 is first in all.

    >>> fused = fuse([[1, 2], [2, 3]])
    >>> max(fused, key=fused.get)
    2
    """
    found: dict[int, float] = {}
    ranked = list(rankings)
    for numbers in ranked:
        for place, at in enumerate(numbers):
            found[at] = found.get(at, 0.0) + (_LATE + 1) / (_LATE + 1 + place) / len(ranked)
    return found


def _unit(vector: "array[float]") -> "array[float]":
    length = math.sqrt(sum(map(mul, vector, vector)))
    return array("f", (one / length for one in vector)) if length else vector
