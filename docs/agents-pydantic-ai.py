"""An agent of pydantic-ai that deletes a customer once a person has said yes."""

import asyncio

from mcp import Client
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import sayso
from sayso.agents.pydantic_ai import GuardedToolset
from sayso.demo.data import open_database
from sayso.demo.server import build_server


def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Stands for a model, so that this runs without one: looks, deletes, says what came of it."""
    last = messages[-1].parts[-1]
    if last.part_kind != "tool-return":
        row = {"customer_id": 12}
        return ModelResponse(
            [ToolCallPart("customers_get", row), ToolCallPart("customer_delete", row)]
        )
    return ModelResponse([TextPart(str(last.content))])


async def main() -> None:
    """Run the agent until it wants to delete, ask, and go on."""
    with open_database() as database:
        async with (
            Client(build_server(database)) as client,
            sayso.wrap(client, approver="deferred", audit="temporary") as crm,
        ):
            tools = GuardedToolset(sayso.Toolset(crm))
            agent = Agent(
                FunctionModel(answer), toolsets=[tools], output_type=[str, DeferredToolRequests]
            )
            result = await agent.run("Delete customer 12.")
            while isinstance(result.output, DeferredToolRequests):
                for question in result.output.metadata.values():
                    print(question["sentence"])
                # Here a person is asked. ToolDenied("why") in the place of True would be a no.
                said = dict.fromkeys(result.output.metadata, True)
                result = await agent.run(
                    message_history=result.all_messages(),
                    deferred_tool_results=result.output.build_results(approvals=said),
                )
            print(result.output)


if __name__ == "__main__":
    asyncio.run(main())
