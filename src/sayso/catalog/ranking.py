"""The ranking: which tools fit a query best, by the words of their texts.

It asks the index that `Selector` selects from; a query is a few words about one tool, and all that
have any of them are wanted, page by page.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from sayso.catalog.select.entry import index_entry
from sayso.catalog.select.index import Index
from sayso.catalog.select.terms import fold, terms
from sayso.catalog.tool import Tool

_PREFIX: Final = 0.5
"""What a word counts that only begins with one of the query."""
_COMMON: Final = 0.1
_EMPTY: Final = 0.5
"""The share of all tools that have a word from which on it says little, and next to nothing."""
_FEW: Final = 50
"""So many tools are looked at for any word."""

_SHORTEST_PREFIX: Final = 3
_MOST_PREFIXED: Final = 50
_LONGEST_QUERY: Final = 1_000
"""A query is a caller's: it may not make a search cost much."""
_SCALE: Final = 1_000


class Ranking:
    """An index of `tools`, made once and asked any number of times.

    >>> from sayso.catalog import make_tool
    >>> tools = [make_tool("crm", {"name": n}) for n in ("user_list", "user_delete")]
    >>> list(Ranking(tools).scores("delete a user"))
    [1, 0]
    """

    __slots__ = ("_count", "_index", "_vocabulary")

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._count = len(tools)
        self._index = Index()
        for place, tool in enumerate(tools):
            self._index.add(place, index_entry(tool).words(), f"{place:09}")
        self._vocabulary = sorted(self._index)

    def scores(self, query: str) -> dict[int, int]:
        """How well tools fit, by their place among those given; one that does not is not there.

        What many tools have in common finds none of them; it only ranks those that are found,
        unless nothing else was asked for.
        """
        found: dict[int, float] = {}
        for worths in sorted(self._wanted(query), key=len):
            share = 0.0
            if found and len(worths) > _FEW:
                share = len(worths) / self._count
            if share > _EMPTY:
                break
            places: Collection[int] = worths.keys()
            if share > _COMMON:
                places = found.keys() & worths.keys()
            for place in places:
                found[place] = found.get(place, 0.0) + worths[place]
        return {place: max(1, round(_SCALE * score)) for place, score in found.items()}

    def _wanted(self, query: str) -> Iterator[Mapping[int, float]]:
        """For each word of a query what it says of the tools that have it, or one like it."""
        said = query[:_LONGEST_QUERY]
        for word in dict.fromkeys(terms(said) or [fold(said.strip())]):
            concept = self._index.find(word)
            if concept is not None:
                yield concept.worths
            if word not in self._index:
                for longer in self._beginning_with(word):
                    yield self._index.impacts(longer, _PREFIX * self._index.rarity(longer))

    def _beginning_with(self, word: str) -> Iterator[str]:
        if len(word) < _SHORTEST_PREFIX:
            return
        start = bisect_left(self._vocabulary, word)
        for longer in self._vocabulary[start : start + _MOST_PREFIXED]:
            if not longer.startswith(word):
                return
            yield longer
