"""An agent over OpenAI's responses API: `python examples/agent_openai_responses.py "Who is …?"`.

Needs `pip install openai`, OPENAI_API_KEY, and the name of a model in OPENAI_MODEL. The client
repeats a failed request by itself; a tool is called once in any case.
"""

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp import Client, StdioServerParameters
from openai import AsyncOpenAI, omit

import sayso
from sayso.agents import Step, ToolCall, ToolResult

if TYPE_CHECKING:
    from openai.types.responses import FunctionToolParam
    from openai.types.responses.response_input_item_param import FunctionCallOutput

DEMO: Final = StdioServerParameters(command=sys.executable, args=["-m", "sayso.demo.server"])
MAX_STEPS: Final = 20


async def converse(client: AsyncOpenAI, model: str, toolset: sayso.Toolset, message: str) -> str:
    """Let the model answer a message and call tools until it calls no more."""
    items: list[Any] = [{"role": "user", "content": message}]
    for _ in range(MAX_STEPS):
        # The tools that fit the user's words, and the system prompt about them.
        step = await toolset.step(message)
        response = await client.responses.create(
            model=model,
            instructions=step.prompt or omit,
            tools=describe_tools(step) or omit,
            input=items,
        )
        if response.error is not None:
            raise RuntimeError(response.error.message)
        calls = [
            ToolCall(item.call_id, item.name, item.arguments)
            for item in response.output
            if item.type == "function_call"
        ]
        if not calls:
            return response.output_text
        # Reads run at once, writes in order, and destructive calls wait for a person. Calls of a
        # response that was cut off are not made: their arguments may be incomplete.
        results = await step.run(calls, is_cut=response.status == "incomplete")
        items += response.output  # what the model reasoned belongs to it
        items += [describe_result(one) for one in results]
    return f"Stopped after {MAX_STEPS} steps."


def describe_tools(step: Step) -> "list[FunctionToolParam]":
    """Return the tools of a step in the form of the responses API."""
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
            "strict": False,  # strict knows only part of JSON Schema; the guard checks arguments
        }
        for tool in step.tools.values()
    ]


def describe_result(result: ToolResult) -> "FunctionCallOutput":
    """Return the result of a call in the form of the responses API, with its pictures."""
    output: list[Any] = []
    for part in result.parts:
        if isinstance(part, str):
            output.append({"type": "input_text", "text": part})
        else:
            url = f"data:{part.kind};base64,{part.data}"
            output.append({"type": "input_image", "image_url": url})
    return {"type": "function_call_output", "call_id": result.id, "output": output}


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
