"""Scores of tools for a message: as a whole, by sentence and by need."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final

from sayso.catalog.select.index import Concept, Index
from sayso.catalog.select.needs import Need

_SHARE: Final = 1 / 3
"""The whole message, the best sentence and the best need each give up to a third of a score."""
_CLEAR: Final = 14.0
"""A need whose best score is lower is vague and counts less."""

_MIN_SHARE: Final = 0.4
"""The share of a need's best score that a candidate must exceed."""
ConceptMatch = tuple[str, float, Concept]


def score_tools(
    index: Index,
    sentences: Sequence[Sequence[Need]],
    hidden: Container[int] = (),
    *,
    enough: int = 1,
) -> dict[int, float]:
    """Return scores up to 1 by tool number, without tools that match nothing.

    Considers only the best tools of each term, and all tools if these are fewer than `enough`.
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
    message_terms: set[str] = set()
    for needs in sentences:
        sentence: dict[int, float] = {}
        sentence_terms: set[str] = set()
        for need in needs:
            known = list(_find(index, need))
            scores = _weigh(known, hidden, is_wide=is_wide)
            _keep_best(best_need, scores, need.weight)
            if len(needs) == 1:
                sentence = scores
            else:
                _add(
                    sentence,
                    _weigh_new(known, scores, sentence_terms, hidden, is_wide=is_wide),
                    1.0,
                )
            _add(
                whole,
                _weigh_new(known, scores, message_terms, hidden, is_wide=is_wide),
                need.weight,
            )
        _keep_best(best_sentence, sentence, needs[0].weight)
    highest = max(whole.values(), default=1.0)
    share = _SHARE / highest
    return {
        number: share * score + best_sentence.get(number, 0.0) + best_need.get(number, 0.0)
        for number, score in whole.items()
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
    opened = (concept.scores if is_wide else concept.best for _, _, concept in concepts)
    numbers = [candidate for several in opened for candidate in several if candidate not in hidden]
    scores: dict[int, float] = dict.fromkeys(numbers, 0.0)
    for _, counts, (term_scores, _) in concepts:
        for number in scores.keys() & term_scores.keys():
            scores[number] += counts * term_scores[number]
    if is_wide:
        return scores
    lowest = max(scores.values(), default=0.0) * _MIN_SHARE
    return {number: score for number, score in scores.items() if score > lowest}


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
    highest = max(scores.values(), default=0.0)
    if not highest:
        return
    part = weight * _SHARE / highest * min(1.0, highest / _CLEAR)
    for number, score in scores.items():
        if part * score > best.get(number, 0.0):
            best[number] = part * score


def _add(to: dict[int, float], scores: dict[int, float], weight: float) -> None:
    for number, score in scores.items():
        to[number] = to.get(number, 0.0) + weight * score


def top(scores: Mapping[int, float], count: int, key: Callable[[int], str]) -> list[int]:
    """Return the `count` numbers with the best scores, in order; ties go by `key`."""
    if count < 1 or not scores:
        return []
    lowest = sorted(scores.values(), reverse=True)[:count][-1]
    candidates = [number for number, score in scores.items() if score >= lowest]
    return sorted(candidates, key=lambda number: (-scores[number], key(number)))[:count]
