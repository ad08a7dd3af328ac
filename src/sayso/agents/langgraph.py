"""LangGraph: a toolset's tools for a `ToolNode`, and questions to a person as interrupts."""

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import anyio

from sayso.agents.agent_tool import AgentTool
from sayso.agents.exchange import ToolCall, ToolResult
from sayso.agents.interruption import Reply, describe, read_reply, reply
from sayso.agents.toolset import Step, Toolset
from sayso.errors import UsageError
from sayso.extras import install_fix
from sayso.schema import digest

try:
    from langchain_core.messages import ToolMessage
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool
    from langgraph.types import interrupt
    from pydantic import PrivateAttr
except ImportError as error:
    raise UsageError(
        "LangGraph is not installed", where=__name__, fix=install_fix("langchain")
    ) from error

if TYPE_CHECKING:
    from sayso.guard import Turn

__all__ = [
    "GuardedTool",
    "guarded_tool",
    "guarded_tools",
    "in_line",
    "message_of",
    "only_async",
    "reply",
    "tools_of",
]

_made_now: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()
"""Locks by call key, since calls of an interrupted `ToolNode` go on while its node runs again."""

_drawn: ContextVar[list["Turn"] | None] = ContextVar("sayso_drawn", default=None)


@dataclass(slots=True)
class _Node:
    """People's answers to the parallel calls in one run of a node.

    LangGraph passes answers to a node in the order of arrival, so a call may get the answer for
    another call.
    """

    calls: int = 0
    replies: dict[tuple[str, int], Reply] = field(default_factory=dict[tuple[str, int], Reply])

    def ask(self, question: dict[str, Any]) -> Reply:
        """Return the answer to this question; interrupt the graph until the answer is there."""
        key = question["server"], question["number"]
        value = question
        while key not in self.replies:
            answer = read_reply(interrupt(value))
            if isinstance(answer, str):
                value = {**question, "problem": answer}
            else:
                value = question
                self.replies[answer.server, answer.number] = answer
        return self.replies.pop(key)


@dataclass(slots=True)
class _Nodes:
    """The running nodes, by their place in the graph."""

    running: dict[str, _Node] = field(default_factory=dict[str, _Node])

    @contextmanager
    def at(self, place: str) -> Generator[_Node]:
        node = self.running.setdefault(place, _Node())
        node.calls += 1
        try:
            yield node
        finally:
            node.calls -= 1
            if not node.calls:
                self.running.pop(place, None)


class GuardedTool(BaseTool):
    """A tool of a toolset, for asynchronous graphs.

    In a graph each call has an idempotency key, so it runs once even if LangGraph runs its node
    several times. With `approver="deferred"`, a call that needs approval interrupts the graph.
    Resume the graph with `reply`.
    """

    _tool: AgentTool = PrivateAttr()
    _toolset: Toolset = PrivateAttr()
    _among: Mapping[str, AgentTool] | None = PrivateAttr()
    _nodes: _Nodes = PrivateAttr()

    def __init__(
        self,
        tool: AgentTool,
        toolset: Toolset,
        *,
        among: Mapping[str, AgentTool] | None,
        nodes: _Nodes,
    ) -> None:
        about = {"level": str(tool.level), "hints": tool.hints, "server": tool.server.name}
        super().__init__(
            name=tool.name,
            description=tool.description,
            args_schema=tool.schema,
            metadata={"sayso": {**about, "title": tool.title}},
        )
        self._tool = tool
        self._toolset = toolset
        self._among = among
        self._nodes = nodes

    def is_of(self, toolset: Toolset) -> bool:
        return self._toolset is toolset

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - LangChain's own name
        """Call the tool. Slow callbacks do not change the order of the calls."""
        with in_line(self._toolset):
            return await super().ainvoke(input, config, **kwargs)

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        # One value for all arguments, since a tool may name an argument "self" or "config".
        return (tool_input, tool_call_id), {}

    def _run(self, *_: Any, **__: Any) -> Any:
        raise only_async()

    async def _arun(
        self,
        arguments: str | dict[str, Any],
        call_id: str | None,
        *,
        config: RunnableConfig,
    ) -> Any:
        place = dict[str, Any](config.get("configurable") or {})
        call = ToolCall(call_id or "", self.name, arguments, _key(place, call_id))
        turn = None
        if drawn := _drawn.get():
            turn = drawn.pop()
        if call.key is None:
            result = await self._toolset.call(call, among=self._among, turn=turn)
        else:
            with self._nodes.at(place["checkpoint_ns"]) as node:
                result = await self._once(node, call, turn)
        if call_id is None:
            return result.text
        return message_of(result)

    async def _once(self, node: _Node, call: ToolCall, turn: "Turn | None") -> ToolResult:
        """Return a call's result. First wait while an interrupted node still makes this call."""
        lock = _made_now.setdefault(call.key or "", anyio.Lock())
        if lock.locked() and turn is not None:
            # Leave the queue: the running call may be behind this one, and must not wait for it.
            turn.leave()
            turn = None
        async with lock:
            result = await self._toolset.call(call, among=self._among, turn=turn)
            while result.approval is not None and self._tool.server.answer_channel:
                answer = node.ask(describe(call, result.approval))
                result = await self._toolset.settle(
                    call,
                    answer.number,
                    is_allowed=answer.is_allowed,
                    message=answer.message,
                    server=answer.server,
                )
            return result


async def tools_of(offered: Toolset | Step) -> list[GuardedTool]:
    """Return the tools of a toolset or of one step, for a `ToolNode` and `bind_tools`.

    The tools of a step refuse calls of tools outside the step.
    """
    if isinstance(offered, Step):
        return guarded_tools(offered)
    return _made(offered, (await offered.tools()).values(), None)


def guarded_tools(step: Step) -> list[GuardedTool]:
    """Return the tools of one step."""
    return _made(step.toolset, step.tools.values(), step.tools)


def guarded_tool(step: Step, name: str) -> GuardedTool | None:
    """Return one tool of a step, or `None` if the step does not have it."""
    tool = step.tools.get(name)
    return None if tool is None else _made(step.toolset, [tool], step.tools)[0]


def message_of(result: ToolResult) -> ToolMessage:
    """Return a call's result as a message to the model, with the whole result as `artifact`."""
    return ToolMessage(
        result.text,
        name=result.name,
        tool_call_id=result.id,
        status="error" if result.is_error else "success",
        artifact=dict(result.answer),
    )


@contextmanager
def in_line(toolset: Toolset) -> Generator[None]:
    """Reserve a place in the call queue for the call in the block, if none is reserved yet."""
    if _drawn.get() is not None:
        yield
        return
    turn = toolset.draw()
    token = _drawn.set([turn])
    try:
        yield
    finally:
        _drawn.reset(token)
        turn.leave()


def only_async() -> UsageError:
    """Return the error for a call that is not asynchronous."""
    fix = "Run the graph with ainvoke or astream."
    return UsageError("sayso's tools run asynchronously only", where="LangGraph", fix=fix)


def _made(
    toolset: Toolset, tools: Iterable[AgentTool], among: Mapping[str, AgentTool] | None
) -> list[GuardedTool]:
    nodes = _Nodes()
    return [GuardedTool(tool, toolset, among=among, nodes=nodes) for tool in tools]


def _key(place: Mapping[str, Any], call_id: str | None) -> str | None:
    """Return a call's idempotency key, the same in each run of its node; `None` outside a graph."""
    namespace = place.get("checkpoint_ns")
    if namespace is None or call_id is None:
        return None
    return digest([str(place.get("thread_id", "")), namespace, call_id])
