"""Guesses of a tool's hints from its own text, with reasons."""

from collections.abc import Mapping
from typing import Any, Final

from sayso.infer.constraints import SURE, Constraints, constraints_of
from sayso.infer.evidence import evidence
from sayso.infer.features import Features
from sayso.infer.grammar import words_of
from sayso.infer.model import Model, model
from sayso.intent import HINT_NAMES, LOOSER, Guess, HintName

_MAYBE: Final = 0.5
_MAX_REASONS: Final = 3
_MIN_PULL: Final = 0.15
"""Features that move the log-odds by less are not reported as reasons."""
_DECIDES: Final = 10.0
"""The pull of a feature that constrained a hint, in log-odds."""
_EMPTY: Final = words_of("a an and by for from in is it its of on or s that the this to with")
"""Words with a weight that explain nothing."""
_MAX_QUOTE: Final = 60

_WORDS: Final = {
    "starts": "the name starts with the verb “{}”",
    "ends": "the name ends with the verb “{}”",
    "goes on": "the name goes on with the verb “{}”",
    "name": "the name says “{}”",
    "title": "the title says “{}”",
    "begins": "the description begins with “{}”",
    "sentence": "a sentence of the description begins with “{}”",
    "description": "the description says “{}”",
    "clause": "the text says that the tool will “{}”",
    "says": "the description says “{}”",
    "parameter": "parameter “{}”",
    "value": "parameter “{}” may be “{}”",
    "purpose": "parameter “{}” is described by “{}”",
    "ids": "the tool takes only ids and names",
}
"""The text of a reason, by the place of its feature. Lengths and numbers are not reasons."""


def guess(tool: Mapping[str, Any], *, threshold: float | None = None) -> dict[HintName, Guess]:
    """Infer the hints of `tool`, an entry of `tools/list`; unsure ones are left out.

    `threshold` is the required confidence (0.5 to 1). By default each hint and value has its own
    (docs/explanation/hints.md): calling a writing tool harmless is the worst mistake. The write
    hints are inferred only for tools that are not inferred to be read-only.

    >>> guess({"name": "delete_file", "description": "Deletes a file."})["destructive"].value
    True
    """
    return read(tool, model(), threshold=threshold)


def chances(tool: Mapping[str, Any]) -> dict[HintName, float]:
    """Return the chance that each hint of `tool` is true, in half the time of `guess`.

    Useful as a first check: a chance below some bound here is below it in `guess` too.
    """
    found, certain = evidence(tool)
    trained = model()
    estimates = trained.chances(trained.scores(trained.rows(found)))
    constraints = constraints_of(tool, found, certain)
    return {name: constraints.chance(name, estimates[name]) for name in HINT_NAMES}


def read(
    tool: Mapping[str, Any], trained: Model, *, threshold: float | None = None
) -> dict[HintName, Guess]:
    """Infer a tool's hints with this model, as `guess` does."""
    found, certain = evidence(tool)
    constraints = constraints_of(tool, found, certain)
    return weigh(found, constraints, trained, threshold=threshold)


def weigh(
    found: Features, constraints: Constraints, trained: Model, *, threshold: float | None = None
) -> dict[HintName, Guess]:
    """Infer hints with this model from features and constraints."""
    rows = trained.rows(found)
    scores = trained.scores(rows)
    chances = trained.chances(scores)
    claimed: dict[HintName, Guess] = {}
    for name in HINT_NAMES:
        if name in ("destructive", "idempotent") and _only_reads(claimed):
            continue
        chance = constraints.chance(name, chances[name])
        value = chance >= _MAYBE
        confidence = max(chance, 1 - chance)
        sign = 1 if value else -1
        is_looser = value is LOOSER[name]
        minimum = trained.claims[name][value] if threshold is None else threshold
        if is_looser and name in constraints.doubted:
            minimum = max(minimum, SURE)
        if confidence < minimum or (is_looser and name in constraints.blocked):
            continue
        pulls = trained.pulls(name, scores, rows)
        if name in constraints.bounds:
            pulls |= dict.fromkeys(constraints.decisive, _DECIDES * sign)
        reasons = _reasons(found, pulls, sign=sign)
        if reasons:
            claimed[name] = Guess(value, round(confidence, 4), reasons)
    return claimed


def _only_reads(claimed: Mapping[HintName, Guess]) -> bool:
    return "read_only" in claimed and claimed["read_only"].value


def _reasons(found: Features, pulls: Mapping[str, float], *, sign: int) -> tuple[str, ...]:
    """Return the three strongest reasons for a value, without duplicates."""
    sums: dict[tuple[str, ...], float] = {}
    for feature, pull in pulls.items():
        origin = found[feature]
        if origin[0] in _WORDS and origin[-1] not in _EMPTY:
            sums[origin] = sums.get(origin, 0.0) + sign * pull
    strong = [origin for origin in sums if sums[origin] >= _MIN_PULL]
    strong.sort(key=sums.__getitem__, reverse=True)
    return tuple(dict.fromkeys(_sentence(*origin) for origin in strong[:_MAX_REASONS]))


def _sentence(kind: str, *what: str) -> str:
    return _WORDS[kind].format(*map(_clean, what))


def _clean(text: str) -> str:
    if len(text) > _MAX_QUOTE:
        text = text[: _MAX_QUOTE - 1] + "…"
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
