"""One step of an agent: the tools that its model gets for it, and the prompt about them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from sayso.agents.exchange import ToolCall, ToolResult, refuse
from sayso.agents.fitting import fit_schema
from sayso.agents.server import GuardedServer
from sayso.catalog import Tool
from sayso.intent import Level
from sayso.policy import Effect, ToolFacts, foresee

if TYPE_CHECKING:
    from sayso.agents.toolset import Toolset
    from sayso.catalog import Selection


_CUT: Final = "your message ended at its limit of length, maybe in the midst of this call."


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
        return said if isinstance(said, str) and said.strip() else self.title

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


@dataclass(frozen=True)
class Step:
    """The tools of one step, by the name that the model says.

    `selection` tells why these were chosen, where there was a choice.
    """

    toolset: "Toolset"
    tools: Mapping[str, AgentTool]
    selection: "Selection | None" = None

    def __repr__(self) -> str:
        return f"<sayso step: {', '.join(self.tools) or 'no tools'}>"

    @cached_property
    def prompt(self) -> str:
        """The system prompt about these tools, from the same hints and policy."""
        return self.toolset.prompt(self.tools.values())

    async def call(self, call: ToolCall) -> ToolResult:
        """Make one call. See `Toolset.call`; a tool that this step does not offer is not there."""
        return await self.toolset.call(call, among=self.tools)

    async def run(self, calls: Iterable[ToolCall], *, is_cut: bool = False) -> list[ToolResult]:
        """Make all calls of the step. See `Toolset.run`.

        Where the model's message `is_cut`, ended by a limit of length, its calls may lack a part:
        none is made, and the model is told.
        """
        if is_cut:
            return [refuse(call, _CUT) for call in calls]
        return await self.toolset.run(calls, among=self.tools)
