"""Tools as a policy sees them: its trust and its operator's word in their hints."""

from dataclasses import dataclass, field, replace
from typing import Final

from avow.catalog import Tool
from avow.intent import stricter
from avow.policy.document import Policy
from avow.policy.engine import is_visible
from avow.policy.principal import Principal
from avow.policy.situation import ToolFacts

_MOST: Final = 10_000
"""A server that keeps changing its tools must not fill memory."""


def seen_under(policy: Policy, tool: Tool) -> Tool:
    """The tool with the hints that count under `policy`."""
    resolved = policy.resolve(tool.server, tool.name, tool.evidence)
    if tool.before is not None:
        known = policy.resolve(tool.server, tool.name, tool.before.evidence)
        resolved = stricter(known, resolved)
    return replace(tool, resolved=resolved)


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
    )


@dataclass(slots=True)
class Sight:
    """Remembers how tools are seen, as long as policy and tool stay as they are."""

    _policy: Policy | None = None
    _seen: dict[tuple[str, str, str, str], tuple[Tool, Tool, ToolFacts]] = field(
        default_factory=dict[tuple[str, str, str, str], tuple[Tool, Tool, ToolFacts]]
    )

    def of(self, policy: Policy, tool: Tool) -> tuple[Tool, ToolFacts]:
        """The tool under `policy`, and what the policy looks at."""
        if policy is not self._policy or len(self._seen) >= _MOST:
            self._policy = policy
            self._seen.clear()
        key = (tool.server, tool.origin, tool.name, tool.fingerprint)
        found = self._seen.get(key)
        if found is None or found[0] is not tool:
            seen = seen_under(policy, tool)
            found = self._seen[key] = (tool, seen, facts_of(seen))
        return found[1], found[2]

    def shown(
        self, policy: Policy, principal: Principal, tool: Tool
    ) -> tuple[Tool, ToolFacts] | None:
        """The same, if this caller may know of the tool; else `None`."""
        seen, facts = self.of(policy, tool)
        return (seen, facts) if is_visible(policy, principal, facts) else None
