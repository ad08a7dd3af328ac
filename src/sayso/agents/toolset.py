"""A toolset: the tools of guarded servers as a model gets them, and the calls that it makes."""

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
    from sayso.catalog import Selection, Selector, Tool
    from sayso.guard import Turn

_NEAR: Final = 3
_CUT: Final = "your message ended at its limit of length, maybe in the midst of this call."

_log: Final = logging.getLogger(__name__)


class Toolset:
    """The tools of one or more wrapped clients, for one agent.

    With `most` (or a budget of `tokens`) a step offers so many tools at most: those that fit what
    the user said, those that destroy only where it asks for them (`destructive="always"` lets them
    compete, `"never"` leaves them out), and in any case those named in `always`.

    What reads or is idempotent runs at once, the other calls one after another in the order in
    which they came; whoever waits for a person lets the others go by.

    All clients must be under the same policy, mode and principal, and have names of their own;
    else `UsageError` is raised.
    """

    def __init__(
        self,
        *clients: Guarded,
        most: int | None = None,
        tokens: int | None = None,
        always: Collection[str] = (),
        destructive: Destructive = "asked",
    ) -> None:
        self.servers = tuple(client.behind for client in clients)
        self._choice = Choice(most, tokens, tuple(always), destructive)
        self._selector: Selector | None = None
        self._pinned: dict[str, str] = {}
        self._turns = CallQueue()
        _check(self)

    def __repr__(self) -> str:
        return f"<sayso toolset: {', '.join(server.name for server in self.servers)}>"

    @property
    def policy(self) -> Policy:
        """The policy of the moment."""
        return self.servers[0].rules()

    def switch(self, mode: str | Mode) -> None:
        """Let `plan`, `guarded`, `strict` or `unattended` decide from now on. Raises `UsageError`.

        Calls that are under way keep the mode under which they were decided; one that waits for a
        person is looked at again before it runs.
        """
        for server in self.servers:
            server.rules.switch(mode)

    async def tools(self) -> dict[str, AgentTool]:
        """All tools that the agent may know of, by the name that the model says.

        Lists are remembered for half a minute, or until a server says that its own has changed.
        Raises `UnreachableError` for a server that gives none.
        """
        found: dict[str, AgentTool] = {}
        twice: set[str] = set()
        for server in self.servers:
            try:
                seen = await server.tools(is_fresh=False)
            except RpcError as error:
                raise UnreachableError(f"tools/list failed: {error}", where=server.name) from error
            for tool, facts in seen:
                name = self.name_of(tool)
                if name in found:
                    twice.add(name)
                found[name] = AgentTool(name, tool, facts, server)
        for name in twice:
            # Whose it is, an answer of a person could not tell.
            _log.warning("two tools are called %r: neither is offered", name)
            del found[name]
        return found

    def name_of(self, tool: "Tool") -> str:
        """What the model calls a tool: with its server's name in front, where there are several."""
        if len(self.servers) == 1:
            return fit_name(tool.name)
        return fit_qualified(tool.server, tool.name)

    async def step(self, message: str | Sequence[str] = "") -> "Step":
        """The tools for the next step of a run whose user has said `message`, the newest last.

        Give it the user's own words: what tools have answered must not choose tools. Raises what
        `tools` raises, and `UsageError` for a name in `always` that is none.
        """
        tools = await self.tools()
        if not self._choice.is_made:
            return Step(self, tools)
        selection = self._choice.select(self._indexed(tools), message, self._pinned)
        chosen = [self.name_of(match.tool) for match in selection.chosen]
        return Step(self, {name: tools[name] for name in chosen}, selection)

    def prompt(self, tools: Iterable[AgentTool]) -> str:
        """The system prompt about these tools, from the same hints and policy that decide."""
        return build(
            (tool.tool for tool in tools),
            principal=self.servers[0].principal,
            policy=self.policy,
            names=self.name_of,
        ).text

    def draw(self) -> "Turn":
        """A place in line for a call that comes later; whoever draws it must `leave` it."""
        return self._turns.draw()

    async def call(
        self,
        call: ToolCall,
        *,
        among: Mapping[str, AgentTool] | None = None,
        turn: "Turn | None" = None,
    ) -> ToolResult:
        """Make one call; whatever becomes of it is a result that says so to the model.

        That is also where its name or its JSON is wrong, the server cannot be reached, or a person
        said no. Raises `StoreError` where nothing can be recorded, and then nothing was run.
        Cancelled while it waits, it takes its question back; cancelled later, the server is told.
        """
        return await self._call(call, among, turn or self._turns.draw())

    async def run(
        self,
        calls: Iterable[ToolCall],
        *,
        among: Mapping[str, AgentTool] | None = None,
    ) -> list[ToolResult]:
        """Make all calls of one step, and give their results in the same order. See `call`."""
        # An iterable that raises must leave nobody in line.
        wanted = [(call, self._turns.draw()) for call in tuple(calls)]
        results: dict[int, ToolResult] = {}
        failed: list[SaysoError] = []

        async def make(place: int, call: ToolCall, turn: "Turn") -> None:
            try:
                results[place] = await self._call(call, among, turn)
            except SaysoError as error:
                failed.append(error)

        try:
            async with anyio.create_task_group() as group:
                for place, (call, turn) in enumerate(wanted):
                    group.start_soon(partial(make, place, call, turn))
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self.withdraw(results.values())
            raise
        finally:
            for _, turn in wanted:
                turn.leave()
        if failed:
            raise failed[0]
        return [results[place] for place in range(len(wanted))]

    async def settle(
        self,
        call: ToolCall,
        number: int,
        *,
        is_allowed: bool,
        message: str | None = None,
        server: str | None = None,
    ) -> ToolResult:
        """Make a call again, now that the program has a person's answer to approval `number`.

        `server` is the one that the question was about: with stores of their own, two servers may
        ask questions of one number. Without it, it is the one that has the call's tool by now.

        Where the question is another by now (other arguments, another plan, expired), a yes does
        not serve: the result waits again. With a no the call is not made at all: the policy may
        allow it by now. Raises `UsageError` unless `approver="deferred"`.
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
        # Where the name is another server's tool by now, that has asked, and has no answer.
        about = asked.question.server
        if server not in {None, about}:
            return result
        found = next(asker for asker in self.servers if asker.name == about)
        await found.answer(number, is_allowed=True, message=message)
        return await self.call(call)

    async def withdraw(self, results: Iterable[ToolResult] | None = None) -> None:
        """Take back the questions that these calls wait for, by default those of all calls."""
        if results is None:
            for server in self.servers:
                await server.withdraw()
            return
        # Once for all servers: an iterator would be at its end after the first.
        asked = [result.approval for result in results if result.approval]
        for server in self.servers:
            # Servers that are kept in stores of their own may have the same numbers.
            await server.withdraw(
                approval.number for approval in asked if approval.question.server == server.name
            )

    def defers(self, result: ToolResult) -> bool:
        """Whether this result waits for an answer that the program brings. See `settle`."""
        asked = result.approval and result.approval.question.server
        return any(
            server.name == asked and server.may_answer is not None for server in self.servers
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
            return refuse(call, f"its arguments cannot be read: {error}.")
        except UnknownToolError:
            return refuse(call, _unknown(call.name, tools))
        except UnreachableError as error:
            return refuse(call, f"{error}.")
        except RpcError as error:
            return refuse(call, f"its server refused the call: {plain(error.message)}.")
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
        meta = None
        if call.key is not None:
            meta = {META_KEY: call.key}
        ended = await tool.server.call(tool.tool.name, arguments, meta=meta, turn=turn)
        waits = None
        if ended.waits is not None:
            # Cancelled here, the call would leave a question that nobody knows of. What cancels a
            # task of asyncio goes through every shield.
            try:
                with anyio.CancelScope(shield=True):
                    waits = await tool.server.approval(ended.waits)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):
                    await tool.server.withdraw([ended.waits])
                raise
        return ToolResult(call.id, call.name, ended.answer, ended.outcome, waits)


@dataclass(frozen=True)
class Step:
    """The tools of one step, by the name that the model says.

    `selection` tells why these were chosen, where there was a choice.
    """

    toolset: Toolset
    tools: Mapping[str, AgentTool]
    selection: "Selection | None" = None

    def __repr__(self) -> str:
        return f"<sayso step: {', '.join(self.tools) or 'no tools'}>"

    @cached_property
    def prompt(self) -> str:
        """The system prompt about these tools, from the same hints and policy."""
        return self.toolset.prompt(self.tools.values())

    async def call(self, call: ToolCall) -> ToolResult:
        """Make one call. See `Toolset.call`; a tool that this step does not offer is not there."""
        return await self.toolset.call(call, among=self.tools)

    async def run(self, calls: Iterable[ToolCall], *, is_cut: bool = False) -> list[ToolResult]:
        """Make all calls of the step. See `Toolset.run`.

        Where the model's message `is_cut`, ended by a limit of length, its calls may lack a part:
        none is made, and the model is told.
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


def _check(toolset: Toolset) -> None:
    servers = toolset.servers
    if not servers:
        raise UsageError("a toolset of no client", where="Toolset", fix="Give it wrapped clients.")
    names = [server.name for server in servers]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        fix = 'Wrap each with a name of its own: sayso.wrap(client, server="crm").'
        what = f"two clients are both called {plain(min(twice))!r}"
        raise UsageError(what, where="Toolset", fix=fix)
    if any(
        (server.rules(), server.principal) != (servers[0].rules(), servers[0].principal)
        for server in servers
    ):
        fix = "Wrap each with the same policy, mode and principal."
        raise UsageError("its clients are under different policies", where="Toolset", fix=fix)
