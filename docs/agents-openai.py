"""An agent over OpenAI's client: `python agents-openai.py "Who is customer 3?"`.

It takes OPENAI_API_KEY, and the name of a model from OPENAI_MODEL. For a server that speaks chat
completions, put OpenAIChatModel of avow.agents.openai_chat in the place of OpenAIModel.
"""

import os
import sys

import anyio
from mcp import Client, StdioServerParameters
from openai import AsyncOpenAI

import avow
from avow.agents import Agent
from avow.agents.openai import OpenAIModel

MODEL = os.environ.get("OPENAI_MODEL", "")
DEMO = StdioServerParameters(command=sys.executable, args=["-m", "avow.demo.server"])


async def main(message: str) -> None:
    """Answer one message, and ask at the terminal before anything is destroyed."""
    async with (
        AsyncOpenAI() as openai,
        Client(DEMO) as client,
        avow.wrap(client, approver=ask, audit="temporary") as crm,
    ):
        model = OpenAIModel(openai, MODEL)
        agent = Agent(model, avow.Toolset(crm), instructions="You look after a design studio.")
        run = await agent.run(message)
        print(run.text)


def ask(approval: avow.Approval) -> bool:
    """Whether the person at the keyboard says yes."""
    question = approval.question
    return input(f"{question.title} {question.arguments}? yes or no: ").strip() == "yes"


if __name__ == "__main__":
    if not (MODEL and os.environ.get("OPENAI_API_KEY")):
        sys.exit("Set OPENAI_API_KEY and OPENAI_MODEL.")
    anyio.run(main, " ".join(sys.argv[1:]) or "Which customers are there?")
