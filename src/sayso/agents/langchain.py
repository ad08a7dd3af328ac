"""LangChain: a middleware that gives `create_agent` the tools of each step, and their prompt."""

from collections.abc import Awaitable, Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import uuid4

from sayso.agents.exchange import BadArgumentsError, ToolCall, refuse
from sayso.agents.interruption import reply
from sayso.agents.langgraph import (
    GuardedTool,
    guarded_tool,
    guarded_tools,
    in_line,
    message_of,
    only_async,
    tools_of,
)
from sayso.agents.toolset import Step, Toolset
from sayso.errors import UnreachableError, UsageError
from sayso.extras import install_fix
from sayso.schema import plain

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
    from langchain.agents.middleware.types import ToolCallRequest
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        HumanMessage,
        InvalidToolCall,
        SystemMessage,
        ToolMessage,
    )
    from langchain_core.messages.tool import ToolCall as LangChainCall
    from langchain_core.messages.tool import tool_call
    from langgraph.types import Command
except ImportError as error:
    raise UsageError(
        "LangChain is not installed", where=__name__, fix=install_fix("langchain")
    ) from error

_UNREADABLE: Final = "sayso/unreadable"
"""The argument that carries a model's text if its arguments are not a JSON object."""

__all__ = ["GuardMiddleware", "GuardedTool", "reply", "tools_of"]


class GuardMiddleware(AgentMiddleware[Any, Any, Any]):
    """Gives an agent the tools of a toolset; pass it to `create_agent` in `middleware`.

    Each step offers only the tools that fit the user's messages, with a system prompt about them.
    The agent must run asynchronously.
    """

    def __init__(self, toolset: Toolset) -> None:
        super().__init__()
        self.tools = []
        self.toolset = toolset

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Offer the tools of this step, and handle calls whose arguments cannot be read."""
        step = await self._step(request.state)
        others = [tool for tool in request.tools if not self._is_ours(tool)]
        _check_names(others, step)
        system = _prompted(request.system_message, step.prompt)
        tools = [*others, *guarded_tools(step)]
        response = await handler(request.override(tools=tools, system_message=system))
        # With a response format, LangChain adds a tool of its own: handle only the step's tools.
        names = None
        if request.response_format is not None:
            names = step.tools
        return replace(response, result=[_read(message, names) for message in response.result])

    def wrap_model_call(self, request: Any, handler: Any) -> Any:  # noqa: ARG002 - LangChain's
        """Raise `UsageError`, because sayso's tools run in asynchronous agents only."""
        raise only_async()

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run a call of a tool that the step offers; refuse any other tool of the toolset."""
        if request.tool is not None and not self._is_ours(request.tool):
            return await handler(request)
        call = _made(request.tool_call)
        with in_line(self.toolset):
            try:
                step = await self._step(request.state)
            except UnreachableError as error:
                return message_of(refuse(call, f"{error}."))
            tool = guarded_tool(step, call.name)
            if tool is None or isinstance(call.arguments, str):
                return message_of(await step.call(call))
            return await handler(request.override(tool=tool))

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:  # noqa: ARG002 - LangChain's
        """Raise `UsageError`: sayso's tools run in asynchronous agents only."""
        raise only_async()

    async def _step(self, state: Any) -> Step:
        """Return the step for this state. A model request and its tool calls get the same step."""
        return await self.toolset.step(_user_texts(state["messages"]))

    def _is_ours(self, tool: object) -> bool:
        return isinstance(tool, GuardedTool) and tool.is_of(self.toolset)


def _user_texts(messages: Sequence[BaseMessage]) -> list[str]:
    """Return the user's messages without LangChain's summaries, which may quote tools."""
    return [
        str(message.text)
        for message in messages
        if isinstance(message, HumanMessage) and "lc_source" not in message.additional_kwargs
    ]


def _prompted(before: SystemMessage | None, prompt: str) -> SystemMessage:
    if before is None:
        return SystemMessage(prompt)
    if isinstance(before.content, str):
        return SystemMessage(f"{before.content}\n\n{prompt}")
    return SystemMessage([*before.content, {"type": "text", "text": prompt}])


def _read(message: BaseMessage, names: Container[str] | None) -> BaseMessage:
    """Return the message with unreadable calls as normal ones, because LangChain ignores them."""
    if not isinstance(message, AIMessage) or not message.invalid_tool_calls:
        return message
    calls = list(message.tool_calls)
    left = list[InvalidToolCall]()
    for unread in message.invalid_tool_calls:
        name = unread.get("name") or ""
        if names is not None and name not in names:
            left.append(unread)
        else:
            arguments = _arguments(unread.get("args") or "")
            calls.append(tool_call(name=name, args=arguments, id=unread.get("id") or str(uuid4())))
    return message.model_copy(update={"tool_calls": calls, "invalid_tool_calls": left})


def _arguments(text: str) -> dict[str, Any]:
    """Return the arguments. Unreadable text goes under one key, for `awrap_tool_call`."""
    try:
        return ToolCall("", "", text).read_arguments()
    except BadArgumentsError:
        return {_UNREADABLE: text}


def _made(request: LangChainCall) -> ToolCall:
    arguments = request["args"]
    call = ToolCall(request["id"] or "", request["name"], arguments)
    text = arguments.get(_UNREADABLE)
    if isinstance(text, str) and _UNREADABLE in _arguments(text):
        return ToolCall(call.id, call.name, text)
    return call


def _check_names(others: Iterable[Any], step: Step) -> None:
    twice = step.tools.keys() & {getattr(tool, "name", None) for tool in others}
    if twice:
        name = plain(min(twice))
        fix = "Give your own tool another name."
        raise UsageError(f"two tools are called {name!r}", where="GuardMiddleware", fix=fix)
