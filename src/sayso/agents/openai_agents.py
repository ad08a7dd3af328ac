"""OpenAI Agents SDK: an agent with the tools of guarded servers."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import anyio

from sayso.agents.exchange import ToolCall, ToolResult
from sayso.agents.interruption import describe
from sayso.agents.pending import Pending
from sayso.errors import UsageError
from sayso.extras import install_fix

try:
    from agents import Agent, FunctionTool, RunContextWrapper, Tool
    from agents.items import ToolApprovalItem
    from agents.tool_context import ToolContext
except ImportError as error:
    raise UsageError(
        "the OpenAI Agents SDK is not installed", where=__name__, fix=install_fix("openai-agents")
    ) from error

if TYPE_CHECKING:
    from sayso.agents.agent_tool import AgentTool
    from sayso.agents.toolset import Step, Toolset


@dataclass
class GuardedTool(FunctionTool):
    """The SDK's form of a tool; its attribute `guarded` has the tool's level, hints and title."""

    guarded: "AgentTool | None" = field(default=None, kw_only=True)


@dataclass
class GuardedAgent(Agent[Any]):
    """An `Agent` with a `Toolset`'s tools: `GuardedAgent("Clerk", toolset=sayso.Toolset(crm))`.

    Each turn offers the tools that fit the user's messages. A system prompt about them follows the
    agent's own instructions. The result of each call is text.

    With `approver="deferred"`, a call that needs approval interrupts the run. `question` returns an
    interruption's question; `state.approve` or `state.reject` answers it for exactly the arguments
    in it. If another process resumes the state, that process must `remember` the questions first.
    `always_approve` answers one question only, and none if several calls of the same tool wait.
    """

    toolset: "Toolset | None" = field(default=None, kw_only=True)
    pending: Pending | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.toolset is None:
            fix = "Give the agent a toolset: GuardedAgent(name, toolset=sayso.Toolset(crm))."
            raise UsageError("toolset is required", where="GuardedAgent", fix=fix)
        self.pending = self.pending or Pending(self.toolset)

    def question(self, item: ToolApprovalItem) -> Mapping[str, Any] | None:
        """Return the question of an interruption, or `None` if sayso did not cause it."""
        return self._pending.question(_call(item))

    def remember(self, item: ToolApprovalItem, question: Mapping[str, Any]) -> None:
        """Store a question that another process asked, so that this process accepts its answer."""
        self._pending.keep(_call(item), question)

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Tool]:
        await self._note_rejections(run_context)
        waiting = tuple(call.name for call in self._pending.calls)
        turn = _Turn(await self._step(run_context), self._pending, waiting)
        own = [turn.watch(tool) for tool in await super().get_all_tools(run_context)]
        return [*own, *(turn.offer(tool) for tool in turn.step.tools.values())]

    async def get_system_prompt(self, run_context: RunContextWrapper[Any]) -> str | None:
        """Return the agent's own instructions and the system prompt about this step's tools."""
        own = await super().get_system_prompt(run_context)
        about = (await self._step(run_context)).prompt
        if not own:
            return about
        return f"{own}\n\n{about}"

    async def _step(self, run_context: RunContextWrapper[Any]) -> "Step":
        return await self._pending.toolset.step(list(_user_texts(run_context.turn_input)))

    async def _note_rejections(self, run_context: RunContextWrapper[Any]) -> None:
        for call in self._pending.calls:
            if run_context.is_tool_approved(call.name, call.id) is False:
                message = run_context.get_rejection_message(call.name, call.id)
                await self._pending.deny(call, message)

    @property
    def _pending(self) -> Pending:
        return cast("Pending", self.pending)


@dataclass(frozen=True, slots=True)
class _Turn:
    """The calls of one turn. `ended` has the results of calls already made, by call id.

    `waiting` has one tool name for each call that already waited before this turn.
    """

    step: "Step"
    pending: Pending
    waiting: tuple[str, ...]
    ended: dict[str, ToolResult] = field(default_factory=dict[str, ToolResult])
    paused: list[ToolResult] = field(default_factory=list[ToolResult])

    def offer(self, tool: "AgentTool") -> GuardedTool:
        is_deferred = tool.server.answer_channel is not None
        return GuardedTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=tool.schema,
            on_invoke_tool=partial(self.invoke, tool.name),
            strict_json_schema=False,
            # Give a function only if needed: with one, the SDK also asks about invalid arguments.
            needs_approval=partial(self.asks, tool.name) if is_deferred and tool.asks else False,
            guarded=tool,
        )

    def watch(self, tool: Tool) -> Tool:
        """Return one of the agent's own tools: if its failure ends the run, so do our questions."""
        if not isinstance(tool, FunctionTool):
            return tool
        return replace(tool, on_invoke_tool=partial(self._watched, tool.on_invoke_tool))

    async def asks(
        self, name: str, _: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str
    ) -> bool:
        """Make the call, and return whether it waits for a person."""
        call = ToolCall(call_id, name, arguments)
        result = await self._made(self.step.call(call))
        if result.approval is not None and self.pending.toolset.defers(result):
            self.pending.keep(call, describe(call, result.approval))
            self.paused.append(result)
            return True
        self.ended[call_id] = result
        return False

    async def invoke(self, name: str, context: ToolContext[Any], arguments: str) -> str:
        """Make a call and return its text; if `asks` made the call already, return that result."""
        ended = self.ended.pop(context.tool_call_id, None)
        if ended is not None:
            return ended.text
        call = ToolCall(context.tool_call_id, name, arguments)
        make = self.step.call
        if self.is_allowed(call, context):
            make = partial(self.pending.allow, step=self.step)
        return (await self._made(make(call))).text

    def is_allowed(self, call: ToolCall, context: ToolContext[Any]) -> bool:
        """Return whether a person has approved this call.

        After an `always_approve` the SDK does not know which call was meant, so the approval counts
        only if no other call of the tool waits.
        """
        if context.is_tool_approved(call.name, call.id) is not True:
            return False
        is_always = context.is_tool_approved(call.name, uuid4().hex) is True
        return not is_always or self.waiting.count(call.name) < 2  # noqa: PLR2004 - several

    async def _made(self, made: Awaitable[ToolResult]) -> ToolResult:
        async with self._withdrawing():
            return await made

    async def _watched(
        self,
        invoke: Callable[[ToolContext[Any], str], Awaitable[Any]],
        context: ToolContext[Any],
        arguments: str,
    ) -> Any:
        async with self._withdrawing():
            return await invoke(context, arguments)

    @asynccontextmanager
    async def _withdrawing(self) -> AsyncGenerator[None]:
        """Withdraw the questions of this turn if a call is cancelled or raises: the run has ended.

        The SDK reports the end of a run nowhere else, and calls that have paused are over by then.
        """
        try:
            yield
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.pending.toolset.withdraw(self.paused)
            raise


def _call(item: ToolApprovalItem) -> ToolCall:
    raw = item.raw_item
    get = raw.get if isinstance(raw, dict) else partial(getattr, raw)
    return ToolCall(get("call_id", ""), item.tool_name or "", get("arguments", None))


def _user_texts(items: Iterable[Any]) -> Iterator[str]:
    for item in items:
        if item.get("role") == "user":
            content = item.get("content")
            parts = [{"text": content}] if isinstance(content, str) else content or ()
            yield from (part["text"] for part in parts if isinstance(part.get("text"), str))
