"""OpenAI's client: guarded tools for its responses API, and a `Model` for `Agent`.

`avow.agents.openai_chat` has the same for chat completions.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from avow.agents.conversation import Message, Reply, Results, UserMessage
from avow.agents.exchange import Picture, ToolCall, ToolResult
from avow.agents.step import AgentTool, Step
from avow.errors import UnreachableError, UsageError
from avow.extras import install_fix
from avow.schema import canonical

try:
    from openai import AsyncOpenAI, omit
    from openai.types.responses import Response
except ImportError as error:
    raise UsageError(
        "avow.agents.openai needs OpenAI's client", fix=install_fix("openai")
    ) from error

if TYPE_CHECKING:
    from openai.types.responses import FunctionToolParam, ResponseInputItemParam


class OpenAIModel:
    """Asks one model of OpenAI's; `options` are other words of `responses.create`.

    The client sends a request again that has failed, and a request makes no call.
    """

    def __init__(self, client: AsyncOpenAI, model: str, **options: Any) -> None:
        self.client = client
        self.model = model
        self.options = options

    async def __call__(
        self, system: str, messages: Sequence[Message], tools: Sequence[AgentTool]
    ) -> Reply:
        """See `Model`. Raises what the client raises."""
        create: Any = self.client.responses.create  # options may be any of its words
        said: Response = await create(
            model=self.model,
            instructions=system or omit,
            input=[item for one in messages for item in _sent(one)],
            tools=_tools(tools) or omit,
            **self.options,
        )
        if said.error is not None:
            raise UnreachableError(f"the model failed: {said.error.message}", where=self.model)
        return Reply(
            text=said.output_text or _refusal(said),
            calls=tuple(calls_of(said)),
            tokens=said.usage.total_tokens if said.usage else 0,
            is_cut=_is_cut(said),
            native=said,
        )


def tools_of(step: Step) -> "list[FunctionToolParam]":
    """The tools of a step for `responses.create(tools=…)`."""
    return _tools(step.tools.values())


def calls_of(response: Response) -> list[ToolCall]:
    """The calls that a response makes."""
    return [
        ToolCall(one.call_id, one.name, one.arguments)
        for one in response.output
        if one.type == "function_call"
    ]


async def run_calls(step: Step, response: Response) -> "list[ResponseInputItemParam]":
    """Make the calls of a response once, and give the items that come after its own.

    Those of a response that ended at its limit of length are not made.
    """
    results = await step.run(calls_of(response), is_cut=_is_cut(response))
    return [_result(one) for one in results]


def _is_cut(response: Response) -> bool:
    return response.status == "incomplete"


def _refusal(response: Response) -> str:
    said = [part for one in response.output if one.type == "message" for part in one.content]
    return "".join(part.refusal for part in said if part.type == "refusal")


def _tools(tools: Iterable[AgentTool]) -> "list[FunctionToolParam]":
    # Strict ones know a part of JSON Schema only; the guard checks arguments in any case.
    return [
        {
            "type": "function",
            "name": one.name,
            "description": one.description,
            "parameters": one.schema,
            "strict": False,
        }
        for one in tools
    ]


def _sent(message: Message) -> "list[ResponseInputItemParam]":
    if isinstance(message, UserMessage):
        return [{"role": "user", "content": message.text}]
    if isinstance(message, Results):
        return [_result(one) for one in message.results]
    if isinstance(message.native, Response):
        return cast("list[ResponseInputItemParam]", list(message.native.output))
    text: list[Any] = [{"role": "assistant", "content": message.text}] if message.text else []
    return text + [
        {
            "type": "function_call",
            "call_id": one.id,
            "name": one.name,
            "arguments": spell(one),
        }
        for one in message.calls
    ]


def spell(call: ToolCall) -> str:
    """The arguments of a call as text."""
    said = call.arguments
    return said if isinstance(said, str) else canonical(dict(said or {})).decode()


def _result(result: ToolResult) -> "ResponseInputItemParam":
    output: Any = result.text
    if any(isinstance(one, Picture) for one in result.parts):
        output = [_part(one) for one in result.parts]
    return {"type": "function_call_output", "call_id": result.id, "output": output}


def _part(part: str | Picture) -> dict[str, str]:
    if isinstance(part, str):
        return {"type": "input_text", "text": part}
    return {"type": "input_image", "image_url": f"data:{part.kind};base64,{part.data}"}
