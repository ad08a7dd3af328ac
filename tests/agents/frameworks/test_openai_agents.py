"""The tools of guarded servers in an agent of the OpenAI Agents SDK, on its scripted model."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from agents import RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message, function_call
from mcp import Client

import avow
from avow.agents import Toolset
from avow.agents.openai_agents import GuardedAgent
from avow.demo.data import Database
from avow.demo.server import build_server

pytestmark = pytest.mark.anyio

GET = ("customers_get", {"customer_id": 12})
DELETE = ("customer_delete", {"customer_id": 12})
QUIET = RunConfig(tracing_disabled=True)


@asynccontextmanager
async def toolset(database: Database, **given: Any) -> AsyncGenerator[Toolset]:
    """The tools of the demo, behind a guard."""
    words: dict[str, Any] = {"server": "crm", "audit": "temporary", "approver": "deferred", **given}
    async with Client(build_server(database)) as client, avow.wrap(client, **words) as crm:
        yield Toolset(crm)


def script(*steps: Sequence[tuple[str, Any]]) -> ScriptedModel:
    """A model that makes these calls, step by step, and then is done."""
    made = [
        [function_call(name, wanted, call_id=f"{step}.{at}") for at, (name, wanted) in enumerate(calls, 1)]
        for step, calls in enumerate(steps, 1)
    ]
    return ScriptedModel([*made, [assistant_message("done")]])


def told(result: Any) -> dict[str, str]:
    """What the model was told of each call."""
    return {
        item["call_id"]: item["output"]
        for item in result.to_input_list()
        if item.get("type") == "function_call_output"
    }


async def test_reads_run_and_a_person_allows_or_denies_what_destroys(database: Database) -> None:
    model = script([GET, DELETE], [("customer_delete", {"customer_id": 11})], [("customer_delete", {"customer_id": 11})])
    async with toolset(database) as tools:
        agent = GuardedAgent("Clerk", model=model, toolset=tools)
        asked = await Runner.run(agent, "delete customer 12", run_config=QUIET)
        print(asked.interruptions)
        (item,) = asked.interruptions
        print(agent.question(item))
        state = asked.to_state()
        state.approve(item)
        again = await Runner.run(agent, state, run_config=QUIET)
        print(told(again))
        (item,) = again.interruptions
        state = again.to_state()
        state.reject(item, rejection_message="keep her")
        last = await Runner.run(agent, state, run_config=QUIET)
        print(told(last), last.interruptions)
        assert 0
