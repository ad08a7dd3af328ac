"""One principal's connection to one server: made when it is needed, and again after it was lost."""

import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeVar

import anyio

from avow.catalog import Tool
from avow.connect import RpcError
from avow.connect.link import CLIENT_INFO, Link, open_link
from avow.connect.listing import LISTS, Listed, read_list
from avow.connect.target import CommandTarget, UrlTarget
from avow.connect.watch import Watch
from avow.errors import AvowError, TimedOutError, UnreachableError
from avow.gateway.health import Health
from avow.gateway.lists import Lists, Shared
from avow.gateway.roster import Roll, Roster

_log: Final = logging.getLogger(__name__)

_PAUSE_SECONDS: Final = 1.0
_LONGEST_PAUSE: Final = 60.0
"""After a failure the same answer is given for a while, so that a dead server is not started anew
for every call: longer after each failure, and not for the same time everywhere."""

_HELD_SECONDS: Final = 30.0
"""A connection that held for so long has begun well: what comes after it is a first failure."""

_AGAIN_SECONDS: Final = 2.0
"""How long a caller waits for a server that could not be reached the last time. A server that
hangs would else hold up every list of the others, again and again."""

_PATIENCE_SECONDS: Final = 5.0
_SLOW_SECONDS: Final = 0.5
"""How long a list of many servers waits for one; the second for one that was slow the last time."""

T = TypeVar("T")
Prepare = Callable[[], Awaitable[CommandTarget | UrlTarget]]
"""Gives the target with all that is sent to it on behalf of one principal."""


@dataclass(slots=True)
class _Connecting:
    """One try to connect, which any number of callers wait for; `before` is why the last failed.

    Another is due when the link was lost, and after `pause` seconds.
    """

    before: AvowError | None = None
    done: anyio.Event = field(default_factory=anyio.Event)
    link: Link | None = None
    error: AvowError | None = None
    at: float = 0.0
    pause: float = 0.0

    @property
    def is_over(self) -> bool:
        if not self.done.is_set() or (self.link is not None and not self.link.closed.is_set()):
            return False
        return time.monotonic() - self.at >= self.pause


class Contact:
    """A server, and the connection to it on behalf of one principal.

    `run` holds the connection; the rest may be called from any task and raises an `AvowError`
    when the server cannot be had.
    """

    def __init__(
        self,
        name: str,
        prepare: Prepare,
        roster: Roster,
        *,
        timeout: float,
        shared: Shared | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.name = name
        self.health = Health()
        self.used = time.monotonic()
        self.is_slow = False
        self._prepare = prepare
        self._roster = roster
        self._timeout = timeout
        self._watch = watch
        self._try: _Connecting | None = None
        self._wanted = anyio.Event()
        self._lists = Lists(self._ask, shared if shared is not None else {})
        self._roll: Roll | None = None
        self._failures = 0
        self._is_over = False

    @property
    def sizes(self) -> Mapping[str, int]:
        """How many entries each of its lists holds, of those that are remembered."""
        return self._lists.sizes

    @property
    def is_busy(self) -> bool:
        """Whether a connection is being made, or used just now."""
        attempt = self._try
        if attempt is None:
            return False
        return not attempt.done.is_set() or (attempt.link is not None and attempt.link.pending > 0)

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection."""
        link = self._try and self._try.link
        return link is not None and not link.closed.is_set()

    async def run(self) -> None:
        """Connect whenever a connection is wanted, and hold it until it is lost or cancelled."""
        while not self._is_over:
            await self._wanted.wait()
            self._wanted = anyio.Event()
            if self._try is not None and not self._is_over:
                await self._hold(self._try)

    def end(self) -> None:
        """Let go of the connection for good; whoever comes later gets another contact."""
        self._is_over = True
        self._wanted.set()
        if self._try is not None and self._try.link is not None:
            self._try.link.closed.set()

    async def _hold(self, attempt: _Connecting) -> None:
        self._lists.clear()
        began = time.monotonic()
        try:
            target = await self._prepare()
            async with open_link(
                target,
                timeout=self._timeout,
                client_info=CLIENT_INFO,
                notified=self._notified,
                watch=self._watch,
            ) as link:
                attempt.link = link
                self.health.is_up(link.version)
                attempt.done.set()
                began = time.monotonic()
                await link.closed.wait()
                if not self._is_over:
                    _log.warning("%s: the connection has ended", self.name)
        except AvowError as error:
            attempt.error = error
        except Exception as error:  # noqa: BLE001 - the edge of a connection: its transport may end in any way
            _log.warning("%s: the connection broke: %s", self.name, error)
            attempt.error = attempt.error or UnreachableError(str(error), where=self.name)
        finally:
            self._lost(attempt, time.monotonic() - began)

    def _lost(self, attempt: _Connecting, held: float) -> None:
        """Note how it ended, and how long to pause: not at all after the first loss of a link."""
        was_up = attempt.link is not None
        if attempt.link is not None:
            attempt.link.closed.set()
        self._failures = 1 if was_up and held > _HELD_SECONDS else self._failures + 1
        attempt.pause = pause_after(self._failures - was_up)
        if self._is_over:
            self.health.is_idle()
        else:
            self.health.is_failing(str(attempt.error or "the connection has ended"))
        attempt.at = time.monotonic()
        attempt.done.set()

    async def link(self) -> Link:
        """The connection, made if there is none; the error of the last try where it fails."""
        self.used = time.monotonic()
        attempt = self._try
        if attempt is None or attempt.is_over:
            attempt = self._try = _Connecting(before=attempt and attempt.error)
            self._wanted.set()
        if not attempt.done.is_set():
            with anyio.move_on_after(_AGAIN_SECONDS if attempt.before else None):
                await attempt.done.wait()
        if attempt.link is None or attempt.link.closed.is_set():
            error = attempt.error or attempt.before
            raise error or UnreachableError("its connection has ended again", where=self.name)
        return attempt.link

    async def entries(
        self, method: str, *, is_fresh: bool = False, may_be_stale: bool = False
    ) -> list[Any]:
        """All entries of one list, as received: as they are known, or asked for now if `is_fresh`.

        Where they are known nobody waits for them, unless their server says that they have
        changed; then only for a moment where they `may_be_stale`.
        """
        link = await self.link()
        if not _offers(link.greeting.capabilities, method):
            return []
        if is_fresh:
            return await self._lists.read(method)
        return await self._lists.get(method, may_be_stale=may_be_stale)

    async def _ask(self, method: str) -> Listed:
        link = await self.link()
        try:
            with anyio.fail_after(self._timeout):
                listed = await read_list(link, method, timeout=self._timeout)
        except (RpcError, TimeoutError) as error:
            raise UnreachableError(f"{method} failed: {error}", where=self.name) from error
        if method != "tools/list":
            return listed
        # Read and judged here, so that no call waits for that either.
        self._roll = await self._roster.read(listed.entries)
        return replace(listed, entries=self._roll.entries)

    async def tools(
        self, *, is_fresh: bool = False, may_be_stale: bool = False
    ) -> tuple[list[Tool], list[str]]:
        """Its tools, and what is wrong with entries of its list that are none."""
        roll = await self._rolled(is_fresh=is_fresh, may_be_stale=may_be_stale)
        return (roll.tools, roll.problems) if roll else ([], [])

    async def listed(self) -> tuple[list[Tool], list[str]]:
        """Its tools for a list of many servers': one that is slow is waited for only for a while.

        Then it goes on beside, and raises `TimedOutError`.
        """
        return await self._soon(self.tools)

    async def listed_entries(self, method: str) -> list[Any]:
        """The same of any list."""
        return await self._soon(partial(self.entries, method))

    async def _soon(self, ask: Callable[[], Awaitable[T]]) -> T:
        seconds = _SLOW_SECONDS if self.is_slow else _PATIENCE_SECONDS
        with anyio.move_on_after(min(seconds, self._timeout)):
            found = await ask()
            self.is_slow = False
            return found
        self.is_slow = True
        what = f"it has not listed what it has within {seconds:g} s"
        fix = "It is listed as soon as it answers."
        raise TimedOutError(what, where=self.name, fix=fix)

    async def tool(self, qualified_name: str, *, is_fresh: bool = False) -> Tool | None:
        """Its tool of this name; of two with one name the first."""
        roll = await self._rolled(is_fresh=is_fresh, may_be_stale=True)
        found = roll.named.get(qualified_name) if roll else None
        if found is None and roll is not None and not self._lists.is_settled("tools/list"):
            roll = await self._rolled(settled=True)
            found = roll.named.get(qualified_name) if roll else None
        return found

    async def _rolled(
        self, *, is_fresh: bool = False, may_be_stale: bool = False, settled: bool = False
    ) -> Roll | None:
        if settled:
            entries = await self._lists.settled("tools/list")
        else:
            entries = await self.entries("tools/list", is_fresh=is_fresh, may_be_stale=may_be_stale)
        if not entries:
            return None
        roll = self._roll
        if roll is None or roll.entries is not entries:
            # It was read for another principal, and is everybody's.
            roll = self._roll = await self._roster.read(entries)
        elif roll.is_due:
            await self._roster.judge_again(roll)
        return roll

    async def _notified(self, method: str, _params: Mapping[str, Any]) -> None:
        """Read a list again that the server says has changed."""
        kind = method.removeprefix("notifications/").removesuffix("/list_changed")
        for known in LISTS:
            if known.startswith(f"{kind}/"):
                self._lists.change(known)


def pause_after(failures: int) -> float:
    """How many seconds to pause after so many failures in a row; not the same everywhere."""
    if failures < 1:
        return 0.0
    longest = min(_LONGEST_PAUSE, _PAUSE_SECONDS * 2.0 ** min(failures - 1, 16))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - no secret, only spread


def _offers(capabilities: Mapping[str, Any], method: str) -> bool:
    return method.split("/", 1)[0] in capabilities
