"""An agent of the OpenAI Agents SDK that deletes a customer once a person has said yes."""

import asyncio

from agents import RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message, function_call
from mcp import Client

import sayso
from sayso.agents.openai_agents import GuardedAgent
from sayso.demo.data import open_database
from sayso.demo.server import build_server

ROW = {"customer_id": 12}
# Stands for a model, so that this runs without one.
MODEL = ScriptedModel(
    [
        [
            function_call("customers_get", ROW, call_id="one"),
            function_call("customer_delete", ROW, call_id="two"),
        ],
        [assistant_message("Customer 12 is deleted.")],
    ]
)
QUIET = RunConfig(tracing_disabled=True)


async def main() -> None:
    """Run the agent until it wants to delete, ask, and go on."""
    with open_database() as database:
        async with (
            Client(build_server(database)) as client,
            sayso.wrap(client, approver="deferred", audit="temporary") as crm,
        ):
            agent = GuardedAgent("Clerk", model=MODEL, toolset=sayso.Toolset(crm))
            result = await Runner.run(agent, "Delete customer 12.", run_config=QUIET)
            while result.interruptions:
                state = result.to_state()
                for item in result.interruptions:
                    question = agent.question(item)
                    print(question and question["sentence"])
                    # Here a person is asked. state.reject(item) would be a no.
                    state.approve(item)
                result = await Runner.run(agent, state, run_config=QUIET)
            print(result.final_output)


if __name__ == "__main__":
    asyncio.run(main())
