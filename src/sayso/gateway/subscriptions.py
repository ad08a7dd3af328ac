"""The subscription to one server's changes, over one connection."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from sayso.connect import INTERNAL_ERROR, METHOD_NOT_FOUND, Link, RpcError
from sayso.gateway.notifications import LEVELS, LISTS_CHANGED

ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"

_ACK_SECONDS: Final = 5.0
_FIRST_PAUSE_SECONDS: Final = 0.5
_MAX_PAUSE_SECONDS: Final = 30.0

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class Subscription:
    """A subscription to a server's changes, in the protocol of its era.

    `followed` returns the resources that clients follow now. `missed` is called when notifications
    may have been missed. A server of 2026-07-28 sends notifications on a stream that sayso opens.
    An older server sends them for lists unasked, and for each resource after a subscription.
    """

    link: Link
    timeout: float
    followed: Callable[[], frozenset[str]]
    missed: Callable[[], None]
    level: str | None = None
    _moved: asyncio.Event = field(default_factory=asyncio.Event)
    _acknowledged: asyncio.Event = field(default_factory=asyncio.Event)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _have: frozenset[str] = frozenset()
    _requested: frozenset[str] = frozenset()

    async def run(self) -> None:
        """Run until cancelled, or until the server refuses."""
        run = self._listen if self.link.greeting.envelope.is_modern else self._follow
        try:
            await run()
        except RpcError as error:
            _log.info("%s sends no changes: %s", self.link.name, error.message)

    def move(self) -> None:
        self._moved.set()

    def acknowledge(self, params: Mapping[str, Any]) -> None:
        honored: Any = params.get("notifications")
        uris: Any = honored.get("resourceSubscriptions") if isinstance(honored, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        uris = cast("list[Any]", uris) if isinstance(uris, list) else []
        self._have = frozenset(uri for uri in uris if isinstance(uri, str))
        self._acknowledged.set()

    async def follow(self, uri: str) -> None:
        """Subscribe to one resource. Raises `RpcError` if the server refuses."""
        offers: Any = self.link.greeting.capabilities.get("resources")
        if not isinstance(offers, Mapping) or not cast("Any", offers).get("subscribe"):
            what = f"the server “{self.link.name}” has no subscriptions to resources"
            raise RpcError(METHOD_NOT_FOUND, what)
        if not self.link.greeting.envelope.is_modern:
            async with self._turn:
                if uri not in self._have:
                    await self._subscribe(uri)
            return
        if uri not in self._requested:
            self.move()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ACK_SECONDS):
                while uri not in self._have & self._requested:
                    self._acknowledged.clear()
                    await self._acknowledged.wait()
        if uri not in self._have:
            what = f"the server “{self.link.name}” did not accept a subscription to {uri}"
            raise RpcError(INTERNAL_ERROR, what)

    async def set_level(self, level: str) -> None:
        """Lower the log level of the connection to `level`; no later call raises the level."""
        offers = "logging" in self.link.greeting.capabilities
        if self.link.greeting.envelope.is_modern or not offers:
            return
        if self.level is None or LEVELS.index(level) < LEVELS.index(self.level):
            self.level = level
            params = {"level": level}
            try:
                await self.link.request("logging/setLevel", params, timeout=self.timeout)
            except RpcError as error:
                _log.info("%s refuses a log level: %s", self.link.name, error.message)

    async def _follow(self) -> None:
        if self.level is not None:
            level = self.level
            self.level = None
            await self.set_level(level)
        while True:
            # One change at a time, so that a new follower does not rely on an ending subscription.
            async with self._turn:
                for uri in self._have - self.followed():
                    self._have -= {uri}
                    params = {"uri": uri}
                    with contextlib.suppress(RpcError):
                        await self.link.request(
                            "resources/unsubscribe", params, timeout=self.timeout
                        )
                for uri in self.followed() - self._have:
                    with contextlib.suppress(RpcError):
                        await self._subscribe(uri)
            await self._moved.wait()
            self._moved.clear()

    async def _subscribe(self, uri: str) -> None:
        await self.link.request("resources/subscribe", {"uri": uri}, timeout=self.timeout)
        self._have |= {uri}

    async def _listen(self) -> None:
        """Keep one stream open; after a change, open a new stream before the old one is closed."""
        streams: list[asyncio.Task[Any]] = []
        pause = _FIRST_PAUSE_SECONDS
        try:
            while True:
                self._moved.clear()
                before = streams
                streams = [*self._opened()]
                if streams and before:
                    with contextlib.suppress(TimeoutError):
                        self._acknowledged.clear()
                        await asyncio.wait_for(self._acknowledged.wait(), _ACK_SECONDS)
                _end(before)
                moving = asyncio.ensure_future(self._moved.wait())
                await asyncio.wait([*streams, moving], return_when=asyncio.FIRST_COMPLETED)
                if not moving.cancel():
                    pause = _FIRST_PAUSE_SECONDS
                    continue
                _refused(streams[0])
                self._have = frozenset()
                await asyncio.sleep(pause)
                pause = min(2 * pause, _MAX_PAUSE_SECONDS)
                self.missed()
        finally:
            _end(streams)

    def _opened(self) -> list["asyncio.Task[Any]"]:
        """Return the stream for the current subscriptions, if there are any."""
        kinds: dict[str, Any] = {key: True for key in LISTS_CHANGED if self._offers(key)}
        self._requested = self.followed()
        uris = sorted(self._requested)
        if uris:
            kinds["resourceSubscriptions"] = uris
        if not kinds:
            return []
        asking = self.link.request("subscriptions/listen", {"notifications": kinds}, timeout=None)
        return [asyncio.ensure_future(asking)]

    def _offers(self, key: str) -> bool:
        offers: Any = self.link.greeting.capabilities.get(key.removesuffix("ListChanged"))
        return isinstance(offers, Mapping) and bool(cast("Any", offers).get("listChanged"))


def _end(streams: list["asyncio.Task[Any]"]) -> None:
    for stream in streams:
        if not stream.cancel() and not stream.cancelled():
            stream.exception()  # mark the exception as retrieved


def _refused(stream: "asyncio.Task[Any]") -> None:
    """Raise the server's error if it refused the stream; do nothing if the stream only broke."""
    error = stream.exception()
    if isinstance(error, RpcError) and error.fault is None:
        raise error
