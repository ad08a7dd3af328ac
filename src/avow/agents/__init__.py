"""For agents: avow's guard around a client of the official SDK, without a gateway."""

from avow.agents.exchange import ToolCall, ToolResult
from avow.agents.guarded import Guarded
from avow.agents.opening import TEMPORARY, wrap
from avow.agents.step import AgentTool, Step
from avow.agents.toolset import Toolset
from avow.agents.waiting import ApprovalQueue, Asked

__all__ = [
    "TEMPORARY",
    "AgentTool",
    "ApprovalQueue",
    "Asked",
    "Guarded",
    "Step",
    "ToolCall",
    "ToolResult",
    "Toolset",
    "wrap",
]
