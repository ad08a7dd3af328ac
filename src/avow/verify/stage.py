"""One contained server that runs, and all that watches it: calls go in, what they did comes out."""

import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from avow.catalog import Tool, read_tools
from avow.connect import CommandTarget, RpcError, UrlTarget
from avow.connect.link import Link, open_link
from avow.connect.listing import list_all
from avow.errors import NotMcpError, UsageError
from avow.verify.call import Case, Made, Outcome
from avow.verify.effect import Effect
from avow.verify.outcome import outcome_of, outcome_of_error, text_of
from avow.verify.watch import Watcher

_QUIET: Final = 0.03
"""Seconds without a sign of life after which a server counts as at rest between calls."""
_LINGER: Final = 0.6
"""The same after the last call of a tool: a thread or a process of it may be late."""
_MOST_REST: Final = 5.0


class Rest(Protocol):
    """Waits until the server has come to rest; whether it did within `most` seconds."""

    async def __call__(self, *, quiet: float, most: float) -> bool:
        """Wait for `quiet` seconds without a sign of life."""
        ...


Grade = Callable[[str, Mapping[str, Any], Sequence[Effect]], Sequence[Effect]]
"""Grades the effects of one call, by the tool's name and the arguments."""


@dataclass(slots=True)
class Stage:
    """A server with its watchers. Calls are strictly one after the other.

    `control` is what was seen before the first call.
    """

    tools: Sequence[Tool]
    server: Mapping[str, Any]
    timeout: float
    _link: Link
    _watchers: Sequence[Watcher]
    _rest: Rest
    _grade: Grade
    control: list[Effect] = field(default_factory=list[Effect])
    number: int = 0

    @property
    def is_dead(self) -> bool:
        """Whether the server's process has ended."""
        return self._link.closed.is_set()

    async def call(self, name: str, case: Case) -> Made:
        """Make one call and wait until the server rests; cancelling leaves that to the server."""
        self.number += 1
        await self._begin()
        start = time.perf_counter()
        outcome, result, text = await self._send(name, case)
        seconds = time.perf_counter() - start
        await self._rest(quiet=_QUIET, most=_MOST_REST)
        effects = self._grade(name, case.arguments, await self._end())
        return Made(
            self.number, name, case, outcome, result, text, seconds, _numbered(effects, self.number)
        )

    async def idle(self) -> list[Effect]:
        """What is seen while nobody calls anything, for as long as a late effect may take."""
        await self._begin()
        await self._rest(quiet=_LINGER, most=_MOST_REST)
        return list(self._grade("", {}, await self._end()))

    async def linger(self) -> list[Effect]:
        """What comes after the last call has been answered and looked at, not graded yet."""
        await self._begin()
        await self._rest(quiet=_LINGER, most=_MOST_REST)
        return await self._end()

    def with_late(self, made: Made, late: Sequence[Effect]) -> Made:
        """A call with the effects that came after it."""
        graded = self._grade(made.tool, made.case.arguments, late)
        return replace(made, effects=(*made.effects, *_numbered(graded, made.number)))

    async def _send(self, name: str, case: Case) -> tuple[Outcome, Mapping[str, Any], str]:
        params = {"name": name, "arguments": dict(case.arguments)}
        try:
            result = await self._link.request("tools/call", params, timeout=self.timeout)
        except RpcError as error:
            return outcome_of_error(error), {}, str(error)
        return outcome_of(result), result, text_of(result)

    async def _begin(self) -> None:
        for one in self._watchers:
            await one.begin()

    async def _end(self) -> list[Effect]:
        return [effect for one in self._watchers for effect in await one.end(self.number)]


def _numbered(effects: Sequence[Effect], number: int) -> tuple[Effect, ...]:
    return tuple(replace(one, call=number) for one in effects)


@asynccontextmanager
async def open_stage(
    target: CommandTarget | UrlTarget,
    *,
    watchers: Sequence[Watcher],
    rest: Rest,
    grade: Grade,
    timeout: float,
) -> AsyncGenerator[Stage]:
    """Start a server, list its tools, and wait until it rests; `timeout` in seconds for each.

    Raises an `UnreachableError` that says why it cannot be started, and `UsageError` where it has
    no tools.
    """
    async with AsyncExitStack() as stack:
        for one in watchers:
            await one.begin()
        link = await stack.enter_async_context(open_link(target, timeout=timeout))
        try:
            entries = await list_all(link, "tools/list", timeout=timeout)
        except RpcError as error:
            raise NotMcpError(f"tools/list failed: {error}", where=target.name) from error
        tools, _ = read_tools(target.name, entries)
        if not tools:
            raise UsageError("this server has no tools", where=target.name)
        stage = Stage(tools, link.greeting.server, timeout, link, watchers, rest, grade)
        await rest(quiet=_QUIET, most=_MOST_REST)
        stage.control += [effect for one in watchers for effect in await one.end(0)]
        yield stage
