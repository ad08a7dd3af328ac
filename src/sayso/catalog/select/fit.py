"""The fit: how well tools meet what is asked for: as a whole, by sentence, by need."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final

from sayso.catalog.select.index import Concept, Index
from sayso.catalog.select.needs import Need

_SHARE: Final = 1 / 3
"""The message as a whole, the sentence and the need that a tool meets best count the same."""
_CLEAR: Final = 14.0
"""A need whose best tool fits less than this is vague, and counts the less."""

_LEAST: Final = 0.4
"""What a tool must fit of the best one's fit to a need, where there are enough."""
ConceptMatch = tuple[str, float, Concept]


def weigh_fit(
    index: Index,
    sentences: Sequence[Sequence[Need]],
    hidden: Container[int] = (),
    *,
    enough: int = 1,
) -> dict[int, float]:
    """How well tools fit, up to 1, by their number; one that fits nothing is not there.

    Looks only at those that one word says much of, unless there are not `enough` of them.
    """
    found = _weigh_all(index, sentences, hidden, is_wide=False)
    if len(found) < enough:
        return _weigh_all(index, sentences, hidden, is_wide=True)
    return found


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
            found = _weigh(known, hidden, is_wide=is_wide)
            _keep_best(best_need, found, need.weight)
            if len(needs) == 1:
                sentence = found
            else:
                _add(sentence, _weigh_new(known, found, here, hidden, is_wide=is_wide), 1.0)
            _add(whole, _weigh_new(known, found, seen, hidden, is_wide=is_wide), need.weight)
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
    """What some terms say of the tools that one of them says much of, or, `is_wide`, anything."""
    opened = (concept.worths if is_wide else concept.best for _, _, concept in concepts)
    numbers = [at for several in opened for at in several if at not in hidden]
    found: dict[int, float] = dict.fromkeys(numbers, 0.0)
    for _, counts, (worths, _) in concepts:
        for number in found.keys() & worths.keys():
            found[number] += counts * worths[number]
    if is_wide:
        return found
    least = max(found.values(), default=0.0) * _LEAST
    return {number: worth for number, worth in found.items() if worth > least}


def _weigh_new(
    concepts: Sequence[ConceptMatch],
    found: dict[int, float],
    seen: set[str],
    hidden: Container[int],
    *,
    is_wide: bool,
) -> dict[int, float]:
    """The same without what terms say that were seen: said twice is not meant twice."""
    fresh = [term for term in concepts if term[0] not in seen]
    seen.update(term for term, _, _ in concepts)
    if len(fresh) == len(concepts):
        return found
    return _weigh(fresh, hidden, is_wide=is_wide)


def _keep_best(best: dict[int, float], found: dict[int, float], weight: float) -> None:
    most = max(found.values(), default=0.0)
    if not most:
        return
    part = weight * _SHARE / most * min(1.0, most / _CLEAR)
    for number, worth in found.items():
        if part * worth > best.get(number, 0.0):
            best[number] = part * worth


def _add(to: dict[int, float], found: dict[int, float], weight: float) -> None:
    for number, worth in found.items():
        to[number] = to.get(number, 0.0) + weight * worth


def best(scores: Mapping[int, float], count: int, key: Callable[[int], str]) -> list[int]:
    """The numbers that fit best, so many, in their order; those that fit as well by `key`."""
    if count < 1 or not scores:
        return []
    least = sorted(scores.values(), reverse=True)[:count][-1]
    found = [at for at, score in scores.items() if score >= least]
    return sorted(found, key=lambda at: (-scores[at], key(at)))[:count]
