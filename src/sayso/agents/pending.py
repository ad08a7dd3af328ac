"""Questions for which a framework pauses its run, and how their answers find them again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sayso.agents.exchange import BadArgumentsError, ToolCall, ToolResult
from sayso.schema import digest

if TYPE_CHECKING:
    from sayso.agents.server import GuardedServer
    from sayso.agents.toolset import Step, Toolset


@dataclass(frozen=True, slots=True)
class Pending:
    """The questions of one toolset that its program has yet to answer, by the call that waits.

    A call is known by its id and its arguments: some models give an id twice, and a framework may
    have a name of its own for a tool.
    """

    toolset: "Toolset"
    _asked: dict[str, tuple[ToolCall, Mapping[str, Any]]] = field(
        default_factory=dict[str, tuple[ToolCall, Mapping[str, Any]]]
    )

    @property
    def calls(self) -> list[ToolCall]:
        """The calls that wait."""
        return [call for call, _ in self._asked.values()]

    def keep(self, call: ToolCall, told: Mapping[str, Any]) -> None:
        """Remember what a call waits for, as `describe` told it."""
        key = _key(call)
        if key is not None and any(
            server.name == told.get("server") for server in self.toolset.servers
        ):
            self._asked[key] = call, told

    def told(self, call: ToolCall) -> Mapping[str, Any] | None:
        """What a call waits for, as `describe` told it."""
        found = self._asked.get(_key(call) or "")
        return found and found[1]

    async def allow(self, call: ToolCall, step: "Step") -> ToolResult:
        """Make a call that a person has allowed; where nobody was asked about it, that is asked."""
        told = self._take(call)
        if told is None:
            return await step.call(call)
        number = told["number"]
        server = told["server"]
        return await self.toolset.settle(call, number, is_allowed=True, server=server)

    async def deny(self, call: ToolCall, message: str | None = None) -> None:
        """Put on record that a person has denied a call, so that it stays denied."""
        told = self._take(call)
        if told is not None:
            server = self._server(told["server"])
            await server.answer(told["number"], is_allowed=False, message=message)

    def _take(self, call: ToolCall) -> Mapping[str, Any] | None:
        found = self._asked.pop(_key(call) or "", None)
        return found and found[1]

    def _server(self, name: str) -> "GuardedServer":
        return next(server for server in self.toolset.servers if server.name == name)


def _key(call: ToolCall) -> str | None:
    """What tells calls apart; `None` for one that cannot be read, and so waits for nobody."""
    try:
        arguments = call.read_arguments()
    except BadArgumentsError:
        return None
    return digest({"id": call.id, "arguments": arguments})
