"""Trains the model that `sayso infer` uses, and says how it does on families that it has not seen.

    SAYSO_CORPUS=FOLDER python training/train.py [--write] [--plots FOLDER] [--json]

`--write` writes `src/sayso/infer/weights.json`, and into `training/unseen.jsonl` what is guessed of
each tool by a model that was fitted without its family. Without the corpus it says that it is
skipped.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from corpus import CORPUS, HERE, LOSES, WRITES, Case, examples, folder, real
from fit import HEADS, Cases, loses
from report import Unseen, as_text, draw
from sklearn.linear_model import LogisticRegression

from sayso.infer.guesses import read
from sayso.infer.model import Model
from sayso.intent import HINT_NAMES, HintName

WEIGHTS: Final = HERE.parent / "src" / "sayso" / "infer" / "weights.json"
UNSEEN: Final = HERE / "unseen.jsonl"
_LEAST: Final = 3
"""A feature is left out that moves every head by less than this many hundredths."""

Claims = dict[HintName, dict[bool, float]]
"""How sure the model must be to claim a value. What is not claimed stands at the specification's
default, so the looser value needs more: see the frontier in docs/explanation/hints.md."""
START: Final[Claims] = {name: {True: 0.5, False: 0.5} for name in HINT_NAMES}
_STEPS: Final = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.82, 0.84, 0.86, 0.88, 0.9, 0.92)
_MAX_FALSE_SAFE: Final = 0.004
_MAX_MISSED: Final = 0.02
"""Less than what is aimed at, since new families do worse."""


def document(
    cases: Cases, among: list[int], scales: dict[str, tuple[float, float]], claims: Claims
) -> dict[str, Any]:
    """The model as it is kept in a file, fitted on some of the cases."""
    fits = [cases.fit(head, among) for head in HEADS]
    table = np.vstack([fit.coef_[0] for fit in fits]).T
    whole = np.rint(table * 100).astype(int)
    return {
        "heads": [head.name for head in HEADS],
        "kinds": list(WRITES),
        "loses": list(LOSES),
        "biases": [round(float(fit.intercept_[0]) * 100) for fit in fits],
        "scales": {name: [round(x, 4) for x in pair] for name, pair in scales.items()},
        "claims": {
            name: {"true": limits[True], "false": limits[False]} for name, limits in claims.items()
        },
        "weights": {
            name: whole[at].tolist()
            for name, at in cases.vocabulary.items()
            if np.abs(whole[at]).max() >= _LEAST
        },
    }


def scale(cases: Cases, said: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """What turns the log-odds of unseen families into chances that hold (Platt)."""
    logits = {name: said[name] for name in ("read_only", "idempotent", "open_world")}
    lost = np.clip(loses(said), 1e-6, 1 - 1e-6)
    logits["destructive"] = np.log(lost / (1 - lost))
    scales: dict[str, tuple[float, float]] = {}
    for name in HINT_NAMES:
        rows = [
            at
            for at, one in enumerate(cases.all)
            if one.family and not one.is_kept
            if not one.is_bare and one.judged[name] is not None
        ]
        fit = LogisticRegression(C=1e6).fit(
            logits[name][rows].reshape(-1, 1), [cases.all[at].judged[name] for at in rows]
        )
        scales[name] = (float(fit.coef_[0][0]), float(fit.intercept_[0]))
    return scales


def unseen(cases: Cases, scales: dict[str, tuple[float, float]]) -> dict[int, tuple[Model, Case]]:
    """For each real case the model that was fitted without its family."""
    found: dict[int, tuple[Model, Case]] = {}
    for teach, ask in cases.folds():
        model = Model.of(document(cases, teach, scales, START))
        found |= {at: (model, cases.all[at]) for at in ask}
    return found


def chosen(seen: Unseen) -> Claims:
    """The limits by which as much as possible is claimed at little risk, on families not kept."""
    claims: Claims = {name: dict(limits) for name, limits in START.items()}
    for name, value, figure, most in (
        ("read_only", True, "false-safe", _MAX_FALSE_SAFE),
        ("destructive", False, "missed", _MAX_MISSED),
    ):
        for limit in _STEPS:
            claims[name][value] = limit
            if seen.at(claims).figures("judged")[figure] <= most:
                break
    for name, value in (("idempotent", True), ("open_world", False)):
        best = {limit: _score(seen, claims, name, value, limit) for limit in _STEPS}
        claims[name][value] = max(best, key=best.__getitem__)
    return claims


def _score(seen: Unseen, claims: Claims, name: HintName, value: bool, limit: float) -> float:  # noqa: FBT001 - a hint's value
    tried: Claims = {**claims, name: {**claims[name], value: limit}}
    return seen.at(tried).figures("judged")[f"{name} F1"]


def main() -> int:
    """Train, say how it does, and write what was asked for."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write", action="store_true")
    options.add_argument("--plots", type=Path)
    options.add_argument("--json", action="store_true")
    asked = options.parse_args()
    place = folder()
    if place is None:
        print(f"{CORPUS} is not set: the training is skipped, since its corpus is not here")
        return 0
    cases = Cases([*real(place), *examples()])
    scales = scale(cases, cases.across())
    apart = unseen(cases, scales)
    everything = Unseen.of(apart)
    claims = chosen(everything.part(lambda one: not one.is_kept))
    seen = everything.at(claims)
    table = seen.table()
    print(json.dumps(table, indent=1) if asked.json else as_text(table))
    if asked.plots:
        draw(seen, asked.plots)
    if asked.write:
        whole = document(cases, list(range(len(cases.all))), scales, claims)
        WEIGHTS.write_text(as_lines(whole), encoding="utf-8")
        lines = map(guessed, seen.models, seen.cases)
        UNSEEN.write_text("".join(lines), encoding="utf-8")
    return 0


def guessed(model: Model, case: Case) -> str:
    """A line with what a model claims of a tool; without reasons, which quote the tool's text."""
    said = {name: [one.value, one.confidence] for name, one in read(case.tool, model).items()}
    return json.dumps({"id": case.tool["id"], **said}) + "\n"


def as_lines(whole: dict[str, Any]) -> str:
    """A document with one feature on a line, so that a change of the weights can be read."""
    rest = {key: value for key, value in whole.items() if key != "weights"}
    rows = ",\n".join(
        f"{json.dumps(name, ensure_ascii=False)}:{json.dumps(row, separators=(',', ':'))}"
        for name, row in sorted(whole["weights"].items())
    )
    return json.dumps(rest)[:-1] + ', "weights": {\n' + rows + "\n}}\n"


if __name__ == "__main__":
    sys.exit(main())
