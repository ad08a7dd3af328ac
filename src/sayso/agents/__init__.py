"""sayso's guard around a client of the official SDK, for agents that use no gateway.

    step:   Toolset.tools (as the policy sees them) -> Selector -> Step: tools, prompt
    calls:  Step.run -> Toolset -> GuardedServer -> guard -> ToolResult, with text for the model

A toolset is one or more guarded clients under one policy, for one principal. A model's mistakes
come back to it as results. Each framework has one file, which converts its tools, its hook before a
step and its way to pause. With `approver="deferred"`, a call that needs approval ends at once with
its approval. `settle` then repeats the call with a person's answer to this one question. A
cancelled call withdraws its question.
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
