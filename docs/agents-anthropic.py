"""An agent over Anthropic's client: `python agents-anthropic.py "Who is customer 3?"`.

It takes ANTHROPIC_API_KEY, and the name of a model from ANTHROPIC_MODEL.
"""

import os
import sys

import anyio
from anthropic import AsyncAnthropic
from mcp import Client, StdioServerParameters

import avow
from avow.agents import Agent
from avow.agents.anthropic import AnthropicModel

MODEL = os.environ.get("ANTHROPIC_MODEL", "")
DEMO = StdioServerParameters(command=sys.executable, args=["-m", "avow.demo.server"])


async def main(message: str) -> None:
    """Answer one message, and ask at the terminal before anything is destroyed."""
    async with (
        AsyncAnthropic() as anthropic,
        Client(DEMO) as client,
        avow.wrap(client, approver=ask, audit="temporary") as crm,
    ):
        model = AnthropicModel(anthropic, MODEL)
        agent = Agent(model, avow.Toolset(crm), instructions="You look after a design studio.")
        run = await agent.run(message)
        print(run.text)


def ask(approval: avow.Approval) -> bool:
    """Whether the person at the keyboard says yes."""
    question = approval.question
    return input(f"{question.title} {question.arguments}? yes or no: ").strip() == "yes"


if __name__ == "__main__":
    if not (MODEL and os.environ.get("ANTHROPIC_API_KEY")):
        sys.exit("Set ANTHROPIC_API_KEY and ANTHROPIC_MODEL.")
    anyio.run(main, " ".join(sys.argv[1:]) or "Which customers are there?")
