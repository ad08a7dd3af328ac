"""Approvers of an agent's calls: a terminal, a channel, or a function of the program."""

import asyncio
import inspect
import logging
import math
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import anyio
import anyio.from_thread
import anyio.lowlevel

from sayso.approvals import Answer, Approval, Approvals, Channel, Strength, TerminalChannel
from sayso.beside import beside
from sayso.errors import SaysoError, UsageError
from sayso.policy import CHANNELS

Function = Callable[[Approval], bool | Awaitable[bool | None] | None]
"""A function that answers a question: it returns `True`, `False`, or `None` for no answer."""

Approver = str | Channel | Function | None

TERMINAL: Final = "terminal"
CONSOLE: Final = "console"
DEFERRED: Final = "deferred"
PROGRAM: Final = "program"
_TTY: Final = Path("/dev/tty")

_log: Final = logging.getLogger(__name__)
_turn: Final = threading.Lock()
"""A lock for synchronous functions, because two functions on one terminal could swap answers."""


@asynccontextmanager
async def open_channel(approver: Approver) -> AsyncGenerator[Channel | None]:
    """Yield the channel of an approver.

    Raises `UsageError` if the approver is invalid or no terminal is available.
    """
    if approver is None or approver == CONSOLE:
        yield None
    elif approver == DEFERRED:
        yield DeferredChannel()
    elif approver == TERMINAL:
        with _terminal.opened() as channel:
            yield channel
    elif not isinstance(approver, str) and hasattr(approver, "offer"):
        channel = cast("Channel", approver)
        if channel.name not in CHANNELS:
            fix = f"Give the channel one of the names {', '.join(CHANNELS)}."
            raise UsageError(f"unknown channel {channel.name!r}", where="approver", fix=fix)
        yield channel
    elif callable(approver):
        channel = FunctionChannel(approver)
        async with beside(channel.run):
            yield channel
    else:
        fix = 'Give "terminal", "console", "deferred", a function of one Approval, or a Channel.'
        raise UsageError(f"invalid approver {approver!r}", where="approver", fix=fix)


@dataclass(frozen=True, slots=True)
class DeferredChannel:
    """A channel that sends nothing: the program gets the question in the result, and answers it."""

    name: str = PROGRAM
    strength: Strength = Strength.OUT_OF_BAND

    async def offer(self, approvals: Approvals, approval: Approval) -> None: ...


@dataclass(slots=True)
class FunctionChannel:
    """A channel that asks a function of the program, once for each question.

    The function continues when the call stops waiting; a repeated call then uses the function's
    answer. The function is cancelled when the question was answered elsewhere or has expired.
    """

    function: Function
    name: str = PROGRAM
    strength: Strength = Strength.OUT_OF_BAND
    _asked: set[int] = field(default_factory=set[int])
    _questions: Any = field(
        default_factory=lambda: anyio.create_memory_object_stream[Any](math.inf)
    )

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        if approval.number not in self._asked:
            self._asked.add(approval.number)
            self._questions[0].send_nowait((approvals, approval))

    async def run(self) -> None:
        """Call the function for each offered question, until cancelled."""
        send, receive = self._questions
        with send, receive:
            async with anyio.create_task_group() as group:
                async for approvals, approval in receive:
                    group.start_soon(self._ask, approvals, approval)

    async def _ask(self, approvals: Approvals, approval: Approval) -> None:
        try:
            verdict: object = None
            async with anyio.create_task_group() as group:
                group.start_soon(_cancel_when_settled, approvals, approval, group.cancel_scope)
                verdict = await _verdict(self.function, approval)
                group.cancel_scope.cancel()
        except Exception:  # noqa: BLE001 - a function that fails gives no answer
            _log.exception("the approver failed for approval %s", approval.number)
            verdict = None
        if isinstance(verdict, bool):
            await self._answer(approvals, approval, is_allowed=verdict)
            return
        # There is no answer, so a repeated call must ask again.
        self._asked.discard(approval.number)
        if verdict is not None:
            _log.error("the approver returned %r instead of True, False or None", verdict)

    async def _answer(self, approvals: Approvals, approval: Approval, *, is_allowed: bool) -> None:
        answer = Answer(is_allowed=is_allowed, by=self.name, channel=self.name)
        try:
            await approvals.answer(approval.number, answer)
        except SaysoError as error:
            _log.warning("%s", error)


async def _cancel_when_settled(
    approvals: Approvals, approval: Approval, scope: anyio.CancelScope
) -> None:
    await approvals.wait(approval.number, max(approval.expires - approvals.clock(), 0))
    scope.cancel()


async def _verdict(function: Function, approval: Approval) -> object:
    """Return the function's answer. A synchronous function may block, so it runs in a thread."""
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object may be called like one
    )
    answer = function(approval) if is_async else await _in_thread(function, approval)
    return await answer if inspect.isawaitable(answer) else answer


async def _in_thread(function: Function, approval: Approval) -> object:
    """Call `function` in a daemon thread. Cancelling returns at once; the thread goes on."""
    done = anyio.Event()
    token = anyio.lowlevel.current_token()
    gone = threading.Event()
    answers: list[object] = []
    failed: list[Exception] = []

    def work() -> None:
        with _turn:
            if gone.is_set():
                return
            try:
                answers.append(function(approval))
            except Exception as error:  # noqa: BLE001 - raised below, in the caller
                failed.append(error)
        with suppress(RuntimeError):  # raised if the event loop has ended
            anyio.from_thread.run_sync(done.set, token=token)

    threading.Thread(target=work, name="sayso approver", daemon=True).start()
    try:
        await done.wait()
    finally:
        gone.set()
    if failed:
        raise failed[0]
    return answers[0]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that the program answers."""

    approvals: Approvals = field(repr=False)
    approval: Approval

    async def allow(self) -> bool:
        """Allow the call; return `False` if the answer came too late."""
        return await self._answer(is_allowed=True)

    async def deny(self, message: str | None = None) -> bool:
        """Deny the call, with a message to the model; return `False` if the answer came late."""
        return await self._answer(is_allowed=False, message=message)

    async def _answer(self, *, is_allowed: bool, message: str | None = None) -> bool:
        answer = Answer(is_allowed=is_allowed, by=PROGRAM, channel=PROGRAM, message=message)
        return await self.approvals.answer(self.approval.number, answer)


@dataclass(slots=True)
class ApprovalQueue:
    """An approver that gives its questions to the program: `async for asked in queue`.

    Each question comes once. A question that was answered elsewhere may still come; a second
    answer is ignored. One queue serves any number of wrapped clients of one event loop.
    """

    name: str = PROGRAM
    strength: Strength = Strength.OUT_OF_BAND
    _seen: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    _line: asyncio.Queue[Asked] = field(default_factory=asyncio.Queue["Asked"])

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        key = id(approvals), approval.number
        if key not in self._seen:
            self._seen.add(key)
            self._line.put_nowait(Asked(approvals, approval))

    async def __aiter__(self) -> AsyncIterator[Asked]:
        """Yield questions as they come, without end."""
        while True:
            yield await self.take()

    async def take(self) -> Asked:
        return await self._line.get()


@dataclass(slots=True)
class _Terminal:
    """The program's terminal: one channel for all clients, which asks one question at a time."""

    users: int = 0
    files: ExitStack = field(default_factory=ExitStack)
    channel: TerminalChannel | None = None

    @contextmanager
    def opened(self) -> Generator[TerminalChannel]:
        channel = self.channel or self._open()
        self.users += 1
        try:
            yield channel
        finally:
            self.users -= 1
            if self.users == 0:
                self.channel = None
                self.files.close()

    def _open(self) -> TerminalChannel:
        try:
            reader = self.files.enter_context(_TTY.open("r"))
            writer = self.files.enter_context(_TTY.open("w"))
        except OSError as error:
            fix = "Start the program in a terminal, or pass a function as approver."
            raise UsageError("no terminal is available", where="approver", fix=fix) from error
        self.channel = TerminalChannel(reader, writer)
        return self.channel


_terminal: Final = _Terminal()
