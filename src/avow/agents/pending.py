"""Questions for which a framework pauses its run: what it shows of them, how answers come back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from avow.agents.exchange import ToolCall, ToolResult
from avow.approvals import Approval
from avow.schema import digest

if TYPE_CHECKING:
    from avow.agents.server import GuardedServer
    from avow.agents.toolset import Toolset


def describe(approval: Approval) -> dict[str, Any]:
    """What a program shows of a question, and needs to bring its answer; `arguments` redacted."""
    asked = approval.question
    return {
        "number": approval.number,
        "server": asked.server,
        "title": asked.title,
        "sentence": asked.confirm or asked.sentence,
        "level": asked.level,
        "arguments": dict(asked.arguments),
        "plan": asked.plan,
        "expires": approval.expires,
    }


@dataclass(frozen=True, slots=True)
class Pending:
    """The questions of one toolset that its program has yet to answer, by the call that waits.

    A call is known by its id, its tool and its arguments: some models give an id twice.
    """

    toolset: "Toolset"
    _numbers: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])

    def pauses(self, result: ToolResult) -> bool:
        """Whether the call waits for an answer that the program brings."""
        asked = result.approval
        return asked is not None and self._server(asked.question.server).may_answer is not None

    def keep(self, call: ToolCall, told: Mapping[str, Any]) -> None:
        """Remember what a call waits for, as `describe` told it."""
        self._numbers[_key(call)] = told["server"], told["number"]

    async def allow(self, call: ToolCall) -> ToolResult:
        """Make a call that a person has allowed; where nobody was asked about it, that is asked."""
        _, number = self._numbers.pop(_key(call), (None, None))
        if number is None:
            return await self.toolset.call(call)
        return await self.toolset.settle(call, number, is_allowed=True)

    async def deny(self, call: ToolCall, message: str | None = None) -> None:
        """Put on record that a person has denied a call, so that it stays denied."""
        server, number = self._numbers.pop(_key(call), (None, None))
        if server is not None and number is not None:
            await self._server(server).answer(number, is_allowed=False, message=message)

    def _server(self, name: str) -> "GuardedServer":
        return next(one for one in self.toolset.servers if one.name == name)


def _key(call: ToolCall) -> str:
    return digest({"id": call.id, "tool": call.name, "arguments": call.read_arguments()})
