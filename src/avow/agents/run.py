"""A run of an agent: what happens in it, and what became of it."""

from dataclasses import dataclass
from enum import StrEnum

from avow.agents.conversation import Message, Reply, Results
from avow.agents.exchange import ToolCall, ToolResult
from avow.approvals import Approval


class End(StrEnum):
    """Why a run ended; all but `DONE` and `WAITING` are limits that it came to."""

    DONE = "done"
    WAITING = "waiting"
    CUT = "cut"
    STEPS = "steps"
    TOKENS = "tokens"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call that waits for a person."""

    call: ToolCall
    approval: Approval


@dataclass(frozen=True, slots=True)
class Run:
    """What became of a run: `text` is the last that the model said, `reason` says why it ended.

    `messages` are those of this run. Where calls wait for answers of the program, as with
    `approver="deferred"`, `Agent.resume` goes on.
    """

    text: str
    end: End
    reason: str
    messages: tuple[Message, ...]
    waiting: tuple[Waiting, ...] = ()

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """What came of its calls."""
        told = (one.results for one in self.messages if isinstance(one, Results))
        return tuple(result for results in told for result in results)


Event = Reply | ToolCall | Waiting | ToolResult | Run
"""What screens are told: the model said, makes a call, it waits, its result; the run has ended."""
