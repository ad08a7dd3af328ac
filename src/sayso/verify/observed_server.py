"""One contained server that runs, and all that watches it: calls go in, what they did comes out."""

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

import anyio

from sayso.catalog import Tool, read_tools
from sayso.connect import CommandTarget, RpcError, UrlTarget, list_all, open_link, open_proof
from sayso.errors import NotMcpError, UsageError
from sayso.sandbox import Layer
from sayso.trace import Effect
from sayso.verify.call import Case, MadeCall, Outcome
from sayso.verify.outcome import outcome_of, outcome_of_error, text_of

_QUIET: Final = 0.03
"""Seconds without a sign of life after which a server counts as at rest between calls."""
_LINGER: Final = 0.6
"""The same after the last call of a tool: a thread or a process of it may be late."""
_MOST_REST: Final = 5.0


class Watcher(Protocol):
    """One observer of one running server. Calls are strictly one after the other.

    `begin` takes the state before a call, which may be what `end` saw last. `end` says what has
    changed since, with `life` unset, as effects of the call with that number. Both run after the
    server has come to rest.
    """

    @property
    def layer(self) -> Layer:
        """That it watches, and how."""
        ...

    async def begin(self) -> None: ...

    async def end(self, call: int) -> Sequence[Effect]: ...


class IdleWait(Protocol):
    """Waits until the server has come to rest; whether it did within `most` seconds."""

    async def __call__(self, *, quiet: float, most: float) -> bool:
        """Wait for `quiet` seconds without a sign of life."""
        ...


class Line(Protocol):
    """A connection to a server; `closed` is set once its process has ended."""

    @property
    def closed(self) -> anyio.Event: ...

    async def request(
        self, method: str, params: Mapping[str, Any], *, timeout: float | None
    ) -> Mapping[str, Any]:
        """The result of a request, as received. Raises `RpcError`."""
        ...


class Grade(Protocol):
    """Grades the effects of one call of a tool with arguments; `control` is what comes anyway."""

    def __call__(
        self,
        effects: Sequence[Effect],
        name: str,
        arguments: Mapping[str, Any],
        *,
        control: Sequence[Effect],
    ) -> tuple[Effect, ...]:
        """The same effects, merged and graded."""
        ...


@dataclass(slots=True)
class ObservedServer:
    """A server with its watchers. Calls are strictly one after the other.

    `control` is what was seen before the first call.
    """

    tools: Sequence[Tool]
    server: Mapping[str, Any]
    timeout: float
    _link: Line
    _watchers: Sequence[Watcher]
    _rest: IdleWait
    _grade: Grade
    control: list[Effect] = field(default_factory=list[Effect])
    number: int = 0

    @property
    def is_dead(self) -> bool:
        return self._link.closed.is_set()

    async def settle(self) -> None:
        """Wait until it rests after its start; what was seen until then comes anyway."""
        await self._rest(quiet=_QUIET, most=_MOST_REST)
        self.control += [effect for watcher in self._watchers for effect in await watcher.end(0)]

    async def call(self, name: str, case: Case) -> MadeCall:
        """Make one call and wait until the server rests; cancelling leaves that to the server."""
        self.number += 1
        await self._begin()
        start = time.perf_counter()
        outcome, result, text = await self._send(name, case)
        seconds = time.perf_counter() - start
        await self._rest(quiet=_QUIET, most=_MOST_REST)
        made = MadeCall(self.number, name, case, outcome, result, text, seconds)
        return self._with(made, await self._end())

    async def idle(self) -> list[Effect]:
        """What is seen while nobody calls anything, for as long as a late effect may take.

        It counts as what comes anyway from then on.
        """
        await self._begin()
        await self._rest(quiet=_LINGER, most=_MOST_REST)
        seen = await self._end()
        self.control += seen
        return seen

    async def linger(self, made: MadeCall) -> MadeCall:
        """The last call again, with what has come since it was looked at."""
        await self._begin()
        await self._rest(quiet=_LINGER, most=_MOST_REST)
        late = await self._end()
        if not late:
            return made
        return self._with(made, late)

    def _with(self, made: MadeCall, effects: Sequence[Effect]) -> MadeCall:
        raw = (*made.raw, *(replace(effect, call=made.number) for effect in effects))
        graded = self._grade(raw, made.tool, made.case.arguments, control=self.control)
        return replace(made, raw=raw, effects=graded, control=tuple(self.control))

    async def _send(self, name: str, case: Case) -> tuple[Outcome, Mapping[str, Any], str]:
        params = {"name": name, "arguments": dict(case.arguments)}
        try:
            result = await self._link.request("tools/call", params, timeout=self.timeout)
        except RpcError as error:
            return outcome_of_error(error), {}, str(error)
        return outcome_of(result), result, text_of(result)

    async def _begin(self) -> None:
        for watcher in self._watchers:
            await watcher.begin()

    async def _end(self) -> list[Effect]:
        return [effect for watcher in self._watchers for effect in await watcher.end(self.number)]


@asynccontextmanager
async def start_server(
    target: CommandTarget | UrlTarget,
    *,
    watchers: Sequence[Watcher],
    rest: IdleWait,
    grade: Grade,
    timeout: float,
    number: int = 0,
) -> AsyncGenerator[ObservedServer]:
    """Start a server, list its tools, and wait until it rests; `timeout` in seconds for each.

    Calls are counted from `number` on.

    Raises an `UnreachableError` that says why it cannot be started, and `UsageError` where it has
    no tools.
    """
    async with AsyncExitStack() as stack:
        for watcher in watchers:
            await watcher.begin()
        proof = await stack.enter_async_context(open_proof(target))
        link = await stack.enter_async_context(open_link(target, timeout=timeout, proof=proof))
        try:
            entries = await list_all(link, "tools/list", timeout=timeout)
        except RpcError as error:
            raise NotMcpError(f"tools/list failed: {error}", where=target.name) from error
        tools, _ = read_tools(target.name, entries)
        if not tools:
            raise UsageError("this server has no tools", where=target.name)
        stage = ObservedServer(tools, link.greeting.server, timeout, link, watchers, rest, grade)
        stage.number = number
        await stage.settle()
        yield stage


async def wait(*, quiet: float, most: float) -> bool:
    """An `IdleWait` for a server that shows no sign of life: it gets the time, and no more is known."""
    await anyio.sleep(min(quiet, most))
    return True
