"""Fits the heads of the model: one logistic regression each, on whether a feature is there."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from corpus import LOSES, WRITES, Case
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from sayso.infer.evidence import evidence

FEWEST_SOURCES: Final = 3
"""A feature that fewer families or pairs of examples have is their own word."""
FOLDS: Final = 44
BARE: Final = 0.15
"""How much a tool counts of which only the name is left."""


@dataclass(frozen=True, slots=True)
class Head:
    """One question that is answered yes or no, of those cases of which it can be asked."""

    name: str
    asks: Callable[[Case], bool]
    answer: Callable[[Case], bool]
    strength: float
    """The inverse of the L2 penalty."""


def _writes(case: Case) -> bool:
    return case.kind in WRITES


def _kind(kind: str) -> Head:
    return Head(kind, _writes, lambda case: case.kind == kind, 0.3)


HEADS: Final = (
    Head(
        "read_only", lambda case: case.is_agreed, lambda case: bool(case.judged["read_only"]), 0.5
    ),
    *(_kind(one) for one in WRITES),
    Head(
        "idempotent",
        lambda case: _writes(case) and case.judged["idempotent"] is not None,
        lambda case: bool(case.judged["idempotent"]),
        0.2,
    ),
    Head(
        "open_world",
        lambda case: case.judged["open_world"] is not None,
        lambda case: bool(case.judged["open_world"]),
        0.2,
    ),
)


class Cases:
    """Cases with their features, as rows of a matrix over a vocabulary that many families share."""

    def __init__(self, some: Sequence[Case]) -> None:
        self.all = [*some, *(_bare(one) for one in some)]
        self._fits: dict[tuple[str, tuple[int, ...]], Any] = {}
        found = [evidence(one.tool)[0] for one in self.all]
        sources: dict[str, set[str]] = defaultdict(set)
        for one, names in zip(self.all, found, strict=True):
            for name in names:
                sources[name].add(one.source)
        shared = sorted(name for name, who in sources.items() if len(who) >= FEWEST_SOURCES)
        self.vocabulary = {name: at for at, name in enumerate(shared)}
        rows = [
            [self.vocabulary[name] for name in names if name in self.vocabulary] for names in found
        ]
        starts = np.cumsum([0, *(len(row) for row in rows)])
        columns = np.array([at for row in rows for at in row])
        self.matrix = csr_matrix(
            (np.ones(len(columns)), columns, starts), shape=(len(rows), len(shared))
        )

    def fit(self, head: Head, among: Sequence[int]) -> Any:
        """A regression for one head, on some of the cases; it is fitted once."""
        key = (head.name, tuple(among))
        if key not in self._fits:
            self._fits[key] = self._fit(head, among)
        return self._fits[key]

    def _fit(self, head: Head, among: Sequence[int]) -> Any:
        rows = [at for at in among if head.asks(self.all[at]) and self.all[at].weight > 0]
        answers = np.array([head.answer(self.all[at]) for at in rows])
        weights = np.array([self.all[at].weight for at in rows])
        model = LogisticRegression(C=head.strength, solver="liblinear", max_iter=300)
        return model.fit(self.matrix[rows], answers, sample_weight=weights)

    def folds(self) -> Iterator[tuple[list[int], list[int]]]:
        """Which cases teach and which are asked: no family is in both; examples only teach."""
        real = [at for at, one in enumerate(self.all) if one.family]
        made = [at for at, one in enumerate(self.all) if not one.family]
        families = [self.all[at].family for at in real]
        for teach, ask in GroupKFold(FOLDS).split(real, groups=families):
            asked = [real[at] for at in ask if not self.all[real[at]].is_bare]
            yield [real[at] for at in teach] + made, asked

    def across(self) -> dict[str, Any]:
        """What each head says (log-odds) of each real case, fitted on other families alone."""
        said = {head.name: np.full(len(self.all), np.nan) for head in HEADS}
        for teach, ask in self.folds():
            for head in HEADS:
                said[head.name][ask] = self.fit(head, teach).decision_function(self.matrix[ask])
        return said


def _bare(case: Case) -> Case:
    """The same tool with nothing but its name, as some servers have it: no text is no evidence."""
    return replace(case, tool={"name": case.tool["name"]}, weight=case.weight * BARE, is_bare=True)


def chance(logit: Any) -> Any:
    """Log-odds as a chance between 0 and 1."""
    return 1 / (1 + np.exp(-logit))


def loses(said: dict[str, Any]) -> Any:
    """How likely it is that something is lost, of all kinds of writing."""
    chances = {kind: chance(said[kind]) for kind in WRITES}
    return sum(chances[kind] for kind in LOSES) / sum(chances.values())
