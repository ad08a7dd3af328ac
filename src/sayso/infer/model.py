"""The trained model: logistic regressions over the features of a tool.

The heads are: reads only, kinds of writing, idempotence, and open world. Destructiveness follows
from the kinds (training/JUDGING.md). `training/` writes `weights.json`.
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
"""Weights are stored in hundredths."""
_FLOOR: Final = 1e-9

Rows = dict[str, tuple[int, ...]]
"""The weights of each feature for all heads."""
Chances = dict[HintName, float]
"""The chance that each hint is true, from 0 to 1. For write hints: if the tool writes."""


@dataclass(frozen=True, slots=True)
class Model:
    """The result of training.

    `weights` has one number per head for each feature. `loses` are the heads of the kinds of
    writing that lose data, `keeps` the other kinds. `scales` calibrates log-odds (Platt scaling).
    `claims` has the confidence that a guess of each hint and value needs to be reported.
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
        heads = tuple(raw["heads"])
        kinds = {name: heads.index(name) for name in raw["kinds"]}
        return cls(
            heads=heads,
            biases=tuple(raw["biases"]),
            weights={name: tuple(row) for name, row in raw["weights"].items()},
            loses=tuple(index for name, index in kinds.items() if name in raw["loses"]),
            keeps=tuple(index for name, index in kinds.items() if name not in raw["loses"]),
            scales={name: tuple(pair) for name, pair in raw["scales"].items()},
            claims={
                name: {True: minimums["true"], False: minimums["false"]}
                for name, minimums in raw["claims"].items()
            },
        )

    def rows(self, features: Iterable[str]) -> Rows:
        return {name: row for name in features if (row := self.weights.get(name)) is not None}

    def scores(self, rows: Rows) -> list[float]:
        return [sum(column) / _STEP for column in zip(self.biases, *rows.values(), strict=True)]

    def chances(self, scores: list[float]) -> Chances:
        return {name: self._chance(name, self._logit(name, scores)) for name in self.scales}

    def _logit(self, name: HintName, scores: list[float]) -> float:
        if name != "destructive":
            return scores[self.heads.index(name)]
        lost, kept = self._shares(scores)
        return log(lost / kept)

    def _shares(self, scores: list[float]) -> tuple[float, float]:
        """Return the summed chances of the kinds that lose data, and of the others."""
        lost = sum(_sigmoid(scores[index]) for index in self.loses)
        kept = sum(_sigmoid(scores[index]) for index in self.keeps)
        return lost + _FLOOR, kept + _FLOOR

    def _chance(self, name: HintName, logit: float) -> float:
        slope, offset = self.scales[name]
        return _sigmoid(slope * logit + offset)

    def pulls(self, name: HintName, scores: list[float], rows: Rows) -> dict[str, float]:
        """Return how much each feature moves a hint towards true, in log-odds."""
        if name != "destructive":
            index = self.heads.index(name)
            return {feature: row[index] / _STEP for feature, row in rows.items()}
        kinds = self._gradient(scores)
        return {
            feature: sum([row[index] * pull for index, pull in kinds]) / _STEP
            for feature, row in rows.items()
        }

    def _gradient(self, scores: list[float]) -> list[tuple[int, float]]:
        lost, kept = self._shares(scores)
        return [
            (index, chance * (1 - chance) / share)
            for kinds, share in ((self.loses, lost), (self.keeps, -kept))
            for index in kinds
            for chance in (_sigmoid(scores[index]),)
        ]


def _sigmoid(logit: float) -> float:
    return 1 / (1 + exp(-max(-40.0, min(40.0, logit))))


@cache
def model() -> Model:
    """Return sayso's own model, loaded on first use."""
    return Model.of(json.loads(files("sayso.infer").joinpath("weights.json").read_bytes()))
