"""A running server with its watchers. It makes calls and returns them with their effects."""

import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
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
"""Between calls, a server counts as idle after this many seconds without activity."""
_LINGER: Final = 0.6
"""The same limit after a tool's last call. It is longer, so that late effects are seen."""
_MAX_IDLE_WAIT: Final = 5.0


class Watcher(Protocol):
    """An observer of one running server, which gets one call at a time.

    `begin` reads the state before a call. `end` returns the changes since then as effects of call
    number `call`, without `life`. Both run while the server is idle.
    """

    @property
    def layer(self) -> Layer:
        """Return the layer that describes the observer."""
        ...

    async def begin(self) -> None: ...

    async def end(self, call: int) -> Sequence[Effect]: ...


class IdleWait(Protocol):
    """Waits until the server is idle. Returns whether it became idle within `most` seconds."""

    async def __call__(self, *, quiet: float, most: float) -> bool:
        """Wait for `quiet` seconds without activity."""
        ...


class Connection(Protocol):
    """A connection to a server. `closed` is set when the server's process has ended."""

    @property
    def closed(self) -> anyio.Event: ...

    async def request(
        self, method: str, params: Mapping[str, Any], *, timeout: float | None
    ) -> Mapping[str, Any]:
        """Return the result of a request, as received. Raises `RpcError`."""
        ...


HostPath = Callable[[str], Path | None]
"""Returns where a path of the server's sandbox lies outside of it, or `None`."""


class Grade(Protocol):
    """Grades the effects of one call. `control` are effects that were seen without a call."""

    def __call__(
        self,
        effects: Sequence[Effect],
        name: str,
        arguments: Mapping[str, Any],
        *,
        control: Sequence[Effect],
    ) -> tuple[Effect, ...]:
        """Return the effects, merged and graded."""
        ...


def nowhere(_path: str) -> Path | None:
    """Return `None`: there is no sandbox."""
    return None


@dataclass(slots=True)
class ObservedServer:
    """A server and its watchers. Make one call at a time.

    `control` are effects that were seen without a call. `number` is the last call's number. `host`
    finds the files of the sandbox.
    """

    tools: Sequence[Tool]
    info: Mapping[str, Any]
    timeout: float
    _link: Connection
    _watchers: Sequence[Watcher]
    _wait_idle: IdleWait
    _grade: Grade
    host: HostPath = nowhere
    control: list[Effect] = field(default_factory=list[Effect])
    number: int = 0

    @property
    def is_dead(self) -> bool:
        return self._link.closed.is_set()

    async def settle(self) -> None:
        """Wait until the server is idle after its start. Add the start's effects to `control`."""
        await self._wait_idle(quiet=_QUIET, most=_MAX_IDLE_WAIT)
        self.control += [effect for watcher in self._watchers for effect in await watcher.end(0)]

    async def call(self, name: str, case: Case) -> MadeCall:
        """Make one call and wait until the server is idle. Cancellable."""
        self.number += 1
        await self._begin()
        start = time.perf_counter()
        outcome, result, text = await self._send(name, case)
        seconds = time.perf_counter() - start
        await self._wait_idle(quiet=_QUIET, most=_MAX_IDLE_WAIT)
        made = MadeCall(self.number, name, case, outcome, result, text, seconds)
        return self._with_effects(made, await self._end())

    async def idle(self) -> list[Effect]:
        """Wait without a call for late effects. Return them, and add them to `control`."""
        await self._begin()
        await self._wait_idle(quiet=_LINGER, most=_MAX_IDLE_WAIT)
        seen = await self._end()
        self.control += seen
        return seen

    async def linger(self, made: MadeCall) -> MadeCall:
        """Wait for late effects of the last call, and return the call with them."""
        await self._begin()
        await self._wait_idle(quiet=_LINGER, most=_MAX_IDLE_WAIT)
        late = await self._end()
        return self._with_effects(made, late) if late else made

    def again(self, made: MadeCall) -> MadeCall:
        """Grade a call of this server again, with what was learned since."""
        graded = self._grade(made.raw, made.tool, made.case.arguments, control=made.control)
        return replace(made, effects=graded)

    def _with_effects(self, made: MadeCall, effects: Sequence[Effect]) -> MadeCall:
        raw = (*made.raw, *(replace(effect, call=made.number) for effect in effects))
        return self.again(replace(made, raw=raw, control=tuple(self.control)))

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
    host: HostPath = nowhere,
) -> AsyncGenerator[ObservedServer]:
    """Start a server, list its tools, and wait until it is idle.

    `timeout` is in seconds per step. The first call gets the number after `number`. Raises an
    `UnreachableError` if the server cannot be started, and `UsageError` if it has no tools.
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
        server = ObservedServer(
            tools, link.greeting.server, timeout, link, watchers, rest, grade, host
        )
        server.number = number
        await server.settle()
        yield server


async def wait(*, quiet: float, most: float) -> bool:
    """Wait the full time. This is the `IdleWait` for a server whose activity is invisible."""
    await anyio.sleep(min(quiet, most))
    return True
