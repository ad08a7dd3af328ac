"""Measures of a ranking: the needed tools that are in it, and their positions."""

import math
from collections.abc import Collection, Sequence

Groups = Sequence[Collection[str]]
"""The needed tools, a group per need; any one of a group meets it."""


def recall(ranked: Sequence[str], groups: Groups, k: int) -> float:
    """Return the share of needs that one of the first `k` tools meets.

    >>> recall(["a", "b", "c"], [["b", "x"], ["c"]], 2)
    0.5
    """
    first = set(ranked[:k])
    return (
        sum(1 for group in groups if not first.isdisjoint(group)) / len(groups) if groups else 0.0
    )


def ndcg(ranked: Sequence[str], groups: Groups, k: int) -> float:
    """Return the normalized discounted cumulative gain; a need counts once.

    >>> ndcg(["a", "b"], [["a"]], 10), ndcg(["b", "a"], [["a"]], 10) < 1
    (1.0, True)
    """
    left = list(groups)
    gain = 0.0
    for place, tool in enumerate(ranked[:k]):
        met = next((group for group in left if tool in group), None)
        if met is not None:
            left.remove(met)
            gain += _weight(place)
    most = sum(_weight(place) for place in range(min(k, len(groups))))
    return gain / most if most else 0.0


def _weight(place: int) -> float:
    return 1 / math.log2(place + 2)
