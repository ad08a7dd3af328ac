"""A tool as a model gets it."""

from dataclasses import dataclass
from typing import Any

from sayso.agents.compatibility import fit_schema
from sayso.agents.server import GuardedServer
from sayso.catalog import Tool
from sayso.intent import Level
from sayso.policy import Effect, ToolFacts, foresee


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool as a model gets it; `tool` is as the policy sees it, `name` as the model says it."""

    name: str
    tool: Tool
    facts: ToolFacts
    server: GuardedServer

    def __repr__(self) -> str:
        return f"<sayso tool: {self.name}, {self.level}>"

    @property
    def level(self) -> Level:
        """How much it changes."""
        return self.tool.level

    @property
    def title(self) -> str:
        """What people call it."""
        return self.tool.title

    @property
    def description(self) -> str:
        """What its server says of it; its title where that says nothing."""
        said = self.tool.raw.get("description")
        if isinstance(said, str) and said.strip():
            return said
        return self.title

    @property
    def schema(self) -> dict[str, Any]:
        """The schema of its arguments, in the form that every model takes: one of an object."""
        return fit_schema(self.tool.input_schema or {})

    @property
    def hints(self) -> dict[str, bool]:
        """The four hints that count."""
        return self.tool.resolved.hints_dict

    @property
    def is_repeatable(self) -> bool:
        """Whether calls of it may run side by side, and again: it reads or is idempotent."""
        return self.hints["read_only"] or self.hints["idempotent"]

    @property
    def asks(self) -> bool:
        """Whether some calls of it wait for a person."""
        found = foresee(self.server.rules(), self.server.principal, self.facts)
        return any(decision.effect is Effect.CONFIRM for decision in found)
