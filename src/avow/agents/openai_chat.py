"""OpenAI's client: guarded tools for chat completions, which many other servers speak too."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from avow.agents.conversation import Message, Reply, Results, UserMessage
from avow.agents.exchange import ToolCall, ToolResult
from avow.agents.openai import spell
from avow.agents.step import AgentTool, Step
from avow.errors import UnreachableError, UsageError
from avow.extras import install_fix

try:
    from openai import AsyncOpenAI, omit
    from openai.types.chat import ChatCompletion, ChatCompletionMessage
except ImportError as error:
    raise UsageError(
        "avow.agents.openai_chat needs OpenAI's client", fix=install_fix("openai")
    ) from error

if TYPE_CHECKING:
    from openai.types.chat import (
        ChatCompletionFunctionToolParam,
        ChatCompletionMessageParam,
        ChatCompletionToolMessageParam,
    )

_OF_THE_ANSWER = {"annotations", "audio"}
"""What stands in a message that came and in none that is sent."""


class OpenAIChatModel:
    """Asks one model; `options` are other words of `chat.completions.create`.

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
        before: list[Any] = [{"role": "system", "content": system}] if system else []
        create: Any = self.client.chat.completions.create  # options may be any of its words
        said: ChatCompletion = await create(
            model=self.model,
            messages=before + [message for one in messages for message in _sent(one)],
            tools=_tools(tools) or omit,
            **self.options,
        )
        if not said.choices:
            raise UnreachableError("the model gave no answer", where=self.model)
        choice = said.choices[0]
        return Reply(
            text=choice.message.content or choice.message.refusal or "",
            calls=tuple(calls_of(choice.message)),
            tokens=said.usage.total_tokens if said.usage else 0,
            is_cut=choice.finish_reason == "length",
            native=choice.message,
        )


def tools_of(step: Step) -> "list[ChatCompletionFunctionToolParam]":
    """The tools of a step for `chat.completions.create(tools=…)`."""
    return _tools(step.tools.values())


def calls_of(message: ChatCompletionMessage) -> list[ToolCall]:
    """The calls that a message makes."""
    return [
        ToolCall(one.id, one.function.name, one.function.arguments)
        if one.type == "function"
        else ToolCall(one.id, one.custom.name, one.custom.input)
        for one in message.tool_calls or ()
    ]


async def run_calls(
    step: Step, message: ChatCompletionMessage, *, is_cut: bool = False
) -> "list[ChatCompletionToolMessageParam]":
    """Make the calls of a message once, and give the messages that come after it.

    Where it `is_cut` (its `finish_reason` is `length`), they are not made.
    """
    return [_result(one) for one in await step.run(calls_of(message), is_cut=is_cut)]


def _tools(tools: Iterable[AgentTool]) -> "list[ChatCompletionFunctionToolParam]":
    return [
        {
            "type": "function",
            "function": {
                "name": one.name,
                "description": one.description,
                "parameters": one.schema,
                "strict": False,
            },
        }
        for one in tools
    ]


def _sent(message: Message) -> "list[ChatCompletionMessageParam]":
    if isinstance(message, UserMessage):
        return [{"role": "user", "content": message.text}]
    if isinstance(message, Results):
        return [_result(one) for one in message.results]
    if isinstance(message.native, ChatCompletionMessage):
        native = message.native.to_dict(exclude_unset=True)
        return [cast("Any", {key: native[key] for key in native.keys() - _OF_THE_ANSWER})]
    calls: list[Any] = [
        {
            "id": one.id,
            "type": "function",
            "function": {"name": one.name, "arguments": spell(one)},
        }
        for one in message.calls
    ]
    own: Any = {"role": "assistant", "content": message.text}
    if calls:
        own["tool_calls"] = calls
    return [own]


def _result(result: ToolResult) -> "ChatCompletionToolMessageParam":
    return {"role": "tool", "tool_call_id": result.id, "content": result.text}
