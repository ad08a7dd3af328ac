"""sayso's guard around a client of the official SDK, for agents that use no gateway."""

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
