"""The trained model: its weights, and what it says of the features of a tool.

Some questions, each a logistic regression on which features are there: does it only read; which
kind of writing is it; does a repeat add anything; whose world does it reach. What is lost after a
call follows from the kinds (docs/judging.md). `training/` makes `weights.json`.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp, log
from typing import Any, Final

from sayso.intent import HintName

_STEP: Final = 100
"""Weights are kept as whole hundredths."""
_FLOOR: Final = 1e-9

Rows = dict[str, tuple[int, ...]]
"""Features, each with its weights for all heads."""
Said = dict[HintName, float]
"""For each hint the chance, between 0 and 1, that it is true; of the write hints: if it writes."""


@dataclass(frozen=True, slots=True)
class Model:
    """What training found.

    `weights` has for each feature one number for each of `heads`. `loses` are the heads of kinds
    of writing after which something is lost, `keeps` those of the others. `scales` turns log-odds
    into chances that hold (Platt). `claims` says how sure the model must be, for each hint and
    value, to say anything.
    """

    heads: tuple[str, ...]
    biases: tuple[int, ...]
    weights: Mapping[str, tuple[int, ...]]
    loses: tuple[int, ...]
    keeps: tuple[int, ...]
    scales: Mapping[HintName, tuple[float, float]]
    claims: Mapping[HintName, Mapping[bool, float]]

    @classmethod
    def of(cls, raw: dict[str, Any]) -> "Model":
        """The model that a document of `training/` describes."""
        heads = tuple(raw["heads"])
        kinds = {name: heads.index(name) for name in raw["kinds"]}
        return cls(
            heads=heads,
            biases=tuple(raw["biases"]),
            weights={name: tuple(row) for name, row in raw["weights"].items()},
            loses=tuple(at for name, at in kinds.items() if name in raw["loses"]),
            keeps=tuple(at for name, at in kinds.items() if name not in raw["loses"]),
            scales={name: tuple(pair) for name, pair in raw["scales"].items()},
            claims={
                name: {True: least["true"], False: least["false"]}
                for name, least in raw["claims"].items()
            },
        )

    def rows(self, found: Iterable[str]) -> Rows:
        """The weights of those features that it knows."""
        return {name: row for name in found if (row := self.weights.get(name)) is not None}

    def scores(self, rows: Rows) -> list[float]:
        """The log-odds that each head gives a tool with these features."""
        return [sum(column) / _STEP for column in zip(self.biases, *rows.values(), strict=True)]

    def chances(self, scores: list[float]) -> Said:
        """The chance of each hint."""
        return {name: self._chance(name, self._logit(name, scores)) for name in self.scales}

    def _logit(self, name: HintName, scores: list[float]) -> float:
        if name != "destructive":
            return scores[self.heads.index(name)]
        lost, kept = self._shares(scores)
        return log(lost / kept)

    def _shares(self, scores: list[float]) -> tuple[float, float]:
        """How much speaks for kinds that lose something, and for those that do not."""
        lost = sum(_sigmoid(scores[at]) for at in self.loses)
        kept = sum(_sigmoid(scores[at]) for at in self.keeps)
        return lost + _FLOOR, kept + _FLOOR

    def _chance(self, name: HintName, logit: float) -> float:
        slope, offset = self.scales[name]
        return _sigmoid(slope * logit + offset)

    def pulls(self, name: HintName, scores: list[float], rows: Rows) -> dict[str, float]:
        """How much each feature of a tool moves a hint towards true, in log-odds."""
        if name != "destructive":
            at = self.heads.index(name)
            return {feature: row[at] / _STEP for feature, row in rows.items()}
        kinds = self._gradient(scores)
        return {
            feature: sum([row[at] * pull for at, pull in kinds]) / _STEP
            for feature, row in rows.items()
        }

    def _gradient(self, scores: list[float]) -> list[tuple[int, float]]:
        lost, kept = self._shares(scores)
        return [
            (at, chance * (1 - chance) / share)
            for some, share in ((self.loses, lost), (self.keeps, -kept))
            for at in some
            for chance in (_sigmoid(scores[at]),)
        ]


def _sigmoid(logit: float) -> float:
    return 1 / (1 + exp(-max(-40.0, min(40.0, logit))))


@cache
def model() -> Model:
    """The model that sayso comes with, read when it is first asked."""
    return Model.of(json.loads(files("sayso.infer").joinpath("weights.json").read_bytes()))
