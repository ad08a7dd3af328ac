"""sayso's guard around a client of the official SDK, for agents that use no gateway.

    step:   Toolset.tools (as the policy sees them) -> Selector -> Step: tools, prompt
    calls:  Step.run -> Toolset -> GuardedServer -> guard -> ToolResult, in words for the model

A toolset is one or more guarded clients under one policy, for one principal. Whatever a model gets
wrong comes back to it as a result. A framework's file only translates: its tools, its hook before a
step, its way to pause. With `approver="deferred"` a call that asks ends at once with its approval;
`settle` makes it again with a person's answer, which serves only that question. A cancelled call
withdraws its question.
"""

from typing import TYPE_CHECKING

from sayso.agents.agent_tool import AgentTool
from sayso.agents.approver import ApprovalQueue, Approver, Asked, open_channel
from sayso.agents.exchange import ToolCall, ToolResult
from sayso.agents.guarded import Guarded
from sayso.agents.toolset import Step, Toolset
from sayso.agents.wrapping import TEMPORARY, wrap
from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.agents.wire import Wire


__all__ = [
    "TEMPORARY",
    "AgentTool",
    "ApprovalQueue",
    "Approver",
    "Asked",
    "Guarded",
    "Step",
    "ToolCall",
    "ToolResult",
    "Toolset",
    "Wire",
    "open_channel",
    "wrap",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.agents.wire": ("Wire",),
    },
)
