"""The state of active sessions of the handshake eras: their streams, questions and calls."""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

import anyio

from sayso.connect import (
    CANCELLED,
    INTERNAL_ERROR,
    Id,
    Message,
    RpcError,
    read_object,
    write_notification,
    write_request,
)
from sayso.gateway.notifications import LOGGED, Backlog, Listener, Notifier
from sayso.gateway.replicas import ReplicaClient

_WITHDRAW_SECONDS: Final = 1.0
_MAX_ENDED: Final = 10_000
_MAX_KEPT: Final = 5_000
"""The maximum idle sessions that keep subscriptions: half of the notifier's maximum listeners."""

SAY: Final = "say"
"""The kind of request that puts a message on a session's stream; its body is id and message."""


@dataclass(slots=True)
class Session:
    """A session in this process; `elsewhere` sends through the process that has its stream."""

    running: dict[Id, Callable[[], object]] = field(default_factory=dict[Id, Callable[[], object]])
    asked: dict[str, asyncio.Future[Message]] = field(
        default_factory=dict[str, asyncio.Future[Message]]
    )
    stream: Backlog[bytes | None] | None = None
    id_prefix: str = ""
    elsewhere: Callable[[bytes], Awaitable[bool]] | None = None
    listener: Listener = field(init=False)

    def __post_init__(self) -> None:
        self.listener = Listener(self.tell)

    @property
    def is_idle(self) -> bool:
        return not self.running and not self.asked and self.stream is None

    @property
    def is_kept(self) -> bool:
        """Return whether the session's client has subscriptions or a log level."""
        return bool(self.listener.uris or self.listener.level)

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification on the session's open stream; an empty method ends the stream.

        If the client reads too slowly, log messages are dropped. Any other notification then ends
        the stream, because the client must not miss a change.
        """
        if not method:
            self.hang_up()
            return
        body = write_notification(method, params)
        is_change = method != LOGGED
        if self.stream is not None and is_change and self.stream.holds(body):
            return
        if not self.say(body) and is_change:
            self.hang_up()

    def say(self, body: bytes) -> bool:
        """Put a message on the open stream; return false if no stream is open, or it is full."""
        if self.stream is None or self.stream.full():
            return False
        self.stream.put_nowait(body)
        return True

    def hang_up(self) -> None:
        """End the session's open stream; the client may open a new one at another process."""
        if self.stream is not None:
            if self.stream.full():
                self.stream.get_nowait()
            self.stream.put_nowait(None)
            self.stream = None

    def answered(self, message: Message) -> bool:
        """Take the client's answer to a question; return false if no such question is open."""
        waiting = self.asked.get(str(message.id))
        if waiting is None or waiting.done() or not isinstance(message.id, str):
            return False
        waiting.set_result(message)
        return True

    def cancel(self, number: object) -> bool:
        """Cancel a request of the client; return whether it was active in this process."""
        if isinstance(number, bool) or not isinstance(number, int | str):
            return False
        if (end := self.running.get(number)) is None:
            return False
        end()
        return True


@dataclass(slots=True)
class Sessions:
    """The active sessions of this process; the rest of a session's state is in its token.

    `replica_client` reaches other processes. Idle sessions keep their subscriptions; above 5,000
    such sessions, the oldest ones lose them.
    """

    replica_client: ReplicaClient = field(default_factory=ReplicaClient)
    notifier: Notifier = field(default_factory=Notifier)
    _kept: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None])
    _live: dict[str, Session] = field(default_factory=dict[str, Session])
    _ended: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None])

    @property
    def open(self) -> int:
        return len(self._live)

    def of(self, name: str) -> Session:
        session = self._live.get(name)
        if session is None:
            id_prefix = self.replica_client.name and f"{self.replica_client.name}-"
            session = Session(id_prefix=id_prefix, elsewhere=partial(self._say_elsewhere, name))
            self._live[name] = session
        return session

    def known(self, name: str) -> Session | None:
        return self._live.get(name)

    def rest(self, name: str) -> None:
        session = self._live.get(name)
        if session is None or not session.is_idle:
            return
        if not session.is_kept:
            self._forget(name)
            return
        self._kept[name] = None
        self._kept.move_to_end(name)
        while len(self._kept) > _MAX_KEPT:
            oldest, _ = self._kept.popitem(last=False)
            if oldest in self._live and self._live[oldest].is_idle:
                self._forget(oldest)

    def _forget(self, name: str) -> Session | None:
        self._kept.pop(name, None)
        session = self._live.pop(name, None)
        if session is not None:
            self.notifier.leave(session.listener)
        return session

    def end(self, name: str) -> None:
        self._ended[name] = None
        while len(self._ended) > _MAX_ENDED:
            self._ended.popitem(last=False)
        if session := self._forget(name):
            for end in [*session.running.values()]:
                end()

    def has_ended(self, name: str) -> bool:
        """Return whether the client has ended this session."""
        return name in self._ended

    async def _say_elsewhere(self, name: str, body: bytes) -> bool:
        return bool(await self.replica_client.send_all(SAY, [name, body.decode()]))

    def hang_up(self) -> None:
        for session in self._live.values():
            session.hang_up()


def open_stream(session: Session) -> Backlog[bytes | None] | None:
    """Return the queue of a new stream; `None` if the session has one already."""
    if session.stream is not None:
        return None
    session.stream = Backlog[bytes | None]()
    return session.stream


class Outlet(Protocol):
    """The interface of `Reply`, which stdio implements too."""

    async def say(self, body: bytes) -> bool: ...
    def tell(self, body: bytes) -> bool: ...


@dataclass(slots=True)
class SessionLine:
    """The `Line` to a client of the handshake eras, over the response's or the session's stream."""

    session: Session
    reply: Outlet

    @property
    def owner(self) -> object:
        return self.session

    @property
    def listener(self) -> Listener | None:
        return self.session.listener

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        await self._say(write_notification(method, params))

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        body = write_notification(method, params)
        if not self.reply.tell(body):
            self.session.say(body)

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        # The prefix names this process, because the answer may arrive at another one.
        number = self.session.id_prefix + secrets.token_hex(8)
        waiting = asyncio.get_running_loop().create_future()
        self.session.asked[number] = waiting
        try:
            body = write_request(number, method, params)
            if not await self._say(body) and not await self._say_elsewhere(body):
                raise RpcError(INTERNAL_ERROR, "the client has no open stream")
            message: Message = await waiting
        except asyncio.CancelledError:
            # Limit the time, so that a client that does not read cannot block the end of the call.
            with anyio.move_on_after(_WITHDRAW_SECONDS, shield=True):
                await self._say(write_notification(CANCELLED, {"requestId": number}))
            raise
        finally:
            del self.session.asked[number]
        if message.error:
            raise RpcError.received(message)
        return read_object(message.result)

    async def _say(self, body: bytes) -> bool:
        return await self.reply.say(body) or self.session.say(body)

    async def _say_elsewhere(self, body: bytes) -> bool:
        elsewhere = self.session.elsewhere
        return elsewhere is not None and await elsewhere(body)


@dataclass(slots=True, eq=False)
class ModernLine:
    """The `Line` to a client of 2026-07-28, over the response's stream; `ask` always fails."""

    reply: Outlet

    @property
    def owner(self) -> object:
        return self

    @property
    def listener(self) -> Listener | None:
        return None

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        await self.reply.say(write_notification(method, params))

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        self.reply.tell(write_notification(method, params))

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        del params
        raise RpcError(INTERNAL_ERROR, f"a client of 2026-07-28 cannot be asked {method}")
