"""A conversation of a person, a model and its tools, in the form of no provider."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from avow.agents.exchange import ToolCall, ToolResult
from avow.agents.step import AgentTool
from avow.errors import UsageError


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the user said."""

    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, and the calls that it makes.

    `tokens` is what it cost, question and answer. `is_cut` says that it ended at a limit of length:
    its calls may then lack a part, and are not made. `native` is the provider's own message, for
    whoever sends it back to the same provider. Raises `UsageError` for two calls of one id.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    tokens: int = 0
    is_cut: bool = False
    native: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len({one.id for one in self.calls}) < len(self.calls):
            fix = "Give each call an id of its own."
            raise UsageError("two calls of a reply have one id", where="Reply", fix=fix)


@dataclass(frozen=True, slots=True)
class Results:
    """What came of all calls of the reply before, in their order."""

    results: tuple[ToolResult, ...]


Message = UserMessage | Reply | Results


class Model(Protocol):
    """Asks a model for its next reply. Whatever it raises ends the run, and nothing is lost."""

    async def __call__(
        self, system: str, messages: Sequence[Message], tools: Sequence[AgentTool], /
    ) -> Reply: ...
