"""The report as data: a verdict on each hint of each tool."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sayso.intent import HintName, Verdict
from sayso.sandbox import Layer
from sayso.trace import Effect
from sayso.verify.call import MadeCall

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class HintVerdict:
    """The verdict on one hint of one tool.

    If `declared` is `None`, the verdict is on the `inferred` value. Calls cannot refute the strict
    value of a hint: the verdict is `not_exercised`, and `is_over_declared` if no call needed this
    value. The verdict is based on `calls` calls and the input classes `inputs`. `is_partial` means
    that a needed observer was missing.
    """

    declared: bool | None
    verdict: Verdict
    reason: str
    calls: int = 0
    inputs: tuple[str, ...] = ()
    observers: tuple[str, ...] = ()
    evidence: tuple[Effect, ...] = ()
    arguments: Mapping[str, Any] | None = None
    """The smallest arguments whose call refutes the hint."""
    inferred: bool | None = None
    is_over_declared: bool = False
    is_partial: bool = False

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "declared": self.declared,
            "verdict": self.verdict,
            "calls": self.calls,
            "inputs": list(self.inputs),
            "observers": list(self.observers),
            "reason": self.reason,
            "evidence": [effect.to_dict() for effect in self.evidence],
        }
        if self.arguments is not None:
            document["arguments"] = dict(self.arguments)
        if self.inferred is not None:
            document["inferred"] = self.inferred
        if self.is_over_declared:
            document["over_declared"] = True
        if self.is_partial:
            document["partial"] = True
        return document


@dataclass(frozen=True, slots=True)
class Reach:
    """The coverage of a tool. `missed` maps each input class not covered to the reason."""

    calls: int = 0
    successes: int = 0
    classes: frozenset[str] = frozenset()
    missed: Mapping[str, str] = field(default_factory=dict[str, str])

    def to_dict(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "successes": self.successes,
            "classes": sorted(self.classes),
            "missed": dict(self.missed),
        }


@dataclass(frozen=True, slots=True)
class ToolReport:
    """The report on one tool. `ignored` are effects that refute no hint."""

    name: str
    fingerprint: str
    hints: Mapping[HintName, HintVerdict]
    reach: Reach = field(default_factory=Reach)
    ignored: tuple[Effect, ...] = ()
    error: str = ""
    """Why no call succeeded, in one line: the plan's problem, or the server's first error."""
    made: tuple[MadeCall, ...] = ()

    @property
    def is_refuted(self) -> bool:
        return any(hint.verdict == "refuted" for hint in self.hints.values())

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "fingerprint": self.fingerprint,
            "hints": {name: hint.to_dict() for name, hint in self.hints.items()},
            "reach": self.reach.to_dict(),
            "ignored": [effect.to_dict() for effect in self.ignored],
            **({"error": self.error} if self.error else {}),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The report on one run.

    `server` is the server's description of itself. `package` is the package that ran, or empty if a
    receipt cannot be bound to it. `seed` is the seed of the inputs, `seconds` the duration.
    """

    target: str
    server: Mapping[str, Any]
    layers: tuple[Layer, ...]
    tools: tuple[ToolReport, ...]
    profile: str = "default"
    seed: int = 0
    seconds: float = 0.0
    package: Mapping[str, Any] = field(default_factory=dict[str, Any])
    notes: tuple[str, ...] = ()
    is_quick: bool = False

    @property
    def is_refuted(self) -> bool:
        return any(tool.is_refuted for tool in self.tools)

    def count(self) -> Counter[str]:
        """Return the number of hints per verdict."""
        return Counter(hint.verdict for tool in self.tools for hint in tool.hints.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON report, `{"schema": 1, "layers": […], "tools": […], …}`."""
        return {
            "schema": SCHEMA,
            "target": self.target,
            "server": dict(self.server),
            "profile": self.profile,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "package": dict(self.package),
            "layers": [layer.to_dict() for layer in self.layers],
            "tools": [tool.to_dict() for tool in self.tools],
            "notes": list(self.notes),
            "quick": self.is_quick,
        }
