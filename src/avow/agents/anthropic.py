"""Anthropic's client: guarded tools for its messages API, and a `Model` for `Agent`."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from avow.agents.conversation import Message, Reply, UserMessage
from avow.agents.exchange import BadArgumentsError, Picture, ToolCall, ToolResult
from avow.agents.step import AgentTool, Step
from avow.errors import UsageError
from avow.extras import install_fix

try:
    from anthropic import AsyncAnthropic, omit
    from anthropic.types import Message as Said
except ImportError as error:
    raise UsageError(
        "avow.agents.anthropic needs Anthropic's client", fix=install_fix("anthropic")
    ) from error

if TYPE_CHECKING:
    from anthropic.types import (
        ImageBlockParam,
        MessageParam,
        TextBlockParam,
        ToolParam,
        ToolResultBlockParam,
    )

_PICTURES: Final = ("image/gif", "image/jpeg", "image/png", "image/webp")


class AnthropicModel:
    """Asks one model of Anthropic's.

    `max_tokens` is the limit of each reply; `options` are other words of `messages.create`. The
    client sends a request again that has failed, and a request makes no call.
    """

    def __init__(
        self, client: AsyncAnthropic, model: str, *, max_tokens: int = 8192, **options: Any
    ) -> None:
        self.client = client
        self.model = model
        self.max_tokens = max_tokens
        self.options = options

    async def __call__(
        self, system: str, messages: Sequence[Message], tools: Sequence[AgentTool]
    ) -> Reply:
        """See `Model`. Raises what the client raises."""
        create: Any = self.client.messages.create  # options may be any of its words
        said: Said = await create(
            model=self.model,
            max_tokens=self.max_tokens,
            system=system or omit,
            messages=[message for one in messages for message in _sent(one)],
            tools=_tools(tools) or omit,
            **self.options,
        )
        used = said.usage
        cached = (used.cache_creation_input_tokens or 0) + (used.cache_read_input_tokens or 0)
        return Reply(
            text="".join(one.text for one in said.content if one.type == "text"),
            calls=tuple(calls_of(said)),
            tokens=used.input_tokens + cached + used.output_tokens,
            is_cut=said.stop_reason in {"max_tokens", "model_context_window_exceeded"},
            native=said,
        )


def tools_of(step: Step) -> "list[ToolParam]":
    """The tools of a step for `messages.create(tools=…)`."""
    return _tools(step.tools.values())


def calls_of(message: Said) -> list[ToolCall]:
    """The calls that a message makes."""
    return [
        ToolCall(one.id, one.name, one.input) for one in message.content if one.type == "tool_use"
    ]


async def run_calls(step: Step, message: Said) -> "list[MessageParam]":
    """Make the calls of a message once, and give what comes after it: nothing, or one message.

    Those of a message that ended at its limit of length are not made.
    """
    calls = calls_of(message)
    if not calls:
        return []
    return [_results(await step.run(calls, is_cut=message.stop_reason == "max_tokens"))]


def _tools(tools: Iterable[AgentTool]) -> "list[ToolParam]":
    return [
        {"name": one.name, "description": one.description, "input_schema": one.schema}
        for one in tools
    ]


def _sent(message: Message) -> "list[MessageParam]":
    if isinstance(message, UserMessage):
        return [{"role": "user", "content": message.text}]
    if not isinstance(message, Reply):
        return [_results(message.results)]
    if isinstance(message.native, Said):
        content = cast("Any", message.native.content)
    else:
        text: list[Any] = [{"type": "text", "text": message.text}] if message.text else []
        content = text + [
            {"type": "tool_use", "id": one.id, "name": one.name, "input": _input(one)}
            for one in message.calls
        ]
    # The API takes no message without content.
    return [{"role": "assistant", "content": content}] if content else []


def _input(call: ToolCall) -> dict[str, object]:
    try:
        return call.read_arguments()
    except BadArgumentsError:
        return {}


def _results(results: Iterable[ToolResult]) -> "MessageParam":
    return {"role": "user", "content": [_result(one) for one in results]}


def _result(result: ToolResult) -> "ToolResultBlockParam":
    shown = [_block(one) for one in result.parts if one]
    has_pictures = any(one["type"] == "image" for one in shown)
    return {
        "type": "tool_result",
        "tool_use_id": result.id,
        "content": shown if has_pictures else result.text,
        "is_error": result.is_error,
    }


def _block(part: str | Picture) -> "TextBlockParam | ImageBlockParam":
    if isinstance(part, str) or part.kind not in _PICTURES:
        return {"type": "text", "text": str(part)}
    source: Any = {"type": "base64", "media_type": part.kind, "data": part.data}
    return {"type": "image", "source": source}
