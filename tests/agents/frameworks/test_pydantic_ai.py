"""The tools of guarded servers in a pydantic-ai agent, on its own model for tests."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from pydantic_ai import Agent, DeferredToolRequests, ToolDenied
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import avow
from avow.agents import Toolset
from avow.agents.pydantic_ai import GuardedToolset
from avow.demo.data import Database
from avow.demo.server import build_server

pytestmark = pytest.mark.anyio

GET = ("customers_get", {"customer_id": 12})
DELETE = ("customer_delete", {"customer_id": 12})
OUTPUT: Any = [str, DeferredToolRequests]


@asynccontextmanager
async def toolset(database: Database, **given: Any) -> AsyncGenerator[Toolset]:
    """The tools of the demo, behind a guard."""
    words: dict[str, Any] = {"server": "crm", "audit": "temporary", "approver": "deferred", **given}
    async with Client(build_server(database)) as client, avow.wrap(client, **words) as crm:
        yield Toolset(crm)


def script(*steps: Sequence[tuple[str, Any]]) -> FunctionModel:
    """A model that makes these calls, step by step, and then is done."""
    left = [
        [ToolCallPart(name, wanted, f"{step}.{at}") for at, (name, wanted) in enumerate(calls, 1)]
        for step, calls in enumerate(steps, 1)
    ]

    def answer(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(left.pop(0) if left else [TextPart("done")])

    return FunctionModel(answer)


def told(messages: list[ModelMessage]) -> dict[str, str]:
    """What the model was told of each call."""
    parts = [part for message in messages for part in message.parts]
    return {one.tool_call_id: str(one.content) for one in parts if isinstance(one, ToolReturnPart)}


async def test_reads_run_and_a_person_allows_or_denies_what_destroys(database: Database) -> None:
    model = script([GET, DELETE], [("customer_delete", {"customer_id": 11})])
    async with toolset(database) as tools:
        agent = Agent(model, toolsets=[GuardedToolset(tools)], output_type=OUTPUT)
        asked = await agent.run("delete customer 12")
        (question,) = asked.output.metadata.values()
        assert question["number"] == 1
        assert question["level"] == "destructive"
        assert question["arguments"] == DELETE[1]
        assert "Delete customer 12" in question["sentence"]

        again = await agent.run(
            message_history=asked.all_messages(),
            deferred_tool_results=asked.output.build_results(approve_all=True),
        )
        said = told(again.all_messages())
        assert '"customer_id": 12' in said["1.1"] or "12" in said["1.1"]
        assert "Customer 12 is deleted" in said["1.2"]

        denied = {"2.1": ToolDenied("keep her")}
        last = await agent.run(
            message_history=again.all_messages(),
            deferred_tool_results=again.output.build_results(approvals=denied),
        )
        assert last.output == "done"
        assert told(last.all_messages())["2.1"] == "keep her"
