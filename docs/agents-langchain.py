"""An agent of LangChain over the demo server; it stops at what destroys, and goes on later.

Its model is a script, so that this runs without a key and without a network.
"""

import os
import sys
from typing import Any

import anyio
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from mcp import Client, StdioServerParameters

import sayso
from sayso.agents.langchain import GuardMiddleware, reply

os.environ["LANGSMITH_TRACING"] = "false"  # nothing of this is sent anywhere

DEMO = StdioServerParameters(command=sys.executable, args=["-m", "sayso.demo.server"])
THREAD: Any = {"configurable": {"thread_id": "1"}}


class Script(GenericFakeChatModel):
    """Says what it was told to say, whatever it is given."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:  # noqa: ARG002 - it knows them already
        return self


def scripted() -> Script:
    """Read a customer and delete it, in one step, and then say so."""
    row = {"customer_id": 12}
    names = ("customers_get", "customer_delete")
    calls = [{"name": name, "args": row, "id": name, "type": "tool_call"} for name in names]
    return Script(messages=iter([AIMessage("", tool_calls=calls), "Customer 12 is deleted."]))


async def main() -> None:
    """Ask for something, show the question that comes of it, and answer it."""
    async with (
        Client(DEMO) as client,
        sayso.wrap(client, server="crm", approver="deferred", audit="temporary") as crm,
    ):
        toolset = sayso.Toolset(crm)
        agent = create_agent(
            scripted(), middleware=[GuardMiddleware(toolset)], checkpointer=InMemorySaver()
        )
        state = await agent.ainvoke({"messages": [("user", "Delete customer 12")]}, THREAD)
        while "__interrupt__" in state:
            (question,) = (one.value for one in state["__interrupt__"])
            print(question["sentence"])
            # A program shows it to a person, and comes back with the answer: even next week.
            state = await agent.ainvoke(Command(resume=reply(question, is_allowed=True)), THREAD)
        print(state["messages"][-1].text)


if __name__ == "__main__":
    anyio.run(main)
