"""One server behind the guard: its tools as the policy sees them, and its calls."""

import asyncio
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import anyio
import anyio.lowlevel

from sayso.agents.listing import Listing
from sayso.agents.wire import Errand, Wire
from sayso.approvals import Answer as Said
from sayso.approvals import Approval, Question
from sayso.audit import Outcome
from sayso.catalog import Tool
from sayso.errors import UsageError
from sayso.guard import (
    Answer,
    Call,
    CallRequest,
    Guard,
    Progress,
    Turn,
    lost_answer,
    new_id,
    no_progress,
    tool_changed,
)
from sayso.policy import Mode, Policy, Principal, ToolFacts

SWITCHES: Final = (Mode.PLAN, Mode.GUARDED, Mode.STRICT, Mode.UNATTENDED)
"""What an agent may be switched to. `observe` enforces nothing: that word stands in a policy."""


def read_mode(word: str | Mode) -> Mode:
    """The mode of this name. Raises `UsageError` for one that an agent is not switched to."""
    if word not in list(SWITCHES):
        fix = f"It is one of {', '.join(SWITCHES)}."
        raise UsageError(f"{str(word)!r} is no mode of an agent", where="mode", fix=fix)
    return Mode(word)


@dataclass(slots=True)
class Rules:
    """The policy of one agent, with the mode that it was switched to."""

    policy: Policy

    def __call__(self) -> Policy:
        """The policy of the moment."""
        return self.policy

    def switch(self, mode: str | Mode) -> None:
        """Let this mode decide from now on where no rule matches. Raises `UsageError`."""
        self.policy = replace(self.policy, mode=read_mode(mode))


@dataclass(frozen=True, slots=True)
class Ended:
    """How a call ended: its answer, what the record says, and the question that it waits for."""

    answer: Answer
    outcome: Outcome | None
    waits: int | None


@dataclass(slots=True)
class GuardedServer:
    """A connected server, for one principal.

    `may_answer` says that the program gives the answers itself (`answer`), instead of an approver.
    """

    wire: Wire
    listing: Listing
    guard: Guard
    principal: Principal
    rules: Rules
    may_answer: str | None = None
    _asked: set[int] = field(default_factory=set[int])
    _under_way: list[tuple["asyncio.Task[Any]", anyio.Event]] = field(
        default_factory=list[tuple["asyncio.Task[Any]", anyio.Event]]
    )

    @property
    def name(self) -> str:
        """The name that the policy has for it."""
        return self.listing.server

    async def tools(
        self, *, meta: Mapping[str, Any] | None = None, is_fresh: bool = True
    ) -> list[tuple[Tool, ToolFacts]]:
        """The tools that the principal may know of. Raises `RpcError`, `NotMcpError`."""
        self.check()
        if is_fresh:
            found = await self.listing.ask(meta)
        else:
            found = await self.listing.known()
        seen = (self.guard.sees(self.principal, tool) for tool in found.values())
        return [pair for pair in seen if pair is not None]

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        errand: Errand | None = None,
        progress: Progress = no_progress,
        meta: Mapping[str, Any] | None = None,
        turn: Turn | None = None,
    ) -> Ended:
        """Take one call through the guard. Raises what `Guard.call` raises."""
        self.check()
        run = partial(self._send, errand or Errand(), self.wire.generation)
        guard = replace(self.guard, run=run)
        started = guard.clock()
        call = Call(
            CallRequest(
                new_id(), self.principal, name, arguments, started, progress, meta, turn=turn
            )
        )
        with self._noted() as task:
            cancels = task.cancelling()
            try:
                answer = await guard.take(call)
                await _check_cancelled(task, cancels)
            except anyio.get_cancelled_exc_class():
                # The question may be on record already, with the call still on its way back.
                with anyio.CancelScope(shield=True):
                    await self._take_back(call.approval)
                raise
        waits = call.approval if call.outcome is Outcome.WAITING else None
        if waits is not None:
            self._asked.add(waits)
        return Ended(answer, call.outcome, waits)

    async def _send(self, errand: Errand, generation: int, call: Call) -> Answer:
        """Send a call that was judged by the tools of the process of this `generation`.

        A process that was started since may have another tool of that name, which nobody judged.
        """
        await self.wire.restart_if_closed()
        if generation != self.wire.generation:
            tool = await self.listing.find(call.name, call.principal, is_fresh=True)
            if tool is None or tool.fingerprint != call.tool.fingerprint:
                if call.is_sent:
                    return lost_answer(call)
                return tool_changed(call)
        return await self.wire.call(errand, call)

    async def approval(self, number: int) -> Approval | None:
        """One question that calls of this agent to this server have asked."""
        with self._noted():
            found = await self.guard.approvals.find(number)
        if found is None or not self._is_ours(found.question):
            return None
        return found

    async def answer(self, number: int, *, is_allowed: bool, message: str | None = None) -> bool:
        """Give a person's answer; whether it counts. Raises `UsageError` where that is not ours."""
        way = self.may_answer
        if way is None or await self.approval(number) is None:
            fix = 'Wrap with approver="deferred" to bring the answers yourself.'
            raise UsageError(f"approval {number} is not answered here", where=self.name, fix=fix)
        said = Said(is_allowed=is_allowed, by=way, channel=way, message=message)
        return await self.guard.approvals.answer(number, said)

    async def withdraw(self, numbers: Iterable[int] | None = None) -> None:
        """Take back questions that still wait, by default all that this has asked."""
        wanted = self._asked if numbers is None else {*numbers} & self._asked
        with self._noted():
            for number in sorted(wanted):
                await self._take_back(number)

    async def unwind(self) -> None:
        """Wait until cancelled calls have taken their questions back.

        Some frameworks do not wait for the calls that they cancel.
        """
        while ends := [ended for task, ended in self._under_way if task.cancelling()]:
            await ends[0].wait()

    @contextmanager
    def _noted(self) -> Generator["asyncio.Task[Any]"]:
        """Note that this task uses the store, which must not be closed meanwhile."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine of asyncio runs in a task
        entry = (task, anyio.Event())
        self._under_way.append(entry)
        try:
            yield task
        finally:
            self._under_way.remove(entry)
            entry[1].set()

    async def _take_back(self, number: int | None) -> None:
        if number is not None and self.guard.withdraws:
            await self.guard.approvals.withdraw(number)
            self._asked.discard(number)

    def _is_ours(self, question: Question) -> bool:
        asked = question.account, question.client, question.server
        return asked == (self.principal.account, self.principal.client, self.name)

    def check(self) -> None:
        """Raises `UsageError` where the guard has been let go of."""
        if self.listing.is_left:
            fix = "Keep it inside of its async with."
            raise UsageError("this wrapped client is not in use any more", where="wrap", fix=fix)


async def _check_cancelled(task: "asyncio.Task[Any]", before: int) -> None:
    """Raise `CancelledError` if the task was cancelled since, and nothing has raised that yet.

    In older releases of anyio, a cancelled scope swallows a `Task.cancel()` that comes in the same
    iteration of the event loop (anyio#1214).
    """
    await anyio.lowlevel.checkpoint_if_cancelled()
    if task.cancelling() > before:
        raise asyncio.CancelledError
