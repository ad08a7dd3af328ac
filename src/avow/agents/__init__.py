"""For agents: avow's guard around a client of the official SDK, without a gateway."""

from avow.agents.agent import Agent
from avow.agents.conversation import Message, Model, Reply, Results, UserMessage
from avow.agents.exchange import ToolCall, ToolResult
from avow.agents.guarded import Guarded
from avow.agents.opening import TEMPORARY, wrap
from avow.agents.run import End, Event, Run, Waiting
from avow.agents.step import AgentTool, Step
from avow.agents.toolset import Toolset
from avow.agents.waiting import ApprovalQueue, Asked

__all__ = [
    "TEMPORARY",
    "Agent",
    "AgentTool",
    "ApprovalQueue",
    "Asked",
    "End",
    "Event",
    "Guarded",
    "Message",
    "Model",
    "Reply",
    "Results",
    "Run",
    "Step",
    "ToolCall",
    "ToolResult",
    "Toolset",
    "UserMessage",
    "Waiting",
    "wrap",
]
