"""The inputs of a decision: caller, tool, arguments and history."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from sayso.intent import Level, Resolved, ResolvedIntent, Source
from sayso.policy.principal import Principal

NO_CALLS: Final[Mapping[Level, tuple[float, ...]]] = {}


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """The facts about a tool that a policy uses. Callers need its `scopes` and `roles`.

    `quarantine` is the reason why the tool is in quarantine, or "".
    """

    server: str
    tool: str
    intent: ResolvedIntent
    title: str | None = None
    category: str | None = None
    tags: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    quarantine: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the facts that rules on later calls need, as JSON."""
        return {
            "server": self.server,
            "tool": self.tool,
            "hints": {name: [hint.value, str(hint.source)] for name, hint in self.intent.items()},
            "category": self.category,
            "tags": sorted(self.tags),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        hints = {
            name: Resolved(value, Source(source)) for name, (value, source) in data["hints"].items()
        }
        return cls(
            server=data["server"],
            tool=data["tool"],
            intent=ResolvedIntent(**hints),
            category=data["category"],
            tags=frozenset(data["tags"]),
        )


@dataclass(frozen=True, slots=True)
class Past:
    """One earlier call of the same principal that was sent; `at` is Unix seconds.

    `is_same_conversation` is `None` if unknown: the call had another, unverified client name.
    """

    at: float
    facts: ToolFacts
    is_same_conversation: bool | None = True


@dataclass(frozen=True, slots=True)
class Situation:
    """One call, with everything that a decision may depend on.

    `meta` has the forwarded keys of the call's `_meta`. `history` has the principal's calls within
    `Policy.window`, newest last. `recent` has the times of the principal's calls in the last
    minute, by level, ascending. `of_tool` has the times of this tool's calls; if `None`, the times
    come from `history`. `targets` is how many things the call's plan would change. `now` is Unix
    seconds.
    """

    principal: Principal
    facts: ToolFacts
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    history: tuple[Past, ...] = ()
    is_first_use: bool = False
    recent: Mapping[Level, tuple[float, ...]] = field(default_factory=lambda: NO_CALLS)
    of_tool: tuple[float, ...] | None = None
    targets: int | None = None
    now: float = 0.0
