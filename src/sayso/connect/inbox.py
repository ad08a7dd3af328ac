"""Dispatch of the notifications and requests that a server sends."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

from sayso.connect.message import Id, Message, read_object, write_error, write_result
from sayso.connect.request_listener import (
    Asked,
    Deadline,
    Notified,
    Question,
    RequestListener,
    ignore,
)
from sayso.connect.rpc import INTERNAL_ERROR, METHOD_NOT_FOUND, RpcError

Progress = Callable[[float, float | None, str | None], Awaitable[None]]

PROGRESS: Final = "notifications/progress"
CANCELLED: Final = "notifications/cancelled"
_FOR_ALL: Final = frozenset(
    {
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
        "notifications/elicitation/complete",
        "notifications/subscriptions/acknowledged",
        PROGRESS,
    }
)
"""Notifications that go to `notified` of the inbox, whichever stream they come on."""
_MOST_AT_ONCE: Final = 128
"""Maximum of a server's requests that are handled at once; further ones get no response."""
_LARGEST: Final = 256 * 1024
"""Maximum bytes of a notification, because many may be queued for many clients."""

_NO_LISTENER: Final = nullcontext()


async def offer_nothing(method: str, _params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse a server's request. Raises `RpcError`."""
    raise RpcError(METHOD_NOT_FOUND, f"sayso does not offer {method}")


@dataclass(frozen=True, slots=True)
class Inbox:
    """A dispatcher of a server's messages to the listeners of the running requests.

    Over HTTP a message about a request comes on that request's stream. Over stdio, and on a
    separate stream, the request is unknown. The message then goes to the listeners only if all of
    them have the same owner: otherwise a client could get another client's message.
    """

    notified: Notified = ignore
    asked: Asked = offer_nothing
    _listeners: dict[RequestListener, None] = field(default_factory=dict[RequestListener, None])
    _questions: dict[Id, Question] = field(default_factory=dict[Id, Question])
    _answering: set["asyncio.Task[None]"] = field(default_factory=set["asyncio.Task[None]"])

    def hearing(
        self, listener: RequestListener | None, limit: Deadline
    ) -> AbstractContextManager[None]:
        """Return the context of a request; at its end, the server's questions for it end too."""
        if listener is None:
            return _NO_LISTENER
        listener.begin(limit)
        return _Hearing(self._listeners, listener)

    async def notify(self, message: Message, listener: RequestListener | None = None) -> None:
        """Pass a notification on; drop it if it is invalid or too large."""
        if memoryview(message.params).nbytes > _LARGEST:
            return
        try:
            params = read_object(message.params)
        except ValueError:
            return
        method = message.method or ""
        if method == CANCELLED:
            number = params.get("requestId")
            if isinstance(number, int | str) and (question := self._questions.get(number)):
                question.task.cancel()
            return
        if method in _FOR_ALL:
            await self.notified(method, params)
            return
        receiver = next(iter(self._receivers(listener)), self)
        await receiver.notified(method, params)

    def run_answer(
        self,
        spawn: Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"],
        work: Coroutine[Any, Any, None],
    ) -> None:
        """Run `work`, which answers a request; drop it if too many are being answered."""
        if len(self._answering) >= _MOST_AT_ONCE:
            work.close()
            return
        task = spawn(work)
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def answer(self, message: Message, listener: RequestListener | None = None) -> bytes:
        """Answer a server's request.

        Call it in a separate task; that task is cancelled if the server cancels the request.
        """
        number = message.id
        try:
            params = read_object(message.params)
            if message.method == "ping":
                return write_result(number, {})
            return write_result(number, await self._ask(message, params, listener))
        except RpcError as error:
            return write_error(number, error.code, error.message, error.data)
        except ValueError as error:
            return write_error(number, INTERNAL_ERROR, str(error))

    async def _ask(
        self, message: Message, params: Mapping[str, Any], listener: RequestListener | None
    ) -> Mapping[str, Any]:
        method = message.method or ""
        number = message.id
        listeners = self._receivers(listener)
        if listener is not None and listener not in self._listeners:
            raise RpcError(INTERNAL_ERROR, f"the call that {method} was about is over")
        if not all(concerned.is_patient for concerned in listeners):
            raise RpcError(INTERNAL_ERROR, f"{method} is refused: this call has asked too often")
        if not listeners and self._listeners:
            what = f"{method} is refused: calls of several clients run, so its call is ambiguous"
            raise RpcError(INTERNAL_ERROR, what)
        if not listeners:
            return await self.asked(method, params)
        task = asyncio.current_task()
        assert number is not None  # noqa: S101 - it is a request
        assert task is not None  # noqa: S101 - a request is answered by a task
        question = self._questions[number] = Question(task, {*listeners})
        for concerned in listeners:
            concerned.questions.add(question)
            concerned.stop()
        try:
            return await listeners[0].asked(method, params)
        except asyncio.CancelledError:
            if not question.is_over:
                raise
            question.task.uncancel()
            raise RpcError(INTERNAL_ERROR, f"the call that {method} was about is over") from None
        finally:
            self._questions.pop(number, None)
            for concerned in listeners:
                concerned.questions.discard(question)
                concerned.go_on()

    def _receivers(self, listener: RequestListener | None) -> list[RequestListener]:
        """Return the listeners that get a message, or an empty list if their owners differ."""
        if listener is not None:
            return [listener]
        if len({id(waiting.owner) for waiting in self._listeners}) != 1:
            return []
        return [*self._listeners]


def with_token(
    params: Mapping[str, Any], number: int, progress: Progress | None
) -> Mapping[str, Any]:
    """Return `params`, with a token for progress notifications if `progress` is set."""
    if progress is None:
        return params
    return {**params, "_meta": {**(params.get("_meta") or {}), "progressToken": number}}


async def tell(progress: Progress | None, message: Message) -> None:
    """Pass a valid progress notification to `progress`."""
    if progress is None:
        return
    try:
        params = read_object(message.params)
    except ValueError:
        return
    done = _number(params.get("progress"))
    total = _number(params.get("total"))
    text = params.get("message")
    if not isinstance(text, str):
        text = None
    if done is not None:
        await progress(done, total, text)


def _number(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return None


@dataclass(slots=True)
class _Hearing:
    listeners: dict[RequestListener, None]
    listener: RequestListener

    def __enter__(self) -> None:
        self.listeners[self.listener] = None

    def __exit__(self, _kind: object, _error: BaseException | None, _trace: object) -> None:
        self.listener.end()
        del self.listeners[self.listener]
        for question in [*self.listener.questions]:
            question.listeners.discard(self.listener)
            if not question.listeners:
                question.is_over = True
                question.task.cancel()
