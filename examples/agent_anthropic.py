"""An agent over Anthropic's client: `python examples/agent_anthropic.py "Who is customer 3?"`.

Needs `pip install anthropic`, ANTHROPIC_API_KEY, and the name of a model in ANTHROPIC_MODEL. The
client repeats a failed request by itself; a tool is called once in any case.
"""

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import anyio
from anthropic import AsyncAnthropic, omit
from mcp import Client, StdioServerParameters

import sayso
from sayso.agents import Step, ToolCall, ToolResult

if TYPE_CHECKING:
    from anthropic.types import MessageParam, ToolParam, ToolResultBlockParam

DEMO: Final = StdioServerParameters(command=sys.executable, args=["-m", "sayso.demo.server"])
MAX_STEPS: Final = 20
MAX_TOKENS: Final = 8192
PICTURES: Final = ("image/gif", "image/jpeg", "image/png", "image/webp")


async def converse(client: AsyncAnthropic, model: str, toolset: sayso.Toolset, message: str) -> str:
    """Let the model answer a message and call tools until it calls no more."""
    messages: list[MessageParam] = [{"role": "user", "content": message}]
    for _ in range(MAX_STEPS):
        # The tools that fit the user's words, and the system prompt about them.
        step = await toolset.step(message)
        reply = await client.messages.create(
            model=model,
            max_tokens=MAX_TOKENS,
            system=step.prompt or omit,
            tools=describe_tools(step) or omit,
            messages=messages,
        )
        calls = [
            ToolCall(block.id, block.name, block.input)
            for block in reply.content
            if block.type == "tool_use"
        ]
        if not calls:
            return "".join(block.text for block in reply.content if block.type == "text")
        # Reads run at once, writes in order, and destructive calls wait for a person. Calls of a
        # message that was cut off are not made: their arguments may be incomplete.
        results = await step.run(calls, is_cut=reply.stop_reason == "max_tokens")
        messages.append({"role": "assistant", "content": reply.content})
        messages.append({"role": "user", "content": [describe_result(one) for one in results]})
    return f"Stopped after {MAX_STEPS} steps."


def describe_tools(step: Step) -> "list[ToolParam]":
    """Return the tools of a step in the form of the messages API."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
        for tool in step.tools.values()
    ]


def describe_result(result: ToolResult) -> "ToolResultBlockParam":
    """Return the result of a call in the form of the messages API, with its pictures."""
    content: list[Any] = []
    for part in result.parts:
        if not isinstance(part, str) and part.kind in PICTURES:
            source = {"type": "base64", "media_type": part.kind, "data": part.data}
            content.append({"type": "image", "source": source})
        elif str(part):  # the API refuses empty texts
            content.append({"type": "text", "text": str(part)})
    return {
        "type": "tool_result",
        "tool_use_id": result.id,
        "content": content,
        "is_error": result.is_error,
    }


async def main(model: str, message: str) -> None:
    """Answer one message, and ask at the terminal before anything is destroyed."""
    async with (
        AsyncAnthropic() as anthropic,
        Client(DEMO) as client,
        sayso.wrap(client, approver=ask, audit="temporary") as crm,
    ):
        print(await converse(anthropic, model, sayso.Toolset(crm), message))


def ask(approval: sayso.Approval) -> bool:
    """Ask the person at the keyboard."""
    question = approval.question
    return input(f"{question.title} {question.arguments}? yes or no: ").strip() == "yes"


if __name__ == "__main__":
    name = os.environ.get("ANTHROPIC_MODEL", "")
    if not (name and os.environ.get("ANTHROPIC_API_KEY")):
        sys.exit("Set ANTHROPIC_API_KEY and ANTHROPIC_MODEL.")
    anyio.run(main, name, " ".join(sys.argv[1:]) or "Which customers are there?")
