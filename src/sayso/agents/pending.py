"""The questions that pause a framework's run, matched with their answers."""

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
    """The open questions of one toolset, by the call that waits.

    A call is identified by its id and arguments. The id is not enough, because some models use it
    twice; the tool's name is not used, because a framework may change it.
    """

    toolset: "Toolset"
    _asked: dict[str, tuple[ToolCall, Mapping[str, Any]]] = field(
        default_factory=dict[str, tuple[ToolCall, Mapping[str, Any]]]
    )

    @property
    def calls(self) -> list[ToolCall]:
        return [call for call, _ in self._asked.values()]

    def keep(self, call: ToolCall, question: Mapping[str, Any]) -> None:
        """Store the question of a call; `question` comes from `describe`."""
        key = _key(call)
        if key is not None and self._server(question) is not None:
            self._asked[key] = call, question

    def question(self, call: ToolCall) -> Mapping[str, Any] | None:
        entry = self._asked.get(_key(call) or "")
        return entry and entry[1]

    async def allow(self, call: ToolCall, step: "Step") -> ToolResult:
        """Make a call that a person allowed. Without a stored question, make it like any other."""
        question = self._take(call)
        if question is None:
            return await step.call(call)
        number = question["number"]
        server = question["server"]
        return await self.toolset.settle(call, number, is_allowed=True, server=server)

    async def deny(self, call: ToolCall, message: str | None = None) -> None:
        """Record that a person has denied a call, so that its question stays denied."""
        question = self._take(call)
        if question is None:
            return
        server = self._server(question)
        if server is not None:
            await server.answer(question["number"], is_allowed=False, message=message)

    def _take(self, call: ToolCall) -> Mapping[str, Any] | None:
        entry = self._asked.pop(_key(call) or "", None)
        return entry and entry[1]

    def _server(self, question: Mapping[str, Any]) -> "GuardedServer | None":
        servers = self.toolset.servers
        return next((server for server in servers if server.name == question.get("server")), None)


def _key(call: ToolCall) -> str | None:
    """Return a key for a call; `None` for unreadable arguments, with which a call never waits."""
    try:
        arguments = call.read_arguments()
    except BadArgumentsError:
        return None
    return digest({"id": call.id, "arguments": arguments})
