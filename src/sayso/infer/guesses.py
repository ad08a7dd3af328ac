"""Hints guessed from one tool's own text, with reasons in words: a pure function of the tool."""

from collections.abc import Mapping
from typing import Any, Final

from sayso.infer.features import Features, features
from sayso.infer.grammar import words_of
from sayso.infer.model import Model, model
from sayso.infer.settled import settle
from sayso.intent import HINT_NAMES, LOOSER, Guess, HintName

_MAYBE: Final = 0.5
_MOST_REASONS: Final = 3
_LEAST_PULL: Final = 0.15
"""A feature that moves the log-odds by less is no reason."""
_DECIDES: Final = 10.0
"""How much is said to move the log-odds by what has settled a hint."""
_EMPTY: Final = words_of("a an and by for from in is it its of on or s that the this to with")
"""Words that weigh something and tell nobody anything."""
_LONGEST: Final = 60

_WORDS: Final = {
    "starts": "the name starts with the verb “{}”",
    "ends": "the name ends with the verb “{}”",
    "goes on": "the name goes on with the verb “{}”",
    "name": "the name says “{}”",
    "title": "the title says “{}”",
    "begins": "the description begins with “{}”",
    "sentence": "a sentence of the description begins with “{}”",
    "description": "the description says “{}”",
    "clause": "its text says that it will “{}”",
    "says": "the description says “{}”",
    "parameter": "parameter “{}”",
    "value": "parameter “{}” may be “{}”",
    "purpose": "parameter “{}” is described by “{}”",
    "ids": "it wants nothing but ids and names",
}
"""How a reason is told, by where its feature was found. Lengths and numbers are no reasons."""


def guess(tool: Mapping[str, Any], *, threshold: float | None = None) -> dict[HintName, Guess]:
    """The hints that `tool`, an entry of `tools/list`, suggests; nothing where it is not sure.

    `threshold` is how sure it must be of every hint (0.5 to 1); without one, each hint and value
    has its own (docs/infer.md), since to call a tool that writes harmless is the worst mistake.
    The write hints are told of a tool that is not claimed to read.

    >>> guess({"name": "delete_file", "description": "Deletes a file."})["destructive"].value
    True
    """
    return read(tool, model(), threshold=threshold)


def chances(tool: Mapping[str, Any]) -> dict[HintName, float]:
    """How likely each hint of `tool` is true, whatever is claimed of it; in half the time.

    For who asks first whether anything speaks against a hint: what this leaves below a bound,
    `guess` does too.
    """
    found = features(tool)
    trained = model()
    said = trained.chances(trained.scores(trained.rows(found)))
    settled = settle(tool, found)
    return {name: settled.chance(name, said[name]) for name in HINT_NAMES}


def read(
    tool: Mapping[str, Any], trained: Model, *, threshold: float | None = None
) -> dict[HintName, Guess]:
    """What a model says of a tool."""
    found = features(tool)
    rows = trained.rows(found)
    scores = trained.scores(rows)
    chances = trained.chances(scores)
    settled = settle(tool, found)
    claimed: dict[HintName, Guess] = {}
    for name in HINT_NAMES:
        if name in ("destructive", "idempotent") and _only_reads(claimed):
            continue
        chance = settled.chance(name, chances[name])
        value = chance >= _MAYBE
        confidence = max(chance, 1 - chance)
        sign = 1 if value else -1
        is_looser = value is LOOSER[name]
        least = trained.claims[name][value] if threshold is None else threshold
        if confidence < least or (is_looser and name in settled.barred):
            continue
        pulls = trained.pulls(name, scores, rows)
        if name in settled.bounds:
            pulls |= dict.fromkeys(settled.decisive, _DECIDES * sign)
        reasons = _reasons(found, pulls, sign=sign)
        if reasons:
            claimed[name] = Guess(value, round(confidence, 4), reasons)
    return claimed


def _only_reads(claimed: Mapping[HintName, Guess]) -> bool:
    return "read_only" in claimed and claimed["read_only"].value


def _reasons(found: Features, pulls: Mapping[str, float], *, sign: int) -> tuple[str, ...]:
    """What speaks for a value, the strongest first: at most three, each once."""
    sums: dict[tuple[str, ...], float] = {}
    for feature, pull in pulls.items():
        origin = found[feature]
        if origin[0] in _WORDS and origin[-1] not in _EMPTY:
            sums[origin] = sums.get(origin, 0.0) + sign * pull
    strong = [origin for origin in sums if sums[origin] >= _LEAST_PULL]
    strong.sort(key=sums.__getitem__, reverse=True)
    return tuple(dict.fromkeys(_sentence(*origin) for origin in strong[:_MOST_REASONS]))


def _sentence(kind: str, *what: str) -> str:
    return _WORDS[kind].format(*map(_clean, what))


def _clean(text: str) -> str:
    """A text of the server as it may be shown: nothing that steers, and not for long."""
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 1] + "…"
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
