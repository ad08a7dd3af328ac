"""One call on its way through the guard, and the answers it may get."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from avow.audit import Facts, Outcome
from avow.catalog import Tool
from avow.errors import DeniedError
from avow.policy import Decision, Principal

Answer = dict[str, Any]
"""A `tools/call` result in wire form."""

Progress = Callable[[float, float | None, str | None], Awaitable[None]]
Execute = Callable[["Call"], Awaitable[Answer]]

META_APPROVAL: Final = "io.avow/approval"
META_OUTCOME: Final = "io.avow/outcome"


class UnknownToolError(DeniedError):
    """The tool does not exist, or not for this caller; the words are the same for both."""

    code = "unknown-tool"

    def __init__(self, name: str) -> None:
        super().__init__(f"Unknown tool: {name}")


async def no_progress(_done: float, _total: float | None, _message: str | None) -> None:
    """Tell nobody."""


@dataclass(slots=True)
class Call:
    """What is known of one call so far; each step adds its part.

    `started` is Unix seconds. `is_sent` turns true just before the server could see the call:
    from then on a lost answer means that nobody knows whether it ran. `outcome` is set by the
    step that knows better than the answer's own `isError`.
    """

    id: str
    principal: Principal
    name: str
    arguments: Mapping[str, Any]
    started: float
    progress: Progress = no_progress
    meta: Mapping[str, Any] | None = None
    tool: Tool | None = None
    arguments_digest: str = ""
    decision: Decision | None = None
    approval: int | None = None
    is_sent: bool = False
    outcome: Outcome | None = None

    @property
    def facts(self) -> Facts:
        """What the log is told; only once the tool is found and the decision is made."""
        tool, decision = self.found, self.decided
        return Facts(self.id, self.principal, tool, self.arguments, self.arguments_digest, decision)

    @property
    def found(self) -> Tool:
        """The tool, once `find` has found it."""
        if self.tool is None:
            message = "a step that needs the tool runs before it is found"
            raise RuntimeError(message)
        return self.tool

    @property
    def decided(self) -> Decision:
        """The decision, once `decide` has made it."""
        if self.decision is None:
            message = "a step that needs the decision runs before it is made"
            raise RuntimeError(message)
        return self.decision


def tool_error(text: str, **meta: Any) -> Answer:
    """An answer that says to the model why there is no result."""
    answer: Answer = {"content": [{"type": "text", "text": text}], "isError": True}
    return {**answer, "_meta": meta} if meta else answer
