"""An index of rules, which finds the rules that may match a call without testing all of them.

A rule's conditions on tool and caller have the same answer for every call of that tool by that
caller. So the rules without a match are excluded once, and the result is cached.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from sayso.policy.conditions import Condition, Reads
from sayso.policy.principal import Principal
from sayso.policy.rule import Rule
from sayso.policy.situation import Situation, ToolFacts

MAX_TOOLS: Final = 10_000
MAX_CALLERS: Final = 1_000
"""Callers that are cached per set of rules."""


@dataclass(slots=True)
class _Group:
    """The rules that may match a group of tools; `by_caller` has fewer rules, by caller."""

    rules: tuple[Rule, ...]
    by_caller: dict[Principal, tuple[Rule, ...]] = field(
        default_factory=dict[Principal, tuple[Rule, ...]]
    )
    is_for_all_callers: bool = False


class RuleIndex:
    """Finds the rules of one policy by tool and caller."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self._by_name: dict[tuple[str, str], list[int]] | None = None
        self._other: list[int] = []
        # The key is the identity, because facts are slow to hash. The value keeps the facts alive.
        self._tools: dict[int, tuple[ToolFacts, _Group]] = {}
        self._groups: dict[tuple[int, ...], _Group] = {}

    def about(self, principal: Principal, facts: ToolFacts) -> tuple[Rule, ...]:
        """Return the rules that may match a call of this tool by this caller, in order."""
        if not self._rules:
            return self._rules
        known = self._tools.get(id(facts))
        group = self._group(facts) if known is None else known[1]
        if group.is_for_all_callers:
            return group.rules
        rules = group.by_caller.get(principal)
        if rules is None:
            if len(group.by_caller) >= MAX_CALLERS:
                group.by_caller.clear()
            situation = Situation(principal, facts)
            rules = tuple(rule for rule in group.rules if _may_match(rule, situation, Reads.CALLER))
            group.by_caller[principal] = rules
        return rules

    def _group(self, facts: ToolFacts) -> _Group:
        situation = Situation(_ANY_CALLER, facts)
        named = [self._rules[place] for place in self._places(facts)]
        rules = tuple(rule for rule in named if _may_match(rule, situation, Reads.TOOL))
        # Tools with the same rules share a cache of callers.
        key = tuple(map(id, rules))
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(rules, is_for_all_callers=not _ask_callers(rules))
        if len(self._tools) >= MAX_TOOLS:
            self._tools.clear()
            self._groups = {key: group}
        self._tools[id(facts)] = facts, group
        return group

    def _places(self, facts: ToolFacts) -> list[int]:
        by_name = self._named()
        return sorted(
            {
                *by_name.get(("tool", facts.tool), ()),
                *by_name.get(("server", facts.server), ()),
                *self._other,
            }
        )

    def _named(self) -> dict[tuple[str, str], list[int]]:
        if self._by_name is None:
            self._by_name = {}
            for place, rule in enumerate(self._rules):
                condition = _named_by(rule.when)
                if condition is None:
                    self._other.append(place)
                    continue
                for name in condition.names or ():
                    self._by_name.setdefault((condition.key, name), []).append(place)
        return self._by_name


_ANY_CALLER: Final = Principal("")
"""A placeholder for conditions that read only the tool."""


def _named_by(conditions: Iterable[Condition]) -> Condition | None:
    named = [condition for condition in conditions if condition.names is not None]
    return max(named, key=lambda condition: condition.key == "tool", default=None)


def _ask_callers(rules: Iterable[Rule]) -> bool:
    return any(
        condition.reads is Reads.CALLER
        for rule in rules
        for condition in (*rule.when, *rule.unless)
    )


def _may_match(rule: Rule, situation: Situation, reads: Reads) -> bool:
    """Return whether a rule may match, given only its conditions on `reads`."""
    if any(when.test(situation) is False for when in rule.when if when.reads is reads):
        return False
    is_settled = rule.unless and all(unless.reads is reads for unless in rule.unless)
    return not is_settled or not all(unless.test(situation) is True for unless in rule.unless)
