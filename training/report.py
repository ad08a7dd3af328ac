"""How the model does on tools of families that it was not trained on, beside simpler ways."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from baselines import by_name, linear
from corpus import WIRE, Case
from sklearn.metrics import f1_score

from sayso.infer.constraints import Constraints, constraints_of
from sayso.infer.evidence import evidence
from sayso.infer.features import Features
from sayso.infer.guesses import weigh
from sayso.infer.model import Model
from sayso.intent import THRESHOLD

DEFAULTS: Final = {"read_only": False, "destructive": True, "idempotent": False, "open_world": True}
_DRAWS: Final = 1_000
_SEED: Final = 20261122

Claims = Mapping[str, bool]
"""What is claimed of one tool; what is not claimed stands at the specification's default."""


def effective(claims: Claims) -> dict[str, bool]:
    """The hints that count: a tool that reads destroys nothing, and may be repeated."""
    values = {name: claims.get(name, default) for name, default in DEFAULTS.items()}
    if values["read_only"]:
        values |= {"destructive": False, "idempotent": True}
    return values


def _f1(pairs: Sequence[tuple[bool, bool]]) -> float:
    if not pairs:
        return float("nan")
    truth, said = zip(*pairs, strict=True)
    return float(f1_score(truth, said, average="macro", labels=[False, True], zero_division=0))


def figures(
    labels: Sequence[Mapping[str, bool | None]], said: Sequence[Mapping[str, bool]]
) -> dict[str, float]:
    """What the targets are about, for some tools: their labels, and the hints that would count."""
    both = list(zip(labels, said, strict=True))
    reads = [hints["read_only"] for label, hints in both if label["read_only"] is True]
    writes = [(label, hints) for label, hints in both if label["read_only"] is False]
    found = {
        "read_only recall": float(np.mean(reads)),
        "false-safe": float(np.mean([hints["read_only"] for _, hints in writes])),
    }
    for name in ("destructive", "idempotent"):
        pairs = [(bool(a[name]), b[name]) for a, b in writes if a[name] is not None]
        found[f"{name} F1"] = _f1(pairs)
    lost = [not b["destructive"] for a, b in writes if a["destructive"] is True]
    found["missed"] = float(np.mean(lost))
    pairs = [
        (bool(a["open_world"]), b["open_world"]) for a, b in both if a["open_world"] is not None
    ]
    found["open_world F1"] = _f1(pairs)
    return found


Seen = tuple[Features, Constraints]
"""What the inference weighs of one tool, whatever the model."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """Real tools, each with the model that was trained without its family."""

    cases: list[Case]
    seen: list[Seen]
    models: list[Model]
    said: list[Claims]

    @classmethod
    def of(cls, found: Mapping[int, tuple[Model, Case]]) -> "Unseen":
        """What was found by `train.unseen`."""
        models = [model for model, _ in found.values()]
        cases = [case for _, case in found.values()]
        seen = [_seen(one) for one in cases]
        said = [_claims(one, model) for one, model in zip(seen, models, strict=True)]
        return cls(cases, seen, models, said)

    def at(self, claims: Mapping[Any, Mapping[bool, float]]) -> "Unseen":
        """The same tools and models at another operating point."""
        known: dict[int, Model] = {}
        for one in self.models:
            known.setdefault(id(one), replace(one, claims=claims))
        models = [known[id(one)] for one in self.models]
        said = [_claims(one, model) for one, model in zip(self.seen, models, strict=True)]
        return Unseen(self.cases, self.seen, models, said)

    def part(self, has: Callable[[Case], bool]) -> "Unseen":
        """Those tools for which `has` is true."""
        rows = [at for at, one in enumerate(self.cases) if has(one)]
        every = (self.cases, self.seen, self.models, self.said)
        return Unseen(*([some[at] for at in rows] for some in every))

    def rows(self, of: str) -> tuple[list[int], list[Mapping[str, bool | None]]]:
        """The tools that a label is known of, and their labels: `authors` or `judged`."""
        if of == "judged":
            return list(range(len(self.cases))), [one.judged for one in self.cases]
        rows = [
            at
            for at, one in enumerate(self.cases)
            if any(value is not None for value in one.declared.values()) and not one.is_odd
        ]
        return rows, [{name: self.cases[at].declared.get(name) for name in WIRE} for at in rows]

    def figures(self, of: str, said: Sequence[Claims] | None = None) -> dict[str, float]:
        """The figures by one kind of label, of these claims or of `said` instead."""
        said = self.said if said is None else said
        rows, labels = self.rows(of)
        return figures(labels, [effective(said[at]) for at in rows])

    def spread(self, of: str) -> dict[str, tuple[float, float]]:
        """The middle nine tenths of each figure, over draws of whole families with replacement."""
        rows, labels = self.rows(of)
        label = dict(zip(rows, labels, strict=True))
        families: dict[str, list[int]] = {}
        for at in rows:
            families.setdefault(self.cases[at].family, []).append(at)
        chance = np.random.default_rng(_SEED)
        names = sorted(families)
        drawn: list[dict[str, float]] = []
        for _ in range(_DRAWS):
            some = [at for name in chance.choice(names, len(names)) for at in families[name]]
            said = [effective(self.said[at]) for at in some]
            drawn.append(figures([label[at] for at in some], said))
        return {
            name: (
                float(np.nanquantile([one[name] for one in drawn], 0.05)),
                float(np.nanquantile([one[name] for one in drawn], 0.95)),
            )
            for name in drawn[0]
        }

    def surely(self, of: str, threshold: float = THRESHOLD) -> tuple[float, float]:
        """The shares of reads and of writes that a gateway takes for reads without a word."""
        rows, labels = self.rows(of)
        found: dict[bool, list[bool]] = {True: [], False: []}
        for at, label in zip(rows, labels, strict=True):
            guesses = weigh(*self.seen[at], self.models[at], threshold=threshold)
            value = label["read_only"]
            if value is not None:
                found[value].append("read_only" in guesses and guesses["read_only"].value)
        return float(np.mean(found[True])), float(np.mean(found[False]))

    def table(self) -> dict[str, Any]:
        """All that is told in docs/explanation/hints.md."""
        ways: dict[str, Callable[[], list[Claims]]] = {
            "defaults": lambda: [{} for _ in self.cases],
            "name patterns": lambda: [by_name(one.tool) for one in self.cases],
            "plain linear": lambda: linear(self.cases),
            "sayso": lambda: self.said,
        }
        found: dict[str, Any] = {"tools": len(self.cases)}
        for way, make in ways.items():
            said = make()
            found[way] = {of: self.figures(of, said) for of in ("authors", "judged")}
        found["spread"] = {of: self.spread(of) for of in ("authors", "judged")}
        kept = self.part(lambda one: one.is_kept)
        found["kept"] = {
            of: {"tools": len(kept.cases), "sayso": kept.figures(of), "spread": kept.spread(of)}
            for of in ("authors", "judged")
        }
        found["surely"] = {
            part: {of: some.surely(of) for of in ("authors", "judged")}
            for part, some in (("all", self), ("kept", kept))
        }
        found["claims"] = dict(self.models[0].claims)
        return found


def _seen(case: Case) -> Seen:
    features, certain = evidence(case.tool)
    return features, constraints_of(case.tool, features, certain)


def _claims(seen: Seen, model: Model) -> Claims:
    return {name: one.value for name, one in weigh(*seen, model).items()}


def as_text(table: Mapping[str, Any]) -> str:
    """The table for people."""
    names = list(table["sayso"]["authors"])
    lines = [f"{table['tools']} tools, each by a model trained without its family"]
    for of in ("authors", "judged"):
        lines.append(f"\n{of:<16}" + "".join(f"{name:>18}" for name in names))
        lines += [
            f"{way:<16}" + "".join(f"{table[way][of][name]:>18.3f}" for name in names)
            for way in ("defaults", "name patterns", "plain linear", "sayso")
        ]
        lines.append(_as_spread(table["spread"][of], names))
        kept = table["kept"][of]
        figures_kept = "".join(f"{kept['sayso'][name]:>18.3f}" for name in names)
        lines += [f"{'kept aside':<16}{figures_kept}", _as_spread(kept["spread"], names)]
    for part, shares in table["surely"].items():
        reads, writes = shares["judged"]
        lines.append(f"{part}: {reads:.3f} of reads and {writes:.4f} of writes surely read")
    for name, limits in table["claims"].items():
        lines.append(f"{name}: true from {limits[True]}, false from {limits[False]}")
    return "\n".join(lines)


def _as_spread(spread: Mapping[str, tuple[float, float]], names: Sequence[str]) -> str:
    cells = (f"{low:.3f}–{high:.3f}" for low, high in (spread[name] for name in names))
    return f"{'  nine tenths':<16}" + "".join(f"{cell:>18}" for cell in cells)


def draw(seen: Unseen, place: Path) -> None:
    """The frontier and the reliability of the model, as pictures."""
    from plots import frontier, reliability  # noqa: PLC0415 - matplotlib only where it draws

    place.mkdir(parents=True, exist_ok=True)
    frontier(seen, place / "infer-frontier.svg")
    reliability(seen, place / "infer-reliability.svg")
