"""For agents: sayso's guard around a client of the official SDK, without a gateway."""

from typing import TYPE_CHECKING

from sayso.agents.exchange import ToolCall, ToolResult
from sayso.agents.guarded import Guarded
from sayso.agents.opening import TEMPORARY, wrap
from sayso.agents.step import AgentTool, Step
from sayso.agents.toolset import Toolset
from sayso.agents.waiting import ApprovalQueue, Asked
from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.agents.approver import Approver, open_channel
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
        "sayso.agents.approver": ("Approver", "open_channel"),
        "sayso.agents.wire": ("Wire",),
    },
)
