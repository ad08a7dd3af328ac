"""A loop of a model and its tools, to be used, or read and copied."""

import logging
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import anyio

from avow.agents.conversation import Message, Model, Reply, Results, UserMessage
from avow.agents.exchange import ToolCall, ToolResult, refuse, unfinished
from avow.agents.run import End, Event, Run, Waiting
from avow.agents.toolset import Toolset
from avow.approvals import Approval
from avow.errors import AvowError, UsageError
from avow.schema.plain import plain

_TAKEN_BACK: Final = "nobody has answered, and nobody is asked any longer."

_log: Final = logging.getLogger(__name__)


def ignore(_: Event) -> None:
    """Do nothing."""


@dataclass(slots=True)
class _Spent:
    """What a run has used up; `start` is where it begins in the conversation."""

    start: int = 0
    steps: int = 0
    tokens: int = 0
    refused: Counter[str] = field(default_factory=Counter[str])
    asked: list[ToolResult] = field(default_factory=list[ToolResult])


class Agent:
    """A conversation in which a model uses tools: `await agent.run("what the user says")`.

    `instructions` come before what the toolset says of its tools. A run asks the model `max_steps`
    times at most, no more after `max_tokens`, and ends when one call was refused `max_refusals`
    times. `on_event` is told what happens, as it happens.

    `messages` is the conversation so far. However a run ends, each call in it has a result, unless
    it waits for an answer of the program.
    """

    def __init__(
        self,
        model: Model,
        toolset: Toolset,
        *,
        instructions: str = "",
        max_steps: int = 20,
        max_tokens: int | None = None,
        max_refusals: int = 3,
        on_event: Callable[[Event], object] = ignore,
    ) -> None:
        self.model = model
        self.toolset = toolset
        self.instructions = instructions
        self.max_steps = max_steps
        self.max_tokens = max_tokens
        self.max_refusals = max_refusals
        self.on_event = on_event
        self.messages: list[Message] = []
        self._spent = _Spent()
        self._results: dict[str, ToolResult] = {}
        self._is_running = False

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """The calls that wait for an answer of the program."""
        found = [self._results[one.id] for one in self._calls() if one.id in self._results]
        waits = {one.id: one.approval for one in found if self.toolset.defers(one)}
        calls = ((one, waits.get(one.id)) for one in self._calls())
        return tuple(Waiting(call, approval) for call, approval in calls if approval is not None)

    async def run(self, message: str | None = None) -> Run:
        """Let the model answer and make its calls, until it makes no more.

        Without a `message` it goes on where the last run ended. Questions of an earlier run that
        still wait are taken back.

        Raises what the model raises, `UnreachableError` for a server that gives no list of tools,
        and `StoreError` where nothing can be recorded; the conversation then stands as far as it
        came. Cancelled, it takes its questions back.
        """
        async with self._alone():
            await self.toolset.withdraw(self._results.values())
            self._close()
            self._spent = _Spent(len(self.messages))
            if message is not None:
                self.messages.append(UserMessage(message))
            return self._ended(*await self._go())

    async def resume(self, answers: Mapping[str, bool | str]) -> Run:
        """Go on with a person's answers, by the `id` of the call; a text is a no, and says why.

        What is not answered waits on, and so does a call whose question is another one by now.
        Raises `UsageError` for a call that does not wait, and what `run` raises.
        """
        waiting = {one.call.id: one for one in self.waiting}
        for unknown in answers.keys() - waiting.keys():
            fix = "Give answers by the ids of the calls in run.waiting."
            raise UsageError(f"no call {unknown!r} waits", where="Agent", fix=fix)
        async with self._alone():
            for one in (waiting[id_] for id_ in waiting if id_ in answers):
                said = answers[one.call.id]
                self._hear(one.call, await self._settle(one, said))
            return self._ended(*(self._looked_at() or await self._go()))

    async def _settle(self, waiting: Waiting, said: bool | str) -> ToolResult:  # noqa: FBT001 - a person's word
        return await self.toolset.settle(
            waiting.call,
            waiting.approval.number,
            is_allowed=said is True,
            message=said if isinstance(said, str) else None,
            server=waiting.approval.question.server,
        )

    async def _go(self) -> tuple[End, str]:
        """Ask the model and make its calls by turns; why that ends."""
        spent = self._spent
        while spent.steps < self.max_steps:
            if self.max_tokens is not None and spent.tokens >= self.max_tokens:
                return End.TOKENS, f"it has used {spent.tokens} tokens"
            said = [one.text for one in self.messages if isinstance(one, UserMessage)]
            step = await self.toolset.step(said)
            system = "\n\n".join(part for part in (self.instructions, step.prompt) if part)
            tools = tuple(step.tools.values())
            reply = await self.model(system, tuple(self.messages), tools)
            self._take(reply)
            if not reply.calls and reply.is_cut:
                return End.CUT, "the model's message ended at its limit of length"
            if not reply.calls:
                return End.DONE, "the model makes no more calls"
            await step.run(reply.calls, is_cut=reply.is_cut, tell=self._hear)
            if (found := self._looked_at()) is not None:
                return found
        return End.STEPS, f"it has asked the model {spent.steps} times"

    def _take(self, reply: Reply) -> None:
        self.messages.append(reply)
        self._results = {}
        self._spent.steps += 1
        self._spent.tokens += reply.tokens
        for one in (reply, *reply.calls):
            self._tell(one)

    def _hear(self, call: ToolCall, said: Approval | ToolResult) -> None:
        if isinstance(said, Approval):
            self._tell(Waiting(call, said))
            return
        self._results[call.id] = said
        if said.approval is not None:
            self._spent.asked.append(said)
        self._tell(said)

    def _looked_at(self) -> tuple[End, str] | None:
        """Why the run ends with these results, if it does; else they go to the model."""
        if waiting := self.waiting:
            return End.WAITING, f"calls wait for a person: {len(waiting)}"
        refused = {
            one.digest: one.name for one in self._calls() if self._results[one.id].is_refused
        }
        self._close()
        self._spent.refused.update(refused.keys())
        for key, name in refused.items():
            if (times := self._spent.refused[key]) >= self.max_refusals:
                what = f"the model made the same call of “{plain(name)}” {times} times"
                return End.REFUSED, f"{what}, and it was refused each time"
        return None

    def _calls(self) -> tuple[ToolCall, ...]:
        """The calls that the conversation has no results of yet."""
        last = self.messages[-1] if self.messages else None
        return last.calls if isinstance(last, Reply) else ()

    def _close(self) -> None:
        """Give each call its result, whatever is known of it: providers take nothing else."""
        if calls := self._calls():
            self.messages.append(Results(tuple(self._last_word(one) for one in calls)))
        self._results = {}

    def _last_word(self, call: ToolCall) -> ToolResult:
        result = self._results.get(call.id)
        if result is None:
            return unfinished(call)
        return refuse(call, _TAKEN_BACK) if self.toolset.defers(result) else result

    def _ended(self, end: End, reason: str) -> Run:
        messages = tuple(self.messages[self._spent.start :])
        texts = [one.text for one in messages if isinstance(one, Reply)]
        run = Run(texts[-1] if texts else "", end, reason, messages, self.waiting)
        self._tell(run)
        return run

    def _tell(self, event: Event) -> None:
        """A screen that fails costs its message, not the run."""
        try:
            self.on_event(event)
        except Exception:  # noqa: BLE001 - the program's own function
            _log.exception("on_event failed")

    @asynccontextmanager
    async def _alone(self) -> AsyncGenerator[None]:
        """One run at a time; one that breaks off leaves no call without a result."""
        if self._is_running:
            fix = "Wait for its run to end, or make an agent for each conversation."
            raise UsageError("this agent is in a run already", where="Agent", fix=fix)
        self._is_running = True
        try:
            yield
        except BaseException as error:
            is_over = not isinstance(error, Exception)
            with anyio.CancelScope(shield=True), suppress(AvowError):
                asked = self._spent.asked if is_over else self._results.values()
                await self.toolset.withdraw(asked)
            self._close()
            raise
        finally:
            self._is_running = False
