"""pydantic-ai: the tools of guarded servers as a toolset."""

import sys
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Self

import anyio

from sayso.agents.exchange import BadArgumentsError, ToolCall, ToolResult
from sayso.agents.interruption import describe
from sayso.agents.pending import Pending
from sayso.errors import UsageError
from sayso.extras import install_fix

try:
    from pydantic_ai import DeferredToolRequests, RunContext
    from pydantic_ai.exceptions import ApprovalRequired
    from pydantic_ai.messages import (
        ModelMessage,
        ModelRequest,
        ModelResponse,
        TextContent,
        ToolCallPart,
        ToolReturn,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
except ImportError as error:
    raise UsageError(
        "pydantic-ai is not installed", where=__name__, fix=install_fix("pydantic-ai")
    ) from error

if TYPE_CHECKING:
    from sayso.agents.agent_tool import AgentTool
    from sayso.agents.toolset import Step, Toolset


class GuardedToolset(AbstractToolset[Any]):
    """A `Toolset` for `Agent(toolsets=[…])`: `GuardedToolset(sayso.Toolset(crm))`.

    Each request to the model offers the tools that fit the user's messages, with a system prompt
    about them. The result of each call is text.

    With `approver="deferred"`, a run with open questions ends with `DeferredToolRequests`, which
    have the questions as `metadata`. The next run's `DeferredToolResults` answer them, for exactly
    the arguments in them. If another process does that run, it must `remember` the requests first.
    """

    def __init__(self, toolset: "Toolset", *, id: str | None = None) -> None:  # noqa: A002 - theirs
        self.toolset = toolset
        self._id = id
        self._pending = Pending(toolset)
        self._step: tuple[int, Step] | None = None
        self._paused: list[ToolResult] = []
        self._error: BaseException | None = None

    @property
    def id(self) -> str | None:
        return self._id

    def remember(self, requests: DeferredToolRequests) -> None:
        """Store questions of another process, so that this process accepts their answers."""
        for part in requests.approvals:
            self._pending.keep(_call(part), requests.metadata.get(part.tool_call_id, {}))

    async def for_run(self, ctx: RunContext[Any]) -> Self:  # noqa: ARG002 - theirs
        """Return a copy for one run, since several runs of one agent may happen at once."""
        toolset = copy(self)
        toolset._step = None  # noqa: SLF001 - its own class
        toolset._paused = []  # noqa: SLF001 - its own class
        return toolset

    async def __aenter__(self) -> Self:
        """Store the exception being handled now; a different one on leaving means a failed run."""
        self._error = sys.exception()
        return self

    async def __aexit__(self, *_: object) -> bool | None:
        """Withdraw the questions of this run if it was cancelled or has failed."""
        # pydantic-ai does not pass the exception to `__aexit__`, so compare with `sys.exception`.
        if sys.exception() is not self._error:
            with anyio.CancelScope(shield=True):
                await self.toolset.withdraw(self._paused)
        return None

    async def get_instructions(self, ctx: RunContext[Any]) -> str:
        return (await self._prepare(ctx)).prompt

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """Return the tools of this step, with level, hints, title and server as `metadata`."""
        for call, message in _denied(ctx.messages):
            await self._pending.deny(call, message)
        step = await self._prepare(ctx)
        return {
            name: ToolsetTool(
                toolset=self,
                tool_def=_define(tool),
                max_retries=ctx.max_retries,
                args_validator=_AS_WRITTEN,
            )
            for name, tool in step.tools.items()
        }

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[Any],
        tool: ToolsetTool[Any],  # noqa: ARG002 - theirs
    ) -> ToolReturn[str]:
        """Make a call. Raises `ApprovalRequired` if the program must answer its question first."""
        arguments = tool_args.text if isinstance(tool_args, Unreadable) else tool_args
        call = ToolCall(ctx.tool_call_id or "", name, arguments)
        step = await self._prepare(ctx)
        if ctx.tool_call_approved:
            result = await self._pending.allow(call, step)
        else:
            result = await step.call(call)
        if result.approval is not None and self.toolset.defers(result):
            question = describe(call, result.approval)
            self._pending.keep(call, question)
            self._paused.append(result)
            raise ApprovalRequired(question)
        outcome = result.outcome and str(result.outcome)
        return ToolReturn(result.text, metadata={"is_error": result.is_error, "outcome": outcome})

    async def _prepare(self, ctx: RunContext[Any]) -> "Step":
        if self._step is None or self._step[0] != ctx.run_step:
            step = await self.toolset.step(list(_user_texts(ctx.messages, ctx.prompt)))
            self._step = ctx.run_step, await self._with_waiting(step, ctx.messages)
        return self._step[1]

    async def _with_waiting(self, step: "Step", messages: Sequence[ModelMessage]) -> "Step":
        """Return the step with the tools of waiting calls, which new messages may not select."""
        last = _last_calls(messages)
        names = {call.name for call in self._pending.calls if call.id in last} - set(step.tools)
        if not names:
            return step
        tools = await self.toolset.tools()
        waiting = {name: tools[name] for name in names if name in tools}
        return replace(step, tools={**step.tools, **waiting})


class Unreadable(dict[str, Any]):
    """Stands for arguments that are not a JSON object; `call_tool` reports them to the model."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class AsWritten:
    """A validator that accepts any arguments, because pydantic-ai ends a run if two fail."""

    def validate_json(self, input: str | bytes | bytearray, **_: Any) -> dict[str, Any]:  # noqa: A002 - theirs
        """Return the arguments as an object, or as `Unreadable` if they are not one."""
        text = input if isinstance(input, str) else bytes(input).decode(errors="replace")
        try:
            return ToolCall("", "", text).read_arguments()
        except BadArgumentsError:
            return Unreadable(text)

    def validate_python(self, input: Any, **_: Any) -> Any:  # noqa: A002 - theirs
        return input


_AS_WRITTEN: Final = AsWritten()


def _define(tool: "AgentTool") -> ToolDefinition:
    # `sequential` stays unset: with it, reads wait while another call waits for a person.
    return ToolDefinition(
        name=tool.name,
        description=tool.description,
        parameters_json_schema=tool.schema,
        metadata={
            "level": str(tool.level),
            "hints": tool.hints,
            "title": tool.title,
            "server": tool.server.name,
            "asks": tool.asks,
        },
    )


def _call(part: ToolCallPart) -> ToolCall:
    return ToolCall(part.tool_call_id, part.tool_name, part.args)


def _user_texts(messages: Sequence[ModelMessage], prompt: Any) -> Iterator[str]:
    """Yield the user's messages, the newest last. Skip messages that also have tool results."""
    prompts = [
        part.content
        for message in messages
        if isinstance(message, ModelRequest)
        and not any(isinstance(part, ToolReturnPart) for part in message.parts)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]
    if prompt is not None and prompt not in prompts:
        prompts.append(prompt)
    for content in prompts:
        if isinstance(content, str):
            yield content
            continue
        for part in content:
            if isinstance(part, str):
                yield part
            elif isinstance(part, TextContent):
                yield part.content


def _last_calls(messages: Sequence[ModelMessage]) -> dict[str, ToolCall]:
    answers = (message for message in reversed(messages) if isinstance(message, ModelResponse))
    return {
        part.tool_call_id: _call(part)
        for answer in islice(answers, 1)
        for part in answer.tool_calls
    }


def _denied(messages: Sequence[ModelMessage]) -> Iterator[tuple[ToolCall, str]]:
    """Yield those of the last calls that a person has denied, each with the person's message."""
    calls = _last_calls(messages)
    if not messages or not isinstance(messages[-1], ModelRequest):
        return
    for part in messages[-1].parts:
        if isinstance(part, ToolReturnPart) and part.outcome == "denied":
            call = calls.get(part.tool_call_id)
            if call is not None:
                yield call, str(part.content)
