"""One principal's connection to one server: made when needed, and again after it was lost."""

import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import anyio

from sayso.beside import beside
from sayso.catalog import Tool
from sayso.connect import (
    CLIENT_INFO,
    INTERNAL_ERROR,
    LISTS,
    NO_CLIENT_TO_ASK,
    Authenticator,
    CommandTarget,
    Greeting,
    Link,
    Listed,
    RpcError,
    UrlTarget,
    Watch,
    open_link,
    read_list,
)
from sayso.errors import AuthenticationError, SaysoError, TimedOutError, UnreachableError
from sayso.gateway.asking import RELAYED
from sayso.gateway.health import Health
from sayso.gateway.lists import Lists, Shared
from sayso.gateway.notifications import Notifier
from sayso.gateway.receipts import without_bytecode
from sayso.gateway.subscriptions import ACKNOWLEDGED, Subscription
from sayso.gateway.tool_cache import ToolCache, ToolList

if TYPE_CHECKING:
    from sayso.intent import Package

_log: Final = logging.getLogger(__name__)

_PAUSE_SECONDS: Final = 1.0
_LONGEST_PAUSE: Final = 60.0
"""After a failure the same answer is given for a while, so that a dead server is not started again
for every call: longer after each failure, with jitter."""

_HELD_SECONDS: Final = 30.0
"""A connection that held for so long has begun well: what comes after it is a first failure."""

_AGAIN_SECONDS: Final = 2.0
"""How long a caller waits for a server that could not be reached the last time: a server that
hangs must not hold up every list of the others."""

_PATIENCE_SECONDS: Final = 5.0
_SLOW_SECONDS: Final = 0.5
"""How long a list of many servers waits for one; the second for one that was slow the last time."""

T = TypeVar("T")


@dataclass(slots=True)
class _Connecting:
    """One try to connect, which any number of callers wait for; `before` is why the last failed."""

    before: SaysoError | None = None
    done: anyio.Event = field(default_factory=anyio.Event)
    link: Link | None = None
    error: SaysoError | None = None
    at: float = 0.0
    pause: float = 0.0

    @property
    def is_held(self) -> bool:
        return self.link is not None and not self.link.closed.is_set()

    @property
    def is_over(self) -> bool:
        """Whether another try is due: the link was lost, and the pause is over."""
        is_due = self.done.is_set() and not self.is_held
        return is_due and time.monotonic() - self.at >= self.pause


class ServerConnection:
    """A server, and the connection to it on behalf of one principal.

    `proof` goes with every request. `run` holds the connection; the rest may be called from any
    task and raises a `SaysoError` when the server is unavailable.
    """

    def __init__(
        self,
        target: CommandTarget | UrlTarget,
        tool_cache: ToolCache,
        *,
        timeout: float,
        proof: Authenticator | None = None,
        shared: Shared | None = None,
        notifier: Notifier | None = None,
        subject: str | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.name = target.name
        self.health = Health()
        self.used = time.monotonic()
        self.is_slow = False
        self.listed_at: float | None = None
        self._target = target
        self._proof = proof
        self._tool_cache = tool_cache
        self._timeout = timeout
        self._watch = watch
        self._try: _Connecting | None = None
        self._wanted = anyio.Event()
        self._lists = Lists(self._ask, {} if shared is None else shared)
        self._tool_list: ToolList | None = None
        self.package: Package | None = None
        self._failures = 0
        self._is_over = False
        self._notifier = notifier or Notifier()
        self._subject = subject
        self._subscription: Subscription | None = None
        self._lacking: set[str] = set()
        self._latest: dict[str, list[Any]] = {}
        self._greeting: Greeting | None = None

    @property
    def sizes(self) -> Mapping[str, int]:
        return self._lists.sizes

    @property
    def greeting(self) -> Greeting | None:
        """What the server said of itself when it was last connected."""
        return self._greeting

    @property
    def said(self) -> str:
        """The last lines of its process's stderr, secrets masked; empty without a process."""
        if self._try is None or self._try.link is None:
            return ""
        return self._try.link.stderr_log.tail()

    def retry(self) -> None:
        """Let the next caller try to connect, however lately that failed."""
        if self._try is not None:
            self._try.pause = 0.0

    @property
    def is_busy(self) -> bool:
        """Whether a connection is being made, or in use, or has listeners."""
        if self._try is None:
            return False
        return self.is_answering or self._notifier.has(self.name, self._subject)

    @property
    def is_answering(self) -> bool:
        """Whether a connection is being made, or a request is under way."""
        attempt = self._try
        if attempt is None:
            return False
        if not attempt.done.is_set():
            return True
        return attempt.link is not None and attempt.link.pending > 0

    @property
    def _is_on(self) -> bool:
        return self._notifier.switches.has_server(self.name)

    @property
    def is_connected(self) -> bool:
        return self._try is not None and self._try.is_held

    async def run(self) -> None:
        """Connect whenever a connection is wanted, and hold it until it is lost or cancelled."""
        while not self._is_over:
            await self._due()
            self._wanted = anyio.Event()
            if self._try is not None and not self._try.done.is_set() and not self._is_over:
                await self._hold(self._try)

    async def _due(self) -> None:
        """Wait until a caller wants a connection, or it is time to try again for listeners.

        They were given lists without this server, and most clients never ask for one again.
        """
        while True:
            failed = self._try
            error = failed and failed.error
            # A server that refuses the credentials needs a person first.
            is_refused = isinstance(error, AuthenticationError)
            if failed is None or error is None or is_refused or not self._lacking:
                return await self._wanted.wait()
            with anyio.move_on_after(max(failed.pause, _PAUSE_SECONDS)):
                return await self._wanted.wait()
            if self._is_on and self._notifier.has(self.name, self._subject):
                self._try = _Connecting(before=error)
                return None

    def end(self) -> None:
        """End the connection for good; later callers get another one."""
        self._is_over = True
        self._wanted.set()
        if self._try is not None and self._try.link is not None:
            self._try.link.closed.set()

    async def _hold(self, attempt: _Connecting) -> None:
        self._lists.clear()
        began = time.monotonic()
        try:
            await self._look()
            async with open_link(
                without_bytecode(self._target, self.package),
                timeout=self._timeout,
                client_info=CLIENT_INFO,
                capabilities=RELAYED,
                notified=self._notified,
                asked=_nobody,
                watch=self._watch,
                proof=self._proof,
            ) as link:
                attempt.link = link
                self._greeting = link.greeting
                self._subscription = self._subscribe(link)
                self.health.is_up(link.version)
                attempt.done.set()
                began = time.monotonic()
                async with beside(self._subscription.run):
                    await link.closed.wait()
                if not self._is_over:
                    _log.warning("%s: the connection has ended", self.name)
        except SaysoError as error:
            attempt.error = error
        except Exception as error:  # noqa: BLE001 - the edge of a connection: its transport may end in any way
            _log.warning("%s: the connection broke: %s", self.name, error)
            attempt.error = attempt.error or UnreachableError(str(error), where=self.name)
        finally:
            self._lost(attempt, time.monotonic() - began)

    async def _look(self) -> None:
        """Find the package that is about to run; tools of another are forgotten."""
        receipts = self._tool_cache.receipts
        package = receipts and await receipts.look()
        if package != self.package:
            self.package = package
            self._tool_list = None

    def _lost(self, attempt: _Connecting, held: float) -> None:
        """Note how it ended, and how long to pause: not at all after the first loss of a link."""
        self._subscription = None
        was_up = attempt.link is not None
        if attempt.link is not None:
            attempt.link.closed.set()
            if held > _HELD_SECONDS:
                self._failures = 0
        self._failures += 1
        attempt.pause = pause_after(self._failures - was_up)
        if self._is_over:
            self.health.is_idle()
        else:
            self.health.is_failing(str(attempt.error or "the connection has ended"))
        attempt.at = time.monotonic()
        attempt.done.set()

    async def link(self) -> Link:
        """Return the connection, made if there is none. Raises the error of the last try.

        Raises `UnreachableError` if the policy switches the server off, even if it is connected.
        """
        if not self._is_on:
            fix = "Take its name out of [off] in the policy."
            raise UnreachableError("the policy switches it off", where=self.name, fix=fix)
        self.used = time.monotonic()
        attempt = self._try
        if attempt is not None and attempt.is_held:
            return cast("Link", attempt.link)
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
        """Return the entries of one list, as received: as known, or asked for now if `is_fresh`.

        If they are known there is no wait, unless their server says that they have changed; then
        only a short one if they `may_be_stale`.
        """
        link = await self.link()
        if method.partition("/")[0] not in link.greeting.capabilities:
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
        if method in self._lacking:
            # Clients that were given a list without it ask again, and then wait for the rest.
            self._lacking.discard(method)
            changed = f"notifications/{method.partition('/')[0]}/list_changed"
            self._notifier.tell(self.name, self._subject, changed, {})
        if method != "tools/list":
            return listed
        # Read and judged here, so that no call waits for that either.
        self.listed_at = time.time()
        self._tool_list = await self._tool_cache.read(listed.entries, self.package)
        return replace(listed, entries=self._tool_list.entries)

    async def tools(
        self, *, is_fresh: bool = False, may_be_stale: bool = False
    ) -> tuple[list[Tool], list[str]]:
        """Return its tools, and what is wrong with entries of its list that are none."""
        tool_list = await self._current_list(is_fresh=is_fresh, may_be_stale=may_be_stale)
        if tool_list is None:
            return [], []
        return tool_list.tools, tool_list.problems

    async def listed(self) -> tuple[list[Tool], list[str]]:
        """Return its tools for a list of many servers. Raises `TimedOutError` if it is slow."""
        return await self._soon("tools/list", self.tools)

    async def listed_entries(self, method: str) -> list[Any]:
        entries = await self._soon(method, partial(self.entries, method))
        self._latest[method] = entries
        return entries

    def latest_entries(self, method: str) -> list[Any]:
        """Return the list that the server gave last, also on an earlier connection."""
        return self._latest.get(method, [])

    async def _soon(self, method: str, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask with a short timeout; after it, send list_changed when the answer arrives."""
        seconds = _SLOW_SECONDS if self.is_slow else _PATIENCE_SECONDS
        with anyio.move_on_after(min(seconds, self._timeout)):
            try:
                found = await ask()
            except SaysoError:
                self._lack(method)
                raise
            self.is_slow = False
            return found
        self.is_slow = True
        self._lack(method)
        what = f"it has not listed what it has within {seconds:g} s"
        fix = "It is listed as soon as it answers."
        raise TimedOutError(what, where=self.name, fix=fix)

    def _lack(self, method: str) -> None:
        self._lacking.add(method)
        self._wanted.set()

    async def tool(self, qualified_name: str, *, is_fresh: bool = False) -> Tool | None:
        """Return its tool of this name; of two with one name the first."""
        if not is_fresh and (at_hand := self._at_hand(qualified_name)) is not None:
            return at_hand
        tool_list = await self._current_list(is_fresh=is_fresh, may_be_stale=True)
        found = tool_list and tool_list.named.get(qualified_name)
        if found is None and tool_list is not None and not self._lists.is_settled("tools/list"):
            tool_list = await self._current_list(settled=True)
            found = tool_list and tool_list.named.get(qualified_name)
        return found

    async def _current_list(
        self, *, is_fresh: bool = False, may_be_stale: bool = False, settled: bool = False
    ) -> ToolList | None:
        if settled:
            entries = await self._lists.settled("tools/list")
        else:
            entries = await self.entries("tools/list", is_fresh=is_fresh, may_be_stale=may_be_stale)
        if not entries:
            return None
        tool_list = self._tool_list
        if (
            tool_list is None
            or tool_list.entries is not entries
            or tool_list.package != self.package
        ):
            # It was read for another principal, and is the same for all.
            tool_list = self._tool_list = await self._tool_cache.read(entries, self.package)
        elif tool_list.is_due:
            await self._tool_cache.judge_again(tool_list)
        return tool_list

    def _at_hand(self, qualified_name: str) -> Tool | None:
        """Return its tool if there is nothing to wait for: the server is up, and its list known."""
        tool_list = self._tool_list
        is_reachable = self.is_connected and self._is_on
        if (
            tool_list is None
            or tool_list.is_due
            or not is_reachable
            or tool_list.package != self.package
        ):
            return None
        if self._lists.at_hand("tools/list") is not tool_list.entries:
            return None
        self.used = time.monotonic()
        return tool_list.named.get(qualified_name)

    @property
    def remembered(self) -> list[Tool] | None:
        """The tools of the list that is remembered, if there is one."""
        return self._tool_list and list(self._tool_list.named.values())

    def known(self, qualified_name: str) -> Tool | None:
        """Return the tool of this name, if the list that is remembered has it."""
        return self._tool_list and self._tool_list.named.get(qualified_name)

    def move(self) -> None:
        if self._subscription is not None:
            self._subscription.move()

    async def follow(self, uri: str) -> None:
        """Follow one resource. Raises `RpcError` if the server does not offer that."""
        await self.link()
        if self._subscription is not None:
            await self._subscription.follow(uri)

    async def hear(self, level: str) -> None:
        if self._subscription is not None:
            await self._subscription.set_level(level)

    def _subscribe(self, link: Link) -> Subscription:
        if self.health.opened or self._lacking:
            self._lacking.clear()
            self._missed()
        return Subscription(
            link,
            self._timeout,
            followed=lambda: self._notifier.followed(self.name, self._subject),
            missed=self._missed,
            level=self._notifier.level(self._subject),
        )

    def _missed(self) -> None:
        for method in LISTS:
            self._lists.change(method)
        self._notifier.tell_lists(self.name, self._subject)

    async def _notified(self, method: str, params: Mapping[str, Any]) -> None:
        if method == ACKNOWLEDGED:
            if self._subscription is not None:
                self._subscription.acknowledge(params)
            return
        kind = method.removeprefix("notifications/").removesuffix("/list_changed")
        for known in LISTS:
            if known.startswith(f"{kind}/"):
                self._lists.change(known)
        told = {key: value for key, value in params.items() if key != "_meta"}
        self._notifier.tell(self.name, self._subject, method, told)


def pause_after(failures: int) -> float:
    """Return the seconds to pause after so many failures in a row, with jitter."""
    if failures < 1:
        return 0.0
    longest = min(_LONGEST_PAUSE, _PAUSE_SECONDS * 2.0 ** min(failures - 1, 16))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - no secret, only spread


async def _nobody(method: str, _params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse a server's question outside of calls; an empty list of roots would be remembered."""
    raise RpcError(INTERNAL_ERROR, f"{NO_CLIENT_TO_ASK} {method}")
