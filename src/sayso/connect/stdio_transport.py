"""The stdio transport: one line of JSON for each message (MCP 2024-11-05 to 2026-07-28)."""

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sayso.alarm import Alarm
from sayso.connect.inbox import PROGRESS, Inbox, Progress, tell, with_token
from sayso.connect.message import (
    Message,
    read_message,
    read_object,
    write_notification,
    write_request,
)
from sayso.connect.request_listener import Deadline, RequestListener
from sayso.connect.rpc import Fault, RpcError
from sayso.slices import LARGE_BYTES, rest_since

_MAX_RECEIVED: Final = 256


@dataclass(slots=True)
class _Pending:
    """The received messages for one request, in order, up to its first response.

    If there are too many, the oldest ones, which are progress notifications, are dropped.
    """

    received: deque[Message] = field(default_factory=lambda: deque[Message](maxlen=_MAX_RECEIVED))
    waiter: asyncio.Future[None] | None = None
    is_lost: bool = False
    is_answered: bool = False

    def take(self, message: Message) -> None:
        if not self.is_answered:
            self.is_answered = message.is_response
            self.received.append(message)
            self.wake()

    def wake(self) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    async def next(self) -> Message:
        while not self.received:
            if self.is_lost:
                raise RpcError.none(Fault.LOST, "Connection closed")
            self.waiter = asyncio.get_running_loop().create_future()
            await self.waiter
        return self.received.popleft()


@dataclass(slots=True)
class StdioTransport:
    """A transport over pipes. `send` writes a line, and `spawn` runs background tasks."""

    send: Callable[[bytes], Awaitable[None]]
    inbox: Inbox
    spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
    is_closed: bool = False
    _waiting: dict[int, _Pending] = field(default_factory=dict[int, _Pending])
    _numbers: Any = field(default_factory=lambda: itertools.count(1))
    _alarm: Alarm | None = None

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        timeout: float | None,
        progress: Progress | None = None,
        listener: RequestListener | None = None,
    ) -> Message:
        """Return the response to one request, within `timeout` seconds. Raises `RpcError`.

        Cancelling notifies the server, except for the first request (MCP, cancellation).
        """
        number = next(self._numbers)
        pending = self._waiting[number] = _Pending(is_lost=self.is_closed)
        may_cancel = method not in ("initialize", "server/discover")
        try:
            self._alarm = alarm = Alarm.of(timeout, self._alarm)
            with Deadline(alarm) as limit, self.inbox.hearing(listener, limit):
                if not self.is_closed:
                    begun = time.perf_counter()
                    line = write_request(number, method, with_token(params, number, progress))
                    if len(line) > LARGE_BYTES:
                        await rest_since(begun)
                    await self.send(line)
                while not (message := await pending.next()).is_response:
                    await tell(progress, message)
                return message
        except TimeoutError:
            self._cancel(number, is_told=may_cancel)
            raise RpcError.none(Fault.TIMED_OUT, f"Request {method!r} timed out") from None
        except asyncio.CancelledError:
            self._cancel(number, is_told=may_cancel)
            raise
        finally:
            del self._waiting[number]

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        await self.send(write_notification(method, params))

    async def receive(self, line: bytes) -> None:
        """Handle one line. Raises `ValueError` if it is not a message."""
        begun = time.perf_counter()
        message = read_message(line)
        await rest_since(begun)
        if message.is_response:
            self._hand_over(message.id, message)
        elif message.id is not None:
            self.inbox.run_answer(self.spawn, self._answer(message))
        elif message.method != PROGRESS or not self._hand_over(_token_of(message), message):
            await self.inbox.notify(message)

    def close(self) -> None:
        """End all requests: the server is gone."""
        self.is_closed = True
        for pending in self._waiting.values():
            pending.is_lost = True
            pending.wake()

    def _hand_over(self, number: object, message: Message) -> bool:
        # `True` and 1.0 equal 1 as dict keys, but are not ids that sayso sent.
        if type(number) is not int or (pending := self._waiting.get(number)) is None:
            return False
        pending.take(message)
        return True

    async def _answer(self, message: Message) -> None:
        await self.send(await self.inbox.answer(message))

    def _cancel(self, number: int, *, is_told: bool) -> None:
        if is_told and not self.is_closed:
            self.spawn(self.notify("notifications/cancelled", {"requestId": number}))


def _token_of(message: Message) -> object:
    try:
        return read_object(message.params).get("progressToken")
    except ValueError:
        return None
