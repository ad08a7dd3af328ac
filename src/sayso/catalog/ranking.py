"""The ranking of tools for a search query, by the words of their texts.

Uses the same index as `Selector`. A query is a few words about one tool, and all tools that have
any of them are returned, page by page.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from sayso.catalog.select.entry import index_entry
from sayso.catalog.select.index import Index
from sayso.catalog.select.terms import fold, terms
from sayso.catalog.tool import Tool

_PREFIX: Final = 0.5
"""The weight of a word that only starts with a query word."""
_COMMON: Final = 0.1  # a word in a larger share of tools only ranks tools that match another word
_EMPTY: Final = 0.5  # a word in a larger share of tools is ignored
_FEW: Final = 50
"""Both shares apply only to words that more tools have."""

_SHORTEST_PREFIX: Final = 3
_MAX_PREFIXED: Final = 50
_MAX_QUERY: Final = 1_000
"""The limit in characters, so that a query cannot be expensive."""
_SCALE: Final = 1_000


class Ranking:
    """An immutable index of `tools` for searches.

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
        """Return the score of each matching tool, by its position.

        Words that many tools share only rank other matches, unless the query has no other words.
        """
        totals: dict[int, float] = {}
        for word_scores in sorted(self._word_scores(query), key=len):
            share = 0.0
            if totals and len(word_scores) > _FEW:
                share = len(word_scores) / self._count
            if share > _EMPTY:
                break
            places: Collection[int] = word_scores.keys()
            if share > _COMMON:
                places = totals.keys() & word_scores.keys()
            for place in places:
                totals[place] = totals.get(place, 0.0) + word_scores[place]
        return {place: max(1, round(_SCALE * score)) for place, score in totals.items()}

    def _word_scores(self, query: str) -> Iterator[Mapping[int, float]]:
        """Yield for each query word the scores of tools with it, or with a longer word."""
        text = query[:_MAX_QUERY]
        for word in dict.fromkeys(terms(text) or [fold(text.strip())]):
            concept = self._index.find(word)
            if concept is not None:
                yield concept.scores
            if word not in self._index:
                for longer in self._beginning_with(word):
                    yield self._index.impacts(longer, _PREFIX * self._index.rarity(longer))

    def _beginning_with(self, word: str) -> Iterator[str]:
        if len(word) < _SHORTEST_PREFIX:
            return
        start = bisect_left(self._vocabulary, word)
        for longer in self._vocabulary[start : start + _MAX_PREFIXED]:
            if not longer.startswith(word):
                return
            yield longer
