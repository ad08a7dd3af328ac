"""A toolset: the tools of guarded servers for a model, and the model's calls."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import anyio

from sayso.agents.agent_tool import AgentTool
from sayso.agents.choice import Choice, Destructive
from sayso.agents.compatibility import fit_name, fit_qualified
from sayso.agents.exchange import BadArgumentsError, ToolCall, ToolResult, decline, refuse
from sayso.agents.guarded import Guarded
from sayso.connect import RpcError
from sayso.errors import SaysoError, UnreachableError, UsageError
from sayso.guard import META_KEY, CallQueue, UnknownToolError
from sayso.policy import Mode, Policy
from sayso.prompt import build
from sayso.schema import plain

if TYPE_CHECKING:
    from sayso.agents.server import GuardedServer
    from sayso.catalog import Selection, Selector, Tool
    from sayso.guard import Turn

_NEAR: Final = 3
_CUT: Final = "your message reached its length limit, so this call may be incomplete."

_log: Final = logging.getLogger(__name__)


class Toolset:
    """The tools of one or more wrapped clients, for one agent.

    `most` and `tokens` limit a step to the tools that fit the user's messages best. Destructive
    tools compete only if the user asks for them. With `destructive="always"` they always compete,
    with `"never"` they are left out. Tools named in `always` are always offered.

    Calls that read or are idempotent run at once. Other calls run one after another, in order. A
    call that waits for a person does not block others. Raises `UsageError` if a client is not
    wrapped and entered. All clients need the same policy, mode and principal, and different names.
    """

    def __init__(
        self,
        *clients: Guarded,
        most: int | None = None,
        tokens: int | None = None,
        always: Collection[str] = (),
        destructive: Destructive = "asked",
    ) -> None:
        self.servers = tuple(_server_of(client) for client in clients)
        self._choice = Choice(most, tokens, tuple(always), destructive)
        self._selector: Selector | None = None
        self._pinned: dict[str, str] = {}
        self._turns = CallQueue()
        _check(self)

    def __repr__(self) -> str:
        return f"<sayso toolset: {', '.join(server.name for server in self.servers)}>"

    @property
    def policy(self) -> Policy:
        return self.servers[0].rules()

    def switch(self, mode: str | Mode) -> None:
        """Switch to the mode `plan`, `guarded`, `strict` or `unattended`. Raises `UsageError`.

        The switch does not affect running calls. A call that waits for a person is checked again
        before it runs.
        """
        for server in self.servers:
            server.rules.switch(mode)

    async def tools(self) -> dict[str, AgentTool]:
        """Return all tools that the agent may see, by the model's names for them.

        Lists are cached for 30 seconds, or until a server reports a change. Raises
        `UnreachableError` if a server does not return its list.
        """
        tools: dict[str, AgentTool] = {}
        duplicates: set[str] = set()
        for server in self.servers:
            try:
                visible = await server.tools(is_fresh=False)
            except RpcError as error:
                raise UnreachableError(f"tools/list failed: {error}", where=server.name) from error
            for tool, facts in visible:
                name = self.name_of(tool)
                if name in tools:
                    duplicates.add(name)
                tools[name] = AgentTool(name, tool, facts, server)
        for name in duplicates:
            # A person who is asked about this name could not know which tool is meant.
            _log.warning("two tools are named %r: neither is offered", name)
            del tools[name]
        return tools

    def name_of(self, tool: "Tool") -> str:
        """Return the model's name for a tool; with several servers, it begins with the server's."""
        if len(self.servers) == 1:
            return fit_name(tool.name)
        return fit_qualified(tool.server, tool.name)

    async def step(self, message: str | Sequence[str] = "") -> "Step":
        """Return the tools for the next step; `message` has the user's messages, the newest last.

        Pass only the user's own words, since tools' answers must not select tools. Raises what
        `tools` raises, and `UsageError` for an unknown name in `always`.
        """
        tools = await self.tools()
        if not self._choice.is_made:
            return Step(self, tools)
        selection = self._choice.select(self._indexed(tools), message, self._pinned)
        chosen = [self.name_of(match.tool) for match in selection.chosen]
        return Step(self, {name: tools[name] for name in chosen}, selection)

    def prompt(self, tools: Iterable[AgentTool]) -> str:
        """Return the system prompt about these tools, based on their hints and the policy."""
        return build(
            (tool.tool for tool in tools),
            principal=self.servers[0].principal,
            policy=self.policy,
            names=self.name_of,
        ).text

    def draw(self) -> "Turn":
        """Return a place in the call queue for a later call; the caller must `leave` the place."""
        return self._turns.draw()

    async def call(
        self,
        call: ToolCall,
        *,
        among: Mapping[str, AgentTool] | None = None,
        turn: "Turn | None" = None,
    ) -> ToolResult:
        """Make one call. Every failure is a result that explains itself to the model.

        Failures include an unknown name, invalid JSON, an unreachable server, and a denial. Raises
        `StoreError` if nothing can be recorded; nothing was run then. If cancelled while waiting,
        the call withdraws its question. If it is cancelled later, the server is notified.
        """
        return await self._call(call, among, turn or self._turns.draw())

    async def run(
        self,
        calls: Iterable[ToolCall],
        *,
        among: Mapping[str, AgentTool] | None = None,
    ) -> list[ToolResult]:
        """Make all calls of one step, as `call` does, and return their results in order."""
        # Read the iterable first: if it raises, no place in the queue has been taken.
        placed = [(call, self._turns.draw()) for call in tuple(calls)]
        results: dict[int, ToolResult] = {}
        failed: list[SaysoError] = []

        async def make(place: int, call: ToolCall, turn: "Turn") -> None:
            try:
                results[place] = await self._call(call, among, turn)
            except SaysoError as error:
                failed.append(error)

        try:
            async with anyio.create_task_group() as group:
                for place, (call, turn) in enumerate(placed):
                    group.start_soon(partial(make, place, call, turn))
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self.withdraw(results.values())
            raise
        finally:
            for _, turn in placed:
                turn.leave()
        if failed:
            raise failed[0]
        return [results[place] for place in range(len(placed))]

    async def settle(
        self,
        call: ToolCall,
        number: int,
        *,
        is_allowed: bool,
        message: str | None = None,
        server: str | None = None,
    ) -> ToolResult:
        """Make a call again with a person's answer to approval `number`.

        `server` is the server that the question is about, since servers with different stores may
        use the same number. The default is the server of the call's tool.

        If the question has expired, or the arguments or plan have changed, a yes does not apply:
        the result is a new question. After a no the call is never made, even if the policy allows
        it now. Raises `UsageError` without `approver="deferred"`.
        """
        if not is_allowed:
            if server is None:
                tool = (await self.tools()).get(call.name)
                server = tool and tool.server.name
            for asker in self.servers:
                if asker.name == server and await asker.approval(number) is not None:
                    await asker.answer(number, is_allowed=False, message=message)
            return decline(call, number, message)
        result = await self.call(call)
        asked = result.approval
        if asked is None or asked.number != number:
            return result
        # If the name now means another server's tool, this is a new question of that server.
        about = asked.question.server
        if server not in {None, about}:
            return result
        asker = next(asker for asker in self.servers if asker.name == about)
        await asker.answer(number, is_allowed=True, message=message)
        return await self.call(call)

    async def withdraw(self, results: Iterable[ToolResult] | None = None) -> None:
        """Withdraw the questions of these results; by default, of all calls."""
        if results is None:
            for server in self.servers:
                await server.withdraw()
            return
        # A list, since an iterator would be exhausted after the first server.
        asked = [result.approval for result in results if result.approval]
        for server in self.servers:
            # Servers with different stores may use the same numbers.
            await server.withdraw(
                approval.number for approval in asked if approval.question.server == server.name
            )

    def defers(self, result: ToolResult) -> bool:
        """Return whether this result waits for an answer that the program must pass to `settle`."""
        asked = result.approval and result.approval.question.server
        return any(
            server.name == asked and server.answer_channel is not None for server in self.servers
        )

    def _indexed(self, tools: Mapping[str, AgentTool]) -> "Selector":
        from sayso.catalog import Selector  # noqa: PLC0415 - only where there is a choice

        if self._selector is None:
            self._selector = Selector()
        self._selector.update([tool.tool for tool in tools.values()])
        return self._selector

    async def _call(
        self, call: ToolCall, among: Mapping[str, AgentTool] | None, turn: "Turn"
    ) -> ToolResult:
        tools = among or {}
        try:
            tools = await self.tools() if among is None else among
            arguments = call.read_arguments()
            return await self._made(call, tools, arguments, turn)
        except BadArgumentsError as error:
            return refuse(call, f"this call cannot be read: {error}.")
        except UnknownToolError:
            return refuse(call, _unknown(call.name, tools))
        except UnreachableError as error:
            return refuse(call, f"{error}.")
        except RpcError as error:
            return refuse(call, f"the server refused the call: {plain(error.message)}.")
        finally:
            turn.leave()

    async def _made(
        self,
        call: ToolCall,
        tools: Mapping[str, AgentTool],
        arguments: Mapping[str, Any],
        turn: "Turn",
    ) -> ToolResult:
        tool = tools.get(call.name)
        if tool is None:
            return refuse(call, _unknown(call.name, tools))
        meta = None if call.key is None else {META_KEY: call.key}
        ended = await tool.server.call(tool.tool.name, arguments, meta=meta, turn=turn)
        approval = None
        if ended.approval is not None:
            # `Task.cancel` ignores shields. If it comes here, withdraw the question.
            try:
                with anyio.CancelScope(shield=True):
                    approval = await tool.server.approval(ended.approval)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):
                    await tool.server.withdraw([ended.approval])
                raise
        return ToolResult(call.id, call.name, ended.answer, ended.outcome, approval)


@dataclass(frozen=True)
class Step:
    """The tools of one step, by the model's names; `selection` explains why they were chosen."""

    toolset: Toolset
    tools: Mapping[str, AgentTool]
    selection: "Selection | None" = None

    def __repr__(self) -> str:
        return f"<sayso step: {', '.join(self.tools) or 'no tools'}>"

    @cached_property
    def prompt(self) -> str:
        """The system prompt about these tools."""
        return self.toolset.prompt(self.tools.values())

    async def call(self, call: ToolCall) -> ToolResult:
        """Make one call, as `Toolset.call` does. Tools outside the step are unknown tools."""
        return await self.toolset.call(call, among=self.tools)

    async def run(self, calls: Iterable[ToolCall], *, is_cut: bool = False) -> list[ToolResult]:
        """Make all calls of the step, as `Toolset.run` does.

        `is_cut` means that a length limit cut the model's message. The calls in that message may be
        incomplete, so all are refused with this reason.
        """
        if is_cut:
            return [refuse(call, _CUT) for call in calls]
        return await self.toolset.run(calls, among=self.tools)


def _unknown(name: str, tools: Iterable[str]) -> str:
    near = get_close_matches(name, [other for other in tools if other != name], n=_NEAR)
    message = f"there is no tool “{plain(name)}” here."
    if near:
        message += f" Did you mean {' or '.join(near)}?"
    return message


def _server_of(client: object) -> "GuardedServer":
    if isinstance(client, Guarded):
        return client.behind
    what = f"clients must be wrapped and entered, got a {type(client).__name__}"
    fix = "Write async with sayso.wrap(client) as guarded, and pass guarded."
    raise UsageError(what, where="Toolset", fix=fix)


def _check(toolset: Toolset) -> None:
    servers = toolset.servers
    if not servers:
        fix = "Pass wrapped clients."
        raise UsageError("at least one client is required", where="Toolset", fix=fix)
    names = [server.name for server in servers]
    duplicates = {name for name in names if names.count(name) > 1}
    if duplicates:
        fix = 'Wrap each client with its own name: sayso.wrap(client, server="crm").'
        what = f"two clients are called {plain(min(duplicates))!r}"
        raise UsageError(what, where="Toolset", fix=fix)
    if any(
        (server.rules(), server.principal) != (servers[0].rules(), servers[0].principal)
        for server in servers
    ):
        fix = "Wrap each client with the same policy, mode and principal."
        what = "the clients have different policies, modes or principals"
        raise UsageError(what, where="Toolset", fix=fix)
