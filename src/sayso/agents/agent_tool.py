"""A tool in the form that a model gets."""

from dataclasses import dataclass
from typing import Any

from sayso.agents.compatibility import fit_schema
from sayso.agents.server import GuardedServer
from sayso.catalog import Tool
from sayso.intent import Level
from sayso.policy import Effect, ToolFacts, foresee


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool for a model: `name` is the model's name for it, `tool` is the policy's view of it."""

    name: str
    tool: Tool
    facts: ToolFacts
    server: GuardedServer

    def __repr__(self) -> str:
        return f"<sayso tool: {self.name}, {self.level}>"

    @property
    def level(self) -> Level:
        return self.tool.level

    @property
    def title(self) -> str:
        return self.tool.title

    @property
    def description(self) -> str:
        """The server's description; the title if it gives none."""
        description = self.tool.raw.get("description")
        if isinstance(description, str) and description.strip():
            return description
        return self.title

    @property
    def schema(self) -> dict[str, Any]:
        """The tool's input schema, in the form that every model API accepts."""
        return fit_schema(self.tool.input_schema or {})

    @property
    def hints(self) -> dict[str, bool]:
        return self.tool.resolved.hints_dict

    @property
    def is_repeatable(self) -> bool:
        """True if the tool reads or is idempotent, so its calls may run in parallel and repeat."""
        return self.hints["read_only"] or self.hints["idempotent"]

    @property
    def asks(self) -> bool:
        """True if some calls of the tool need a person's approval."""
        decisions = foresee(self.server.rules(), self.server.principal, self.facts)
        return any(decision.effect is Effect.CONFIRM for decision in decisions)
