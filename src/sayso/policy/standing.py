"""Decisions that are the same for all calls of a tool, remembered as long as they hold."""

from dataclasses import dataclass, field
from functools import partial
from typing import Final

from sayso.once import Once
from sayso.policy.decision import Decision
from sayso.policy.document import Limits, Policy
from sayso.policy.engine import decide
from sayso.policy.principal import Principal
from sayso.policy.situation import Situation, ToolFacts

_MOST: Final = 10_000
_NO_LIMITS: Final = Limits()


@dataclass(slots=True)
class Standing:
    """Remembers what a policy says of tools, where it looks at nothing but the tool."""

    _policy: Policy | None = None
    _by_caller: dict[bool, Once[ToolFacts, Decision]] = field(
        default_factory=dict[bool, Once[ToolFacts, Decision]]
    )

    def of(self, policy: Policy, principal: Principal, facts: ToolFacts) -> Decision | None:
        """The decision on every such call; `None` where it depends on more."""
        if policy is not self._policy:
            self._policy = policy
            self._by_caller = {} if _looks_further(policy) else _remembered(policy)
        known = self._by_caller.get(principal.is_known)
        return None if known is None else known.of(facts)


def _looks_further(policy: Policy) -> bool:
    """Whether a decision may depend on who calls, on the arguments, or on what was done before."""
    return bool(
        policy.rules or policy.first_use or policy.off_subjects or policy.limits != _NO_LIMITS
    )


def _remembered(policy: Policy) -> dict[bool, Once[ToolFacts, Decision]]:
    """By whether the caller has proved who it is: that is all that a mode looks at."""
    somebody = {
        True: Principal("", scopes=frozenset()),
        False: Principal(""),
    }
    return {
        is_known: Once(partial(_decided, policy, caller), _MOST)
        for is_known, caller in somebody.items()
    }


def _decided(policy: Policy, caller: Principal, facts: ToolFacts) -> Decision:
    return decide(policy, Situation(caller, facts))
