"""Tools under a policy, their visibility, and a cache of decisions that depend on the tool only."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from sayso.catalog import Tool
from sayso.intent import stricter
from sayso.once import Once
from sayso.policy.decision import Decision
from sayso.policy.document import Policy
from sayso.policy.engine import decide, is_visible
from sayso.policy.principal import Principal
from sayso.policy.rule import Limits
from sayso.policy.situation import Situation, ToolFacts

_MAX_CACHED: Final = 10_000
_NO_LIMITS: Final = Limits()


def seen_under(policy: Policy, tool: Tool) -> Tool:
    """Return the tool with its hints resolved under `policy`."""
    resolved = policy.resolve(tool.server, tool.name, tool.evidence, receipts=tool.receipts)
    if tool.before is not None:
        accepted = policy.resolve(tool.server, tool.name, tool.before.evidence)
        resolved = stricter(accepted, resolved)
    intent = tool.intent
    if policy.dry_run and intent.plan is None:
        parameter = policy.dry_run_of(tool.server, tool.name, tool.input_schema)
        if parameter is not None:
            intent = replace(intent, dry_run=parameter)
    return replace(tool, resolved=resolved, intent=intent)


def facts_of(tool: Tool) -> ToolFacts:
    """Return a tool's facts for decisions; the tool must be resolved under the policy."""
    intent = tool.intent
    return ToolFacts(
        server=tool.server,
        tool=tool.name,
        intent=tool.resolved,
        title=tool.title,
        category=intent.category,
        tags=intent.tags,
        scopes=intent.scopes,
        roles=intent.roles,
        quarantine=tool.quarantine,
    )


def look_at(policy: Policy, tool: Tool) -> tuple[Tool, ToolFacts]:
    """Return the tool resolved under `policy`, and its facts."""
    seen = seen_under(policy, tool)
    return seen, facts_of(seen)


@dataclass(slots=True)
class Sight:
    """A cache of the tools as resolved under the current policy."""

    _policy: Policy | None = None
    _seen: Once[Tool, tuple[Tool, ToolFacts]] | None = None

    def of(self, policy: Policy, tool: Tool) -> tuple[Tool, ToolFacts]:
        """Return the tool resolved under `policy`, and its facts."""
        if policy is not self._policy or self._seen is None:
            self._policy, self._seen = policy, Once(partial(look_at, policy), _MAX_CACHED)
        return self._seen.of(tool)

    def shown(
        self, policy: Policy, principal: Principal, tool: Tool
    ) -> tuple[Tool, ToolFacts] | None:
        """Return the result of `of` if this caller may see the tool, else `None`."""
        seen, facts = self.of(policy, tool)
        if not is_visible(policy, principal, facts):
            return None
        return seen, facts


@dataclass(slots=True)
class Standing:
    """A cache of decisions, for policies whose decisions depend on the tool only."""

    _policy: Policy | None = None
    _by_caller: dict[bool, Once[ToolFacts, Decision]] = field(
        default_factory=dict[bool, Once[ToolFacts, Decision]]
    )

    def of(self, policy: Policy, principal: Principal, facts: ToolFacts) -> Decision | None:
        """Return the decision on all calls of a tool, or `None` if it depends on the call."""
        if policy is not self._policy:
            self._policy = policy
            self._by_caller = {} if _looks_further(policy) else _caches(policy)
        cache = self._by_caller.get(principal.is_known)
        return None if cache is None else cache.of(facts)


def _looks_further(policy: Policy) -> bool:
    return bool(
        policy.rules or policy.first_use or policy.off_subjects or policy.limits != _NO_LIMITS
    )


def _caches(policy: Policy) -> dict[bool, Once[ToolFacts, Decision]]:
    """Return one cache for authenticated callers and one for others; modes tell no more apart."""
    callers = (Principal(""), Principal("", scopes=frozenset()))
    return {
        caller.is_known: Once(partial(_decided, policy, caller), _MAX_CACHED) for caller in callers
    }


def _decided(policy: Policy, caller: Principal, facts: ToolFacts) -> Decision:
    return decide(policy, Situation(caller, facts))
