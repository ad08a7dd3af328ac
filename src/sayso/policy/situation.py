"""What a decision looks at: who calls which tool with what, and what was done before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from sayso.intent import Level, Resolved, ResolvedIntent, Source
from sayso.policy.principal import Principal

NO_CALLS: Final[Mapping[Level, tuple[float, ...]]] = {}


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """What a policy knows of a tool; `scopes` and `roles` are those it asks of its callers.

    `quarantine` says why it is not called until a person lifts that.
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
        """What later calls look back on, as data."""
        return {
            "server": self.server,
            "tool": self.tool,
            "hints": {name: [hint.value, str(hint.source)] for name, hint in self.intent.items()},
            "category": self.category,
            "tags": sorted(self.tags),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Make what `to_dict` gave again."""
        hints = {
            name: Resolved(value, Source(said)) for name, (value, said) in data["hints"].items()
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

    `is_same_conversation` is `None` if it came through another client name that nobody proved.
    """

    at: float
    facts: ToolFacts
    is_same_conversation: bool | None = True


@dataclass(frozen=True, slots=True)
class Situation:
    """One call, with all that a decision on it may depend on.

    `meta` holds the keys of its `_meta` that the policy forwards.

    `history` holds what this principal has done within the longest window of the policy
    (`Policy.window`), newest last. `recent` holds the times of its calls within the last minute,
    by the level of the tool, ascending, and `of_tool` those of this tool (where it is `None`, the
    history tells). `targets` is how many things the call's plan would
    change, where there is a plan. `now` is Unix seconds.
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
