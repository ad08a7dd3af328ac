"""Tools as a policy sees them: its trust and its operator's word in their hints."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from sayso.catalog import Tool
from sayso.intent import stricter
from sayso.once import Once
from sayso.policy.document import Policy
from sayso.policy.engine import is_visible
from sayso.policy.principal import Principal
from sayso.policy.situation import ToolFacts

_MOST: Final = 10_000
"""A server that keeps changing its tools must not fill memory."""


def seen_under(policy: Policy, tool: Tool) -> Tool:
    """The tool with the hints that count under `policy`."""
    resolved = policy.resolve(tool.server, tool.name, tool.evidence, receipts=tool.receipts)
    if tool.before is not None:
        known = policy.resolve(tool.server, tool.name, tool.before.evidence)
        resolved = stricter(known, resolved)
    intent = tool.intent
    if policy.dry_run and intent.plan is None:
        named = policy.dry_run_of(tool.server, tool.name, tool.input_schema)
        intent = intent if named is None else replace(intent, dry_run=named)
    return replace(tool, resolved=resolved, intent=intent)


def facts_of(tool: Tool) -> ToolFacts:
    """What a policy looks at, of a tool that is seen under it."""
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
    """Both: the tool under `policy`, and what the policy looks at."""
    seen = seen_under(policy, tool)
    return seen, facts_of(seen)


@dataclass(slots=True)
class Sight:
    """Remembers how tools are seen, as long as policy and tool stay as they are."""

    _policy: Policy | None = None
    _seen: Once[Tool, tuple[Tool, ToolFacts]] | None = None

    def of(self, policy: Policy, tool: Tool) -> tuple[Tool, ToolFacts]:
        """The tool under `policy`, and what the policy looks at."""
        if policy is not self._policy or self._seen is None:
            self._policy, self._seen = policy, Once(partial(look_at, policy), _MOST)
        return self._seen.of(tool)

    def shown(
        self, policy: Policy, principal: Principal, tool: Tool
    ) -> tuple[Tool, ToolFacts] | None:
        """The same, if this caller may know of the tool; else `None`."""
        seen, facts = self.of(policy, tool)
        return (seen, facts) if is_visible(policy, principal, facts) else None
