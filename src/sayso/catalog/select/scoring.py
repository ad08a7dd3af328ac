"""Scores of tools for a message: as a whole, by sentence and by need."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final

from sayso.catalog.select.index import Concept, Index
from sayso.catalog.select.needs import Need

_SHARE: Final = 1 / 3
"""The whole message, the best sentence and the best need count the same."""
_CLEAR: Final = 14.0
"""A need whose best score is lower is vague and counts less."""

_MIN_SHARE: Final = 0.4
"""The share of a need's best score that a candidate must exceed, if there are enough."""
ConceptMatch = tuple[str, float, Concept]


def score_tools(
    index: Index,
    sentences: Sequence[Sequence[Need]],
    hidden: Container[int] = (),
    *,
    enough: int = 1,
) -> dict[int, float]:
    """Return scores up to 1 by tool number, without tools that match nothing.

    Considers only the best tools of each term, unless these are not `enough`.
    """
    scores = _weigh_all(index, sentences, hidden, is_wide=False)
    if len(scores) < enough:
        return _weigh_all(index, sentences, hidden, is_wide=True)
    return scores


def _weigh_all(
    index: Index, sentences: Sequence[Sequence[Need]], hidden: Container[int], *, is_wide: bool
) -> dict[int, float]:
    whole: dict[int, float] = {}
    best_sentence: dict[int, float] = {}
    best_need: dict[int, float] = {}
    seen: set[str] = set()
    for needs in sentences:
        sentence: dict[int, float] = {}
        here: set[str] = set()
        for need in needs:
            known = list(_find(index, need))
            scores = _weigh(known, hidden, is_wide=is_wide)
            _keep_best(best_need, scores, need.weight)
            if len(needs) == 1:
                sentence = scores
            else:
                _add(sentence, _weigh_new(known, scores, here, hidden, is_wide=is_wide), 1.0)
            _add(whole, _weigh_new(known, scores, seen, hidden, is_wide=is_wide), need.weight)
        _keep_best(best_sentence, sentence, needs[0].weight)
    most = max(whole.values(), default=1.0)
    share = _SHARE / most
    return {
        at: share * worth + best_sentence.get(at, 0.0) + best_need.get(at, 0.0)
        for at, worth in whole.items()
    }


def _find(index: Index, need: Need) -> Iterable[ConceptMatch]:
    for term, counts in need.terms.items():
        concept = index.find(term)
        if concept is not None:
            yield term, counts, concept


def _weigh(
    concepts: Sequence[ConceptMatch], hidden: Container[int], *, is_wide: bool
) -> dict[int, float]:
    """Return the summed scores of tools that are among some term's best, or of all if `is_wide`."""
    opened = (concept.worths if is_wide else concept.best for _, _, concept in concepts)
    numbers = [at for several in opened for at in several if at not in hidden]
    scores: dict[int, float] = dict.fromkeys(numbers, 0.0)
    for _, counts, (worths, _) in concepts:
        for number in scores.keys() & worths.keys():
            scores[number] += counts * worths[number]
    if is_wide:
        return scores
    least = max(scores.values(), default=0.0) * _MIN_SHARE
    return {number: worth for number, worth in scores.items() if worth > least}


def _weigh_new(
    concepts: Sequence[ConceptMatch],
    scores: dict[int, float],
    seen: set[str],
    hidden: Container[int],
    *,
    is_wide: bool,
) -> dict[int, float]:
    fresh = [term for term in concepts if term[0] not in seen]
    seen.update(term for term, _, _ in concepts)
    if len(fresh) == len(concepts):
        return scores
    return _weigh(fresh, hidden, is_wide=is_wide)


def _keep_best(best: dict[int, float], scores: dict[int, float], weight: float) -> None:
    most = max(scores.values(), default=0.0)
    if not most:
        return
    part = weight * _SHARE / most * min(1.0, most / _CLEAR)
    for number, worth in scores.items():
        if part * worth > best.get(number, 0.0):
            best[number] = part * worth


def _add(to: dict[int, float], scores: dict[int, float], weight: float) -> None:
    for number, worth in scores.items():
        to[number] = to.get(number, 0.0) + weight * worth


def top(scores: Mapping[int, float], count: int, key: Callable[[int], str]) -> list[int]:
    """Return the `count` numbers with the best scores, in order; ties go by `key`."""
    if count < 1 or not scores:
        return []
    least = sorted(scores.values(), reverse=True)[:count][-1]
    candidates = [at for at, score in scores.items() if score >= least]
    return sorted(candidates, key=lambda at: (-scores[at], key(at)))[:count]
