"""An agent over chat completions, which many servers speak: `python examples/agent_openai_chat.py`.

Needs `pip install openai`, OPENAI_API_KEY, the name of a model in OPENAI_MODEL, and for another
server its address in OPENAI_BASE_URL. The client repeats a failed request by itself; a tool is
called once in any case.
"""

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp import Client, StdioServerParameters
from openai import AsyncOpenAI, omit

import sayso
from sayso.agents import Step, ToolCall

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionFunctionToolParam

DEMO: Final = StdioServerParameters(command=sys.executable, args=["-m", "sayso.demo.server"])
MAX_STEPS: Final = 20


async def converse(client: AsyncOpenAI, model: str, toolset: sayso.Toolset, message: str) -> str:
    """Let the model answer a message and call tools until it calls no more."""
    messages: list[Any] = [{"role": "user", "content": message}]
    for _ in range(MAX_STEPS):
        # The tools that fit the user's words, and the system prompt about them.
        step = await toolset.step(message)
        completion = await client.chat.completions.create(
            model=model,
            messages=[{"role": "system", "content": step.prompt}, *messages],
            tools=describe_tools(step) or omit,
        )
        choice = completion.choices[0]
        calls = [
            ToolCall(call.id, call.function.name, call.function.arguments)
            for call in choice.message.tool_calls or ()
            if call.type == "function"
        ]
        if not calls:
            return choice.message.content or choice.message.refusal or ""
        # Reads run at once, writes in order, and destructive calls wait for a person. Calls of a
        # message that was cut off are not made: their arguments may be incomplete.
        results = await step.run(calls, is_cut=choice.finish_reason == "length")
        messages.append(choice.message.model_dump(include={"role", "content", "tool_calls"}))
        # Messages of tools hold text only.
        messages += [
            {"role": "tool", "tool_call_id": result.id, "content": result.text}
            for result in results
        ]
    return f"Stopped after {MAX_STEPS} steps."


def describe_tools(step: Step) -> "list[ChatCompletionFunctionToolParam]":
    """Return the tools of a step in the form of chat completions."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                "strict": False,  # strict knows only part of JSON Schema; the guard checks
            },
        }
        for tool in step.tools.values()
    ]


async def main(model: str, message: str) -> None:
    """Answer one message, and ask at the terminal before anything is destroyed."""
    async with (
        AsyncOpenAI() as openai,
        Client(DEMO) as client,
        sayso.wrap(client, approver=ask, audit="temporary") as crm,
    ):
        print(await converse(openai, model, sayso.Toolset(crm), message))


def ask(approval: sayso.Approval) -> bool:
    """Ask the person at the keyboard."""
    question = approval.question
    return input(f"{question.title} {question.arguments}? yes or no: ").strip() == "yes"


if __name__ == "__main__":
    name = os.environ.get("OPENAI_MODEL", "")
    if not (name and os.environ.get("OPENAI_API_KEY")):
        sys.exit("Set OPENAI_API_KEY and OPENAI_MODEL.")
    anyio.run(main, name, " ".join(sys.argv[1:]) or "Which customers are there?")
