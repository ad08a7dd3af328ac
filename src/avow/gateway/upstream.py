"""One server behind the gateway: connected when it is needed, and again after it was lost."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from avow.catalog import Tool, read_tools
from avow.connect import RpcError, origin_of
from avow.connect.link import CLIENT_INFO, Link, open_link
from avow.connect.listing import LISTS, list_all
from avow.connect.target import CommandTarget, UrlTarget
from avow.connect.watch import Watch
from avow.errors import AvowError, UnreachableError
from avow.intent import Trust

_log: Final = logging.getLogger(__name__)

_FRESH_SECONDS: Final = 30.0
"""How long a list is taken as it was; a server that says that it changed is asked at once."""

_PAUSE_SECONDS: Final = 1.0
"""After a failure to connect the same answer is given for so long, so that a dead server is not
started anew for every call."""

_AGAIN_SECONDS: Final = 2.0
"""How long a caller waits for a server that could not be reached the last time. A server that
hangs would else hold up every list of the others, again and again."""


@dataclass(slots=True)
class _Connecting:
    """One try to connect, which any number of callers wait for; `before` is why the last failed."""

    before: AvowError | None = None
    done: anyio.Event = field(default_factory=anyio.Event)
    link: Link | None = None
    error: AvowError | None = None
    at: float = 0.0

    @property
    def is_over(self) -> bool:
        """Whether a new try is due: the link was lost, or the pause after a failure has passed."""
        if not self.done.is_set():
            return False
        if self.link is not None:
            return self.link.closed.is_set()
        return time.monotonic() - self.at > _PAUSE_SECONDS


@dataclass(slots=True)
class _Cached:
    at: float
    entries: list[Any]


class Upstream:
    """A server and the connection to it.

    `run` holds the connection; the rest may be called from any task and raises an `AvowError`
    when the server cannot be had.
    """

    def __init__(
        self,
        target: CommandTarget | UrlTarget,
        *,
        timeout: float,
        trust: Trust = Trust.CAUTIOUS,
        watch: Watch | None = None,
    ) -> None:
        self.name = target.name
        self.target = target
        self._timeout = timeout
        self._trust = trust
        self._watch = watch
        self._origin = origin_of(target)
        self._try: _Connecting | None = None
        self._wanted = anyio.Event()
        self._lists: dict[str, _Cached] = {}
        self._named: dict[str, Tool] = {}
        self._tools: tuple[list[Any], list[Tool], list[str]] | None = None

    @property
    def is_up(self) -> bool | None:
        """Whether it is connected; `None` where nothing has wanted it yet."""
        attempt = self._try
        if attempt is None or (attempt.before is None and not attempt.done.is_set()):
            return None
        return attempt.link is not None and not attempt.link.closed.is_set()

    @property
    def sizes(self) -> Mapping[str, int]:
        """How many entries each of its lists holds, of those that are remembered."""
        return {method: len(cached.entries) for method, cached in self._lists.items()}

    async def run(self) -> None:
        """Connect whenever a connection is wanted, and hold it until it is lost or cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted = anyio.Event()
            if self._try is not None:
                await self._hold(self._try)

    async def _hold(self, attempt: _Connecting) -> None:
        self._lists.clear()
        try:
            async with open_link(
                self.target,
                timeout=self._timeout,
                client_info=CLIENT_INFO,
                notified=self._notified,
                watch=self._watch,
            ) as link:
                attempt.link = link
                attempt.done.set()
                await link.closed.wait()
                _log.warning("%s: the connection has ended", self.name)
        except AvowError as error:
            attempt.error = error
        except Exception as error:  # noqa: BLE001 - the edge of a connection: its transport may end in any way
            _log.warning("%s: the connection broke: %s", self.name, error)
            attempt.error = attempt.error or UnreachableError(str(error), where=self.name)
        finally:
            if attempt.link is not None:
                attempt.link.closed.set()
            attempt.at = time.monotonic()
            attempt.done.set()

    async def link(self) -> Link:
        """The connection, made if there is none; the error of the last try where it fails."""
        attempt = self._try
        if attempt is None or attempt.is_over:
            attempt = self._try = _Connecting(before=attempt and attempt.error)
            self._wanted.set()
        if not attempt.done.is_set():
            with anyio.move_on_after(_AGAIN_SECONDS if attempt.before else None):
                await attempt.done.wait()
        if attempt.link is None:
            error = attempt.error or attempt.before
            raise error or UnreachableError("no connection", where=self.name)
        return attempt.link

    async def entries(self, method: str, *, is_fresh: bool = False) -> list[Any]:
        """All entries of one list, as received and not older than 30 s, or asked for now."""
        link = await self.link()
        if not _offers(link.greeting.capabilities, method):
            return []
        cached = self._lists.get(method)
        if is_fresh or cached is None or time.monotonic() - cached.at > _FRESH_SECONDS:
            entries = await self._ask_list(link, method)
            cached = self._lists[method] = _Cached(time.monotonic(), entries)
        return cached.entries

    async def _ask_list(self, link: Link, method: str) -> list[Any]:
        try:
            with anyio.fail_after(self._timeout):
                return await list_all(link, method, timeout=self._timeout)
        except (RpcError, TimeoutError) as error:
            raise UnreachableError(f"{method} failed: {error}", where=self.name) from error

    async def tools(self, *, is_fresh: bool = False) -> tuple[list[Tool], list[str]]:
        """Its tools, and what is wrong with entries of its list that are none."""
        entries = await self.entries("tools/list", is_fresh=is_fresh)
        if self._tools is None or self._tools[0] is not entries:
            found = read_tools(self.name, entries, trust=self._trust, origin=self._origin)
            self._tools = (entries, *found)
            self._named = {one.qualified_name: one for one in reversed(found[0])}
        return self._tools[1], self._tools[2]

    async def tool(self, qualified_name: str, *, is_fresh: bool = False) -> Tool | None:
        """Its tool of this name; of two with one name the first."""
        await self.tools(is_fresh=is_fresh)
        return self._named.get(qualified_name)

    async def _notified(self, method: str, _params: Mapping[str, Any]) -> None:
        """Forget a list that the server says has changed."""
        kind = method.removeprefix("notifications/").removesuffix("/list_changed")
        for known in LISTS:
            if known.startswith(f"{kind}/"):
                self._lists.pop(known, None)


def _offers(capabilities: Mapping[str, Any], method: str) -> bool:
    return method.split("/", 1)[0] in capabilities
