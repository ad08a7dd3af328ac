"""A connection to one server for one principal, opened when needed and reopened after a loss."""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import anyio

from sayso.beside import beside
from sayso.catalog import Tool
from sayso.connect import (
    CLIENT_INFO,
    LISTS,
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
from sayso.gateway.asking import RELAYED, refuse_question
from sayso.gateway.backoff import ConnectionAttempt, pause_after
from sayso.gateway.health import Health
from sayso.gateway.lists import Lists, Shared
from sayso.gateway.notifications import Notifier
from sayso.gateway.receipts import without_bytecode
from sayso.gateway.subscriptions import ACKNOWLEDGED, Subscription
from sayso.gateway.tool_cache import ToolCache, ToolList

if TYPE_CHECKING:
    from sayso.intent import Package

_log: Final = logging.getLogger(__name__)

_HELD_SECONDS: Final = 30.0
"""A connection that lasted this long was healthy, so its loss counts as the first failure."""

_AGAIN_SECONDS: Final = 2.0
"""The time that a caller waits for a new attempt if the attempt before it failed."""

_PATIENCE_SECONDS: Final = 5.0
"""The time that a list of many servers waits for each server."""
_SLOW_SECONDS: Final = 0.5
"""The time that such a list waits for a server that was too slow the last time."""

T = TypeVar("T")


class ServerConnection:
    """A server, and the connection to it on behalf of one principal.

    `proof` authenticates every request. `run` keeps the connection open. Other methods may be
    called from any task, and raise a `SaysoError` if the server is unavailable.
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
        self._attempt: ConnectionAttempt | None = None
        self._wanted = anyio.Event()
        self._lists = Lists(self._request_list, {} if shared is None else shared)
        self._tool_list: ToolList | None = None
        self.package: Package | None = None
        self._failures = 0
        self._is_over = False
        self._notifier = notifier or Notifier()
        self._subject = subject
        self._subscription: Subscription | None = None
        self._missing_lists: set[str] = set()
        self.latest: dict[str, list[Any]] = {}
        """The last entries of each list, which may come from an earlier connection."""
        self.greeting: Greeting | None = None

    @property
    def sizes(self) -> Mapping[str, int]:
        return self._lists.sizes

    @property
    def stderr_tail(self) -> str:
        """Return the last stderr lines of the server's process, with secrets masked, or `""`."""
        if self._attempt is None or self._attempt.link is None:
            return ""
        return self._attempt.link.stderr_log.tail()

    def retry(self) -> None:
        """Let the next caller try to connect, even just after a failure."""
        if self._attempt is not None:
            self._attempt.pause = 0.0

    @property
    def is_busy(self) -> bool:
        """Return whether the connection is being opened, is in use, or has listeners."""
        if self._attempt is None:
            return False
        return self.is_answering or self._notifier.has(self.name, self._subject)

    @property
    def is_answering(self) -> bool:
        """Return whether the connection is being opened, or a request is active."""
        attempt = self._attempt
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
        return self._attempt is not None and self._attempt.is_held

    async def run(self) -> None:
        """Connect whenever a caller needs the connection, and keep it until lost or cancelled."""
        while not self._is_over:
            await self._due()
            self._wanted = anyio.Event()
            if self._attempt and not self._attempt.done.is_set() and not self._is_over:
                await self._hold(self._attempt)

    async def _due(self) -> None:
        """Wait until a caller needs the connection, or the next try for listeners is due."""
        # Listeners have lists without this server, and most do not request them again unprompted.
        while True:
            failed = self._attempt
            error = failed and failed.error
            # If the server refuses the credentials, trying again is useless until a person acts.
            is_refused = isinstance(error, AuthenticationError)
            if failed is None or error is None or is_refused or not self._missing_lists:
                return await self._wanted.wait()
            with anyio.move_on_after(failed.pause_for_listeners):
                return await self._wanted.wait()
            if self._is_on and self._notifier.has(self.name, self._subject):
                self._attempt = ConnectionAttempt(before=error)
                return None

    def end(self) -> None:
        """End the connection for good; later callers get another one."""
        self._is_over = True
        self._wanted.set()
        if self._attempt is not None and self._attempt.link is not None:
            self._attempt.link.closed.set()

    async def _hold(self, attempt: ConnectionAttempt) -> None:
        self._lists.clear()
        began = time.monotonic()
        try:
            await self._find_package()
            async with open_link(
                without_bytecode(self._target, self.package),
                timeout=self._timeout,
                client_info=CLIENT_INFO,
                capabilities=RELAYED,
                notified=self._notified,
                asked=refuse_question,
                watch=self._watch,
                proof=self._proof,
            ) as link:
                attempt.link = link
                self.greeting = link.greeting
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
        except Exception as error:  # noqa: BLE001 - a transport may end in any way
            _log.warning("%s: the connection broke: %s", self.name, error)
            attempt.error = attempt.error or UnreachableError(str(error), where=self.name)
        finally:
            self._lost(attempt, time.monotonic() - began)

    async def _find_package(self) -> None:
        """Find the package that is about to run; if it has changed, forget the cached tools."""
        receipts = self._tool_cache.receipts
        package = receipts and await receipts.find_package()
        if package != self.package:
            self.package = package
            self._tool_list = None

    def _lost(self, attempt: ConnectionAttempt, seconds: float) -> None:
        """Record the end of an attempt and set its pause: none after the first loss of a link."""
        self._subscription = None
        was_up = attempt.link is not None
        if attempt.link is not None:
            attempt.link.closed.set()
            if seconds > _HELD_SECONDS:
                self._failures = 0
        self._failures += 1
        attempt.pause = pause_after(self._failures - was_up)
        if self._is_over:
            self.health.is_idle()
        else:
            self.health.is_failing(str(attempt.error or "the connection has ended"))
        attempt.ended_at = time.monotonic()
        attempt.done.set()

    async def link(self) -> Link:
        """Return the open link, or open one. Raises the error of the last attempt.

        Raises `UnreachableError` if the policy switches the server off, even with an open link.
        """
        if not self._is_on:
            fix = "Remove the server's name from [off] in the policy."
            raise UnreachableError("the policy switches the server off", where=self.name, fix=fix)
        self.used = time.monotonic()
        attempt = self._attempt
        if attempt is not None and attempt.is_held:
            return cast("Link", attempt.link)
        if attempt is None or attempt.is_over:
            attempt = self._attempt = ConnectionAttempt(before=attempt and attempt.error)
            self._wanted.set()
        if not attempt.done.is_set():
            with anyio.move_on_after(_AGAIN_SECONDS if attempt.before else None):
                await attempt.done.wait()
        if attempt.link is None or attempt.link.closed.is_set():
            error = attempt.error or attempt.before
            raise error or UnreachableError("the connection has ended again", where=self.name)
        return attempt.link

    async def entries(
        self, method: str, *, is_fresh: bool = False, may_be_stale: bool = False
    ) -> list[Any]:
        """Return a list's entries as received; from the cache (`Lists.get`) unless `is_fresh`."""
        link = await self.link()
        if method.partition("/")[0] not in link.greeting.capabilities:
            return []
        if is_fresh:
            return await self._lists.read(method)
        return await self._lists.get(method, may_be_stale=may_be_stale)

    async def _request_list(self, method: str) -> Listed:
        link = await self.link()
        try:
            with anyio.fail_after(self._timeout):
                listed = await read_list(link, method, timeout=self._timeout)
        except (RpcError, TimeoutError) as error:
            raise UnreachableError(f"{method} failed: {error}", where=self.name) from error
        if method in self._missing_lists:
            # Tell clients that got a list without this server to request the list again.
            self._missing_lists.discard(method)
            changed = f"notifications/{method.partition('/')[0]}/list_changed"
            self._notifier.tell(self.name, self._subject, changed, {})
        if method != "tools/list":
            return listed
        # Read and judge the tools now, so that no call waits for that.
        self.listed_at = time.time()
        self._tool_list = await self._tool_cache.read(listed.entries, self.package)
        return replace(listed, entries=self._tool_list.entries)

    async def tools(self) -> tuple[list[Tool], list[str]]:
        """Return the server's tools, and the problems of invalid entries in its list."""
        tool_list = await self._read(await self.entries("tools/list"))
        return (tool_list.tools, tool_list.problems) if tool_list else ([], [])

    async def listed(self) -> tuple[list[Tool], list[str]]:
        """Return the tools for a list of many servers. Raises `TimedOutError` for a slow server."""
        return await self._soon("tools/list", self.tools)

    async def listed_entries(self, method: str) -> list[Any]:
        entries = await self._soon(method, partial(self.entries, method))
        self.latest[method] = entries
        return entries

    async def _soon(self, method: str, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask with a short timeout; after a timeout, send list_changed when the answer arrives."""
        seconds = _SLOW_SECONDS if self.is_slow else _PATIENCE_SECONDS
        try:
            with anyio.move_on_after(min(seconds, self._timeout)):
                entries = await ask()
                self.is_slow = False
                return entries
            self.is_slow = True
            what = f"no answer to {method} within {seconds:g} s; a late answer is listed too"
            raise TimedOutError(what, where=self.name)
        except SaysoError:
            self._missing_lists.add(method)
            self._wanted.set()
            raise

    async def tool(self, qualified_name: str, *, is_fresh: bool = False) -> Tool | None:
        """Return the server's tool of this name (the first, if there are several), or `None`."""
        if not is_fresh and (cached := self._cached(qualified_name)) is not None:
            return cached
        entries = await self.entries("tools/list", is_fresh=is_fresh, may_be_stale=True)
        tool_list = await self._read(entries)
        tool = tool_list and tool_list.named.get(qualified_name)
        if tool is None and tool_list is not None and self._lists.current("tools/list") is None:
            tool_list = await self._read(await self._lists.settled("tools/list"))
            tool = tool_list and tool_list.named.get(qualified_name)
        return tool

    async def _read(self, entries: list[Any]) -> ToolList | None:
        if not entries:
            return None
        tool_list = self._tool_list
        is_read = tool_list is not None and tool_list.entries is entries
        if tool_list is None or not is_read or tool_list.package != self.package:
            # The list may be cached already, for another principal with the same entries.
            tool_list = self._tool_list = await self._tool_cache.read(entries, self.package)
        elif tool_list.is_due:
            await self._tool_cache.judge_again(tool_list)
        return tool_list

    def _cached(self, qualified_name: str) -> Tool | None:
        """Return the cached tool; `None` if the server is not connected or its list is outdated."""
        tool_list = self._tool_list
        if tool_list is None or tool_list.is_due or tool_list.package != self.package:
            return None
        if not self.is_connected or not self._is_on:
            return None
        if self._lists.current("tools/list") is not tool_list.entries:
            return None
        self.used = time.monotonic()
        return tool_list.named.get(qualified_name)

    @property
    def remembered(self) -> list[Tool] | None:
        """Return the tools of the last list, if there is one."""
        return self._tool_list and list(self._tool_list.named.values())

    def known(self, qualified_name: str) -> Tool | None:
        """Return the tool of this name, if the last list has it."""
        return self._tool_list and self._tool_list.named.get(qualified_name)

    def move(self) -> None:
        if self._subscription is not None:
            self._subscription.move()

    async def follow(self, uri: str) -> None:
        """Subscribe to one resource. Raises `RpcError` if the server does not offer that."""
        await self.link()
        if self._subscription is not None:
            await self._subscription.follow(uri)

    async def set_log_level(self, level: str) -> None:
        if self._subscription is not None:
            await self._subscription.set_level(level)

    def _subscribe(self, link: Link) -> Subscription:
        if self.health.opened or self._missing_lists:
            self._missing_lists.clear()
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
        params = {key: value for key, value in params.items() if key != "_meta"}
        self._notifier.tell(self.name, self._subject, method, params)
