"""The ranking: which tools fit a query best, by the words of their texts (BM25).

A word says more of a tool the rarer it is among all of them, the nearer to the tool's name it
stands, and the shorter the tool's texts are (Robertson and Zaragoza, 2009).
"""

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, cast

from avow.catalog.tool import Tool
from avow.catalog.words import RELATED, word_list

_NAME: Final = 3.0
_TITLE: Final = 2.0
_TEXT: Final = 1.0
_ARGUMENT: Final = 0.5
_ARGUMENT_TEXT: Final = 0.25
"""What a word is worth in each of a tool's texts."""

_SATURATION: Final = 2.0
_LENGTH: Final = 0.9
"""BM25's k1 and b."""

_RELATED: Final = 0.35
_PREFIX: Final = 0.5
"""What a word counts that only means the same as one of the query, or only begins with it."""

_COMMON: Final = 0.1
_EMPTY: Final = 0.5
"""The share of all tools that have a word from which on it says little, and next to nothing."""
_FEW: Final = 50
"""So many tools are looked at for any word."""

_SHORTEST_PREFIX: Final = 3
_MOST_PREFIXED: Final = 50
_MOST: Final = 100
_LONGEST_TEXT: Final = 400
_LONGEST_QUERY: Final = 1_000
"""Texts are a server's, and queries a caller's: neither may make a search cost much. What a tool
is for stands at the beginning of its description."""

_SCALE: Final = 1_000

Postings = tuple["array[int]", "array[float]"]
"""The tools that have a word, and what it is worth in each."""


class Ranking:
    """An index of `tools`, made once and asked any number of times.

    >>> from avow.catalog import make_tool
    >>> tools = [make_tool("crm", {"name": n}) for n in ("user_list", "user_delete")]
    >>> list(Ranking(tools).scores("remove a user"))
    [1, 0]
    """

    __slots__ = ("_count", "_postings", "_vocabulary")

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._count = len(tools)
        self._postings = _index(tools)
        self._vocabulary = sorted(self._postings)

    def scores(self, query: str) -> dict[int, int]:
        """How well tools fit, by their place among those given; one that does not is not there.

        What many tools have in common finds none of them; it only ranks those that are found,
        unless nothing else was asked for.
        """
        found: dict[int, float] = {}
        wanted = self._wanted(query)
        for word in sorted(wanted, key=lambda one: len(self._postings[one][0])):
            places, worths = self._postings[word]
            factor = wanted[word] * self._rarity(len(places))
            share = len(places) / self._count if len(places) > _FEW else 0.0
            if share > _EMPTY and found:
                break
            if share > _COMMON and found:
                _add_to_known(found, places, worths, factor)
            else:
                for place, worth in zip(places, worths, strict=True):
                    found[place] = found.get(place, 0.0) + factor * worth
        return {place: max(1, round(_SCALE * score)) for place, score in found.items()}

    def _wanted(self, query: str) -> dict[str, float]:
        """The words to look for that some tool has, each with what it counts."""
        asked = dict.fromkeys(word_list(query[:_LONGEST_QUERY]))
        wanted = {word: 1.0 for word in asked if word in self._postings}
        for word in asked:
            related = RELATED.get(word, ())
            for one in (one for one in related if one in self._postings):
                wanted.setdefault(one, _RELATED)
            if word not in self._postings:
                for one in self._beginning_with(word):
                    wanted.setdefault(one, _PREFIX)
        return wanted

    def _beginning_with(self, word: str) -> Iterator[str]:
        if len(word) < _SHORTEST_PREFIX:
            return
        start = bisect_left(self._vocabulary, word)
        for one in self._vocabulary[start : start + _MOST_PREFIXED]:
            if not one.startswith(word):
                return
            yield one

    def _rarity(self, having: int) -> float:
        return math.log(1 + (self._count - having + 0.5) / (having + 0.5))


def _add_to_known(
    found: dict[int, float], places: "array[int]", worths: "array[float]", factor: float
) -> None:
    for place, worth in zip(places, worths, strict=True):
        if place in found:
            found[place] += factor * worth


def _index(tools: Sequence[Tool]) -> dict[str, Postings]:
    counts = [_counts(one) for one in tools]
    lengths = [sum(one.values()) for one in counts]
    usual = sum(lengths) / len(lengths) if lengths else 1.0
    found: dict[str, Postings] = {}
    for place, (words, length) in enumerate(zip(counts, lengths, strict=True)):
        damping = _SATURATION * (1 - _LENGTH + _LENGTH * length / usual)
        for word, count in words.items():
            places, worths = found.setdefault(word, (array("I"), array("f")))
            places.append(place)
            worths.append(count / (count + damping))
    return found


def _counts(tool: Tool) -> dict[str, float]:
    """How often each word stands in a tool's texts, by what it is worth there."""
    found: dict[str, float] = {}
    for text, worth in _texts(tool):
        for word in word_list(text[:_LONGEST_TEXT]):
            found[word] = found.get(word, 0.0) + worth
    return found


def _texts(tool: Tool) -> Iterator[tuple[str, float]]:
    intent = tool.intent
    yield tool.name, _NAME
    yield intent.title or "", _TITLE
    yield " ".join([tool.server, intent.category or "", *sorted(intent.tags)]), _TEXT
    said = tool.raw.get("description")
    yield (said if isinstance(said, str) else ""), _TEXT
    for name, schema in islice(_object((tool.input_schema or {}).get("properties")).items(), _MOST):
        yield name, _ARGUMENT
        text = _object(schema).get("description")
        yield (text if isinstance(text, str) else ""), _ARGUMENT_TEXT


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
