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
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 30.0

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class Subscription:
    """Subscribes to a server's changes, in the way of its era.

    `followed` gives the resources that clients follow now, and `missed` is called when changes may
    have been missed. A server of 2026-07-28 sends changes on a stream that is requested; before, it
    sent those of lists by itself and those of each resource on request.
    """

    link: Link
    timeout: float
    followed: Callable[[], frozenset[str]]
    missed: Callable[[], None]
    level: str | None = None
    _moved: asyncio.Event = field(default_factory=asyncio.Event)
    _told: asyncio.Event = field(default_factory=asyncio.Event)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _have: frozenset[str] = frozenset()
    _asked: frozenset[str] = frozenset()

    async def run(self) -> None:
        """Run until cancelled, or until the server refuses."""
        run = self._listen if self.link.greeting.envelope.is_modern else self._follow
        try:
            await run()
        except RpcError as error:
            _log.info("%s tells of no changes: %s", self.link.name, error.message)

    def move(self) -> None:
        self._moved.set()

    def acknowledge(self, params: Mapping[str, Any]) -> None:
        honored: Any = params.get("notifications")
        found: Any = honored.get("resourceSubscriptions") if isinstance(honored, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        uris = cast("list[Any]", found) if isinstance(found, list) else []
        self._have = frozenset(uri for uri in uris if isinstance(uri, str))
        self._told.set()

    async def follow(self, uri: str) -> None:
        """Have the server tell of one resource. Raises `RpcError` where it does not."""
        offers: Any = self.link.greeting.capabilities.get("resources")
        if not isinstance(offers, Mapping) or not cast("Any", offers).get("subscribe"):
            what = f"the server “{self.link.name}” tells of no changes of resources"
            raise RpcError(METHOD_NOT_FOUND, what)
        if not self.link.greeting.envelope.is_modern:
            async with self._turn:
                if uri not in self._have:
                    await self._subscribe(uri)
            return
        if uri not in self._asked:
            self.move()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ACK_SECONDS):
                while uri not in self._have & self._asked:
                    self._told.clear()
                    await self._told.wait()
        if uri not in self._have:
            what = f"the server “{self.link.name}” does not tell of {uri}"
            raise RpcError(INTERNAL_ERROR, what)

    async def set_level(self, level: str) -> None:
        """Hear what is logged from this level on, and whatever others hear already."""
        offers = "logging" in self.link.greeting.capabilities
        if self.link.greeting.envelope.is_modern or not offers:
            return
        if self.level is None or LEVELS.index(level) < LEVELS.index(self.level):
            self.level = level
            params = {"level": level}
            try:
                await self.link.request("logging/setLevel", params, timeout=self.timeout)
            except RpcError as error:
                _log.info("%s takes no level: %s", self.link.name, error.message)

    async def _follow(self) -> None:
        if self.level is not None:
            level = self.level
            self.level = None
            await self.set_level(level)
        while True:
            # One at a time: whoever follows a resource must not find it on its way out.
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
        """Hold one stream open; where others are wanted, the old one ends when the new one runs."""
        streams: list[asyncio.Task[Any]] = []
        pause = _FIRST_PAUSE
        try:
            while True:
                self._moved.clear()
                before = streams
                streams = [*self._opened()]
                if streams and before:
                    with contextlib.suppress(TimeoutError):
                        self._told.clear()
                        await asyncio.wait_for(self._told.wait(), _ACK_SECONDS)
                _end(before)
                moving = asyncio.ensure_future(self._moved.wait())
                await asyncio.wait([*streams, moving], return_when=asyncio.FIRST_COMPLETED)
                if not moving.cancel():
                    pause = _FIRST_PAUSE
                    continue
                _refused(streams[0])
                self._have = frozenset()
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                self.missed()
        finally:
            _end(streams)

    def _opened(self) -> list["asyncio.Task[Any]"]:
        """The stream for what is wanted now; none where that is nothing."""
        wanted: dict[str, Any] = {key: True for key in LISTS_CHANGED if self._tells(key)}
        self._asked = self.followed()
        uris = sorted(self._asked)
        if uris:
            wanted["resourceSubscriptions"] = uris
        if not wanted:
            return []
        asking = self.link.request("subscriptions/listen", {"notifications": wanted}, timeout=None)
        return [asyncio.ensure_future(asking)]

    def _tells(self, key: str) -> bool:
        offers: Any = self.link.greeting.capabilities.get(key.removesuffix("ListChanged"))
        return isinstance(offers, Mapping) and bool(cast("Any", offers).get("listChanged"))


def _end(streams: list["asyncio.Task[Any]"]) -> None:
    for stream in streams:
        if not stream.cancel() and not stream.cancelled():
            stream.exception()  # nobody wants to know any more


def _refused(stream: "asyncio.Task[Any]") -> None:
    """Raise what a server has refused for good; a stream that only broke is asked for again."""
    error = stream.exception()
    if isinstance(error, RpcError) and error.fault is None:
        raise error
