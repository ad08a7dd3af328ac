"""What a session of the handshake eras has in mid-air: its stream, its questions, its calls."""

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
from sayso.gateway.notifications import LOGGED, Backlog, Hub, Listener
from sayso.gateway.replicas import ReplicaClient

_WITHDRAW_SECONDS: Final = 1.0
_MOST_ENDED: Final = 10_000
_MOST_KEPT: Final = 5_000
"""Half of the places that a hub has: who comes now finds one, whoever stays away."""

SAY: Final = "say"
"""The errand of putting a message on the stream of a session: its id, and the message."""


@dataclass(slots=True)
class Session:
    """What is going on in one session, in this process; `elsewhere` says it to the others."""

    running: dict[Id, Callable[[], object]] = field(default_factory=dict[Id, Callable[[], object]])
    asked: dict[str, asyncio.Future[Message]] = field(
        default_factory=dict[str, asyncio.Future[Message]]
    )
    stream: Backlog[bytes | None] | None = None
    mark: str = ""
    elsewhere: Callable[[bytes], Awaitable[bool]] | None = None
    listener: Listener = field(init=False)

    def __post_init__(self) -> None:
        self.listener = Listener(self.tell)

    @property
    def is_idle(self) -> bool:
        """Whether nothing would be lost if it were forgotten."""
        return not self.running and not self.asked and self.stream is None

    @property
    def is_kept(self) -> bool:
        """Whether its client has said what it wants to hear of."""
        return bool(self.listener.uris or self.listener.level)

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell the client on its stream, if it holds one open; an empty method ends it.

        A client that does not keep up with what changes is sent away, since it would not know
        what it has missed; of what is logged it misses some.
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
        """Put a message on the stream that the client holds open, if it does and keeps up."""
        if self.stream is None or self.stream.full():
            return False
        self.stream.put_nowait(body)
        return True

    def hang_up(self) -> None:
        """End the stream that the client holds open; it may open another one elsewhere."""
        if self.stream is not None:
            if self.stream.full():
                self.stream.get_nowait()
            self.stream.put_nowait(None)
            self.stream = None

    def answered(self, message: Message) -> bool:
        """Take the client's answer to a question; whether it was asked."""
        waiting = self.asked.get(message.id) if isinstance(message.id, str) else None
        if waiting is None or waiting.done():
            return False
        waiting.set_result(message)
        return True

    def cancel(self, number: object) -> bool:
        """The client wants one of its requests no more; whether it was under way here."""
        end = self.running.get(number) if isinstance(number, int | str) else None
        if end is None or isinstance(number, bool):
            return False
        end()
        return True


@dataclass(slots=True)
class Sessions:
    """The sessions in which something goes on here; all else is in their tokens.

    What goes on in other processes, those are told over `post`. What a client wants to hear of is
    kept too, of the last five thousand that have said so.
    """

    post: ReplicaClient = field(default_factory=ReplicaClient)
    hub: Hub = field(default_factory=Hub)
    _kept: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None])
    _live: dict[str, Session] = field(default_factory=dict[str, Session])
    _ended: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None])

    @property
    def open(self) -> int:
        """In how many something goes on."""
        return len(self._live)

    def of(self, name: str) -> Session:
        """The session of this id."""
        found = self._live.get(name)
        if found is None:
            mark = f"{self.post.name}-" if self.post.name else ""
            found = Session(mark=mark, elsewhere=partial(self._say_elsewhere, name))
            self._live[name] = found
        return found

    def known(self, name: str) -> Session | None:
        """The session of this id, if something goes on in it."""
        return self._live.get(name)

    def rest(self, name: str) -> None:
        """Forget a session in which nothing goes on any more."""
        found = self._live.get(name)
        if found is None or not found.is_idle:
            return
        if not found.is_kept:
            self._forget(name)
            return
        self._kept[name] = None
        self._kept.move_to_end(name)
        while len(self._kept) > _MOST_KEPT:
            oldest, _ = self._kept.popitem(last=False)
            if oldest in self._live and self._live[oldest].is_idle:
                self._forget(oldest)

    def _forget(self, name: str) -> Session | None:
        self._kept.pop(name, None)
        found = self._live.pop(name, None)
        if found is not None:
            self.hub.leave(found.listener)
        return found

    def end(self, name: str) -> None:
        """The client has said goodbye."""
        self._ended[name] = None
        while len(self._ended) > _MOST_ENDED:
            self._ended.popitem(last=False)
        found = self._forget(name)
        for end in [*found.running.values()] if found else []:
            end()

    def has_ended(self, name: str) -> bool:
        """Whether the client has said goodbye to this session."""
        return name in self._ended

    async def _say_elsewhere(self, name: str, body: bytes) -> bool:
        """Have a message put on the stream that the client holds open at another process."""
        return bool(await self.post.send_all(SAY, [name, body.decode()]))

    def hang_up(self) -> None:
        """End all streams."""
        for session in self._live.values():
            session.hang_up()


def open_stream(session: Session) -> Backlog[bytes | None] | None:
    """The queue of a new stream; `None` where the session has one already."""
    if session.stream is not None:
        return None
    session.stream = Backlog[bytes | None]()
    return session.stream


class Outlet(Protocol):
    """What takes a message to the client: the stream of an answer, or its pipe."""

    async def say(self, body: bytes) -> bool:
        """Send a message; whether it could be sent."""
        ...

    def tell(self, body: bytes) -> bool:
        """The same without waiting; it may be left out where the client does not keep up."""
        ...


@dataclass(slots=True)
class SessionLine:
    """The way back to a client of the handshake eras, while one of its requests is answered."""

    session: Session
    reply: Outlet

    @property
    def owner(self) -> object:
        """See `Line.owner`."""
        return self.session

    @property
    def listener(self) -> Listener | None:
        """See `Line.listener`."""
        return self.session.listener

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """See `Line.notify`."""
        await self._say(write_notification(method, params))

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        """See `Line.tell`."""
        body = write_notification(method, params)
        if not self.reply.tell(body):
            self.session.say(body)

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """See `Line.ask`."""
        # Its mark says which process asked: the answer may come to any.
        number = self.session.mark + secrets.token_hex(8)
        waiting = asyncio.get_running_loop().create_future()
        self.session.asked[number] = waiting
        try:
            body = write_request(number, method, params)
            if not await self._say(body) and not await self._say_elsewhere(body):
                raise RpcError(INTERNAL_ERROR, "the client listens to no stream")
            message: Message = await waiting
        except asyncio.CancelledError:
            # A client that does not read must not keep what it was asked for.
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
    """The way back to a client of 2026-07-28: the stream of its answer, and no questions."""

    reply: Outlet

    @property
    def owner(self) -> object:
        """See `Line.owner`: each request stands alone."""
        return self

    @property
    def listener(self) -> Listener | None:
        """See `Line.listener`: it asks for a stream instead."""
        return None

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """See `Line.notify`."""
        await self.reply.say(write_notification(method, params))

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        """See `Line.tell`."""
        self.reply.tell(write_notification(method, params))

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """See `Line.ask`."""
        del params
        raise RpcError(INTERNAL_ERROR, f"a client of 2026-07-28 cannot be asked {method}")
