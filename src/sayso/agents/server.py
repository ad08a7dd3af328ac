"""One server behind the guard: it lists the tools that the policy shows, and makes calls."""

import asyncio
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import anyio
import anyio.lowlevel

from sayso.agents.listing import Listing
from sayso.agents.wire import SendOptions, Wire
from sayso.approvals import Answer as PersonAnswer
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
"""The modes that an agent can set. Only a policy can set `observe`, which enforces nothing."""


def read_mode(word: str | Mode) -> Mode:
    """Return the mode of this name. Raises `UsageError` if it is not one of `SWITCHES`."""
    if word not in list(SWITCHES):
        fix = f"Choose one of {', '.join(SWITCHES)}."
        raise UsageError(f"invalid mode {str(word)!r}", where="mode", fix=fix)
    return Mode(word)


@dataclass(slots=True)
class Rules:
    """The policy of one agent, with its current mode."""

    policy: Policy

    def __call__(self) -> Policy:
        return self.policy

    def switch(self, mode: str | Mode) -> None:
        """Set the mode, which decides calls that no rule matches. Raises `UsageError`."""
        self.policy = replace(self.policy, mode=read_mode(mode))


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A finished call: its answer, its recorded outcome, and its open approval, if any."""

    answer: Answer
    outcome: Outcome | None
    approval: int | None


@dataclass(slots=True)
class GuardedServer:
    """A connected server, as one principal uses it.

    With an `answer_channel`, the program answers questions (`answer`) instead of an approver.
    """

    wire: Wire
    listing: Listing
    guard: Guard
    principal: Principal
    rules: Rules
    answer_channel: str | None = None
    _asked: set[int] = field(default_factory=set[int])
    _under_way: list[tuple["asyncio.Task[Any]", anyio.Event]] = field(
        default_factory=list[tuple["asyncio.Task[Any]", anyio.Event]]
    )

    @property
    def name(self) -> str:
        return self.listing.server

    async def tools(
        self, *, meta: Mapping[str, Any] | None = None, is_fresh: bool = True
    ) -> list[tuple[Tool, ToolFacts]]:
        """Return the tools that the principal may see. Raises `RpcError` and `NotMcpError`."""
        self.check()
        tools = await self.listing.ask(meta) if is_fresh else await self.listing.known()
        visible = (self.guard.sees(self.principal, tool) for tool in tools.values())
        return [pair for pair in visible if pair is not None]

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        options: SendOptions | None = None,
        progress: Progress = no_progress,
        meta: Mapping[str, Any] | None = None,
        turn: Turn | None = None,
    ) -> FinishedCall:
        """Make one call through the guard. Raises what `Guard.call` raises."""
        self.check()
        run = partial(self._send, options or SendOptions(), self.wire.generation)
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
                # The question may be recorded already, although the call has not returned yet.
                with anyio.CancelScope(shield=True):
                    await self._take_back(call.approval)
                raise
        waits = call.approval if call.outcome is Outcome.WAITING else None
        if waits is not None:
            self._asked.add(waits)
        return FinishedCall(answer, call.outcome, waits)

    async def _send(self, options: SendOptions, generation: int, call: Call) -> Answer:
        """Send a call; `generation` is that of the server's process when the call was decided.

        If the process was restarted since, check first that the tool is still the same.
        """
        await self.wire.restart_if_closed()
        if generation != self.wire.generation:
            tool = await self.listing.find(call.name, call.principal, is_fresh=True)
            if tool is None or tool.fingerprint != call.tool.fingerprint:
                if call.is_sent:
                    return lost_answer(call)
                return tool_changed(call)
        return await self.wire.call(options, call)

    async def approval(self, number: int) -> Approval | None:
        """Return a question, or `None` if it was not asked by this agent's calls of this server."""
        with self._noted():
            approval = await self.guard.approvals.find(number)
        if approval is None or not self._is_ours(approval.question):
            return None
        return approval

    async def answer(self, number: int, *, is_allowed: bool, message: str | None = None) -> bool:
        """Give a person's answer and return whether it counts.

        Raises `UsageError` for another agent's question, and if there is no `answer_channel`.
        """
        channel = self.answer_channel
        if channel is None or await self.approval(number) is None:
            fix = 'Wrap the client with approver="deferred" to bring the answers yourself.'
            raise UsageError(f"approval {number} cannot be answered", where=self.name, fix=fix)
        answer = PersonAnswer(is_allowed=is_allowed, by=channel, channel=channel, message=message)
        return await self.guard.approvals.answer(number, answer)

    async def withdraw(self, numbers: Iterable[int] | None = None) -> None:
        """Withdraw the open questions of these numbers; by default, all of this server's calls."""
        open_numbers = self._asked if numbers is None else {*numbers} & self._asked
        with self._noted():
            for number in sorted(open_numbers):
                await self._take_back(number)

    async def unwind(self) -> None:
        """Wait until cancelled calls have withdrawn their questions.

        Some frameworks do not wait for the calls that they cancel.
        """
        while ends := [ended for task, ended in self._under_way if task.cancelling()]:
            await ends[0].wait()

    @contextmanager
    def _noted(self) -> Generator["asyncio.Task[Any]"]:
        """Note that this task uses the store, so that `unwind` keeps the store open for it."""
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
        """Raise `UsageError` if the guard is closed."""
        if self.listing.is_left:
            fix = "Use the client inside the async with block of sayso.wrap."
            raise UsageError("this wrapped client is closed", where="wrap", fix=fix)


async def _check_cancelled(task: "asyncio.Task[Any]", before: int) -> None:
    """Raise `CancelledError` if the task has more cancellation requests than `before`.

    In older releases of anyio, a cancelled scope swallows a `Task.cancel()` of the same iteration
    of the event loop (anyio#1214).
    """
    await anyio.lowlevel.checkpoint_if_cancelled()
    if task.cancelling() > before:
        raise asyncio.CancelledError
