"""One server behind the gateway, with one connection per principal or one for all of them."""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

import anyio

from sayso.audit import Outcome
from sayso.catalog import SEPARATOR, Tool
from sayso.connect import CommandTarget, Credentials, OnBehalf, UrlTarget, Watch, origin_of
from sayso.contract import Hold, ReadonlyProcess, ReadonlyProcesses
from sayso.errors import AuthenticationError, UnreachableError
from sayso.gateway.connection import ServerConnection
from sayso.gateway.health import Health, ServerHealth, State
from sayso.gateway.lists import Shared
from sayso.gateway.notifications import Notifier
from sayso.gateway.receipts import PackageReceipts
from sayso.gateway.tool_cache import Judge, ToolCache, take_all
from sayso.guard import Answer, Call
from sayso.intent import Trust
from sayso.policy import LOCAL, Principal

_log: Final = logging.getLogger(__name__)

_IDLE_SECONDS: Final = 900.0
"""The time an unused connection stays open; the last connection stays open without a limit."""
_SWEEP_SECONDS: Final = 15.0
_MAX_PROCESSES: Final = 64
_MAX_HTTP_CONNECTIONS: Final = 1000
"""The maximum connections of one server: over stdio (`_MAX_PROCESSES`), and over HTTP."""
_MIN_IDLE_SECONDS: Final = 1.0
"""The time after which an unused connection may make room for a new one."""

_OWN: Final = Principal(LOCAL)
_SHARED: Final = ""
Key = str | Principal
_ORDER: Final = (State.FAILING, State.UP, State.IDLE, State.UNTRIED)


class Upstream:
    """A server, and a connection for each principal that uses it; `run` runs the connections.

    Idle connections (and their processes) are closed, except the last one.
    """

    def __init__(
        self,
        target: CommandTarget | UrlTarget,
        *,
        timeout: float,
        trust: Trust = Trust.CAUTIOUS,
        judge: Judge = take_all,
        credentials: Credentials | None = None,
        watch: Watch | None = None,
        notifier: Notifier | None = None,
        receipts: PackageReceipts | None = None,
    ) -> None:
        self.name = target.name
        self.prefix = f"{target.name}{SEPARATOR}"
        self.target = target
        self._timeout = timeout
        self._credentials = credentials
        self._notifier = notifier or Notifier()
        self._tool_cache = ToolCache(self.name, trust, origin_of(target), judge, receipts)
        is_command = isinstance(target, CommandTarget)
        self._max_connections = _MAX_PROCESSES if is_command else _MAX_HTTP_CONNECTIONS
        self._connections: dict[Key, ServerConnection] = {}
        self._shared = Shared()
        self._new: list[ServerConnection | ReadonlyProcess[ServerConnection]] = []
        self._watch = watch
        self._wanted = anyio.Event()
        self._readonly: ReadonlyProcesses[ServerConnection] | None = None

    def keep_to(self, hold: Hold) -> None:
        """Run read-only tools in processes that `hold` confines, if sayso starts the server."""
        if isinstance(self.target, CommandTarget):
            self._readonly = ReadonlyProcesses(self.target, hold, self._begin)
            self._tool_cache.is_restless = True

    @property
    def is_up(self) -> bool | None:
        """Return whether the server is connected; `None` if no connection is needed now."""
        return {State.UP: True, State.FAILING: False}.get(self.health().worst.state)

    @property
    def is_for_callers(self) -> bool:
        """Return whether the server accepts only tokens that are exchanged for callers' tokens."""
        auth = self.target.auth if isinstance(self.target, UrlTarget) else None
        return auth is not None and auth.is_exchange

    @property
    def sizes(self) -> Mapping[str, int]:
        """Return the number of entries of each cached list."""
        sizes: dict[str, int] = {}
        for connection in self._connections.values():
            for method, size in connection.sizes.items():
                sizes[method] = max(size, sizes.get(method, 0))
        return sizes

    @property
    def listed_at(self) -> float | None:
        """Return when the server last listed its tools, in Unix seconds."""
        times = (connection.listed_at for connection in self._connections.values())
        return max((time_ for time_ in times if time_ is not None), default=None)

    @property
    def latest(self) -> ServerConnection | None:
        return max(self._connections.values(), key=lambda connection: connection.used, default=None)

    @property
    def remembered(self) -> list[Tool] | None:
        """Return the last list of tools from the cache, or `None`."""
        return self.latest and self.latest.remembered

    async def retry(self) -> None:
        """Connect now, even just after a failure. Raises a `SaysoError` if that fails too."""
        for connection in self._all():
            connection.retry()
        await self.tools()

    async def run(self) -> None:
        """Run all connections, and close idle ones, until cancelled."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._sweep)
                while True:
                    while self._new:
                        group.start_soon(self._new.pop().run)
                    await self._wanted.wait()
                    self._wanted = anyio.Event()
        finally:
            if self._readonly is not None:
                self._readonly.close()

    def of(self, principal: Principal) -> ServerConnection:
        """Return the connection of a principal. Raises `UnreachableError` for too many."""
        key = self._key(principal)
        connection = self._connections.get(key)
        return self._make(key, principal) if connection is None else connection

    async def call(
        self, call: Call, send: Callable[[ServerConnection], Awaitable[Answer]]
    ) -> Answer:
        """Send a call by `send`. Under a contract, read-only tools run in a read-only process.

        If a tool tries to change something in that process, the tool is put in quarantine.
        """
        if self._readonly is None or not self._readonly.takes(call.tool):
            return await send(self.of(call.principal))
        key = self._key(call.principal)
        make = partial(self._readonly_connection, call.principal)
        try:
            return await self._readonly.call(key, call, make, send)
        finally:
            if call.outcome is Outcome.BROKE_CONTRACT:
                self._tool_cache.look_again()

    def known(self, qualified_name: str, principal: Principal) -> Tool | None:
        """Return the tool of this name, if the last list for a principal has it."""
        connection = self._connections.get(self._key(principal))
        return connection and connection.known(qualified_name)

    def move(self) -> None:
        for connection in self._connections.values():
            connection.move()

    def _key(self, principal: Principal) -> Key:
        if self.target.is_shared:
            return _SHARED
        # Scopes are part of the key: a request with fewer scopes must not use a token with more.
        return principal if self.is_for_callers else principal.account

    def health(self) -> ServerHealth:
        """Return the server's health: its worst connection, and counts of all connections."""
        all_ = [connection.health for connection in self._all()]
        worst = min(all_, key=lambda health: _ORDER.index(health.state), default=Health())
        return ServerHealth(
            self.name,
            worst,
            connections=sum(connection.is_connected for connection in self._all()),
            opened=sum(health.opened for health in all_),
            failed=sum(health.failed for health in all_),
        )

    async def tools(self) -> tuple[list[Tool], list[str]]:
        """Return the tools as the last caller sees them; before the first call, as sayso does.

        Raises `AuthenticationError` before the first call, if the server accepts only callers.
        """
        latest = self.latest
        if latest is None and self.is_for_callers:
            what = "the server accepts only callers, with their tokens"
            fix = "Make a first call; then the tools are listed."
            raise AuthenticationError(what, where=self.name, fix=fix)
        return await (latest or self.of(_OWN)).tools()

    def _make(self, key: Key, principal: Principal) -> ServerConnection:
        if len(self._connections) >= self._max_connections:
            self._make_room()
        connection = self._connections[key] = ServerConnection(
            self.target,
            self._tool_cache,
            timeout=self._timeout,
            proof=OnBehalf(self._credentials, principal) if self._credentials else None,
            shared=self._shared,
            notifier=self._notifier,
            subject=None if self.target.is_shared else principal.account,
            watch=self._watch,
        )
        self._begin(connection)
        return connection

    def _readonly_connection(self, principal: Principal, target: CommandTarget) -> ServerConnection:
        """Return a new connection to a read-only process, with its list_changed dropped."""
        subject = None if target.is_shared else principal.account
        return ServerConnection(
            target, self._tool_cache, timeout=self._timeout, subject=subject, watch=self._watch
        )

    def _begin(self, runner: ServerConnection | ReadonlyProcess[ServerConnection]) -> None:
        self._new.append(runner)
        self._wanted.set()

    def _all(self) -> list[ServerConnection]:
        readonly = () if self._readonly is None else self._readonly.connections()
        return [*self._connections.values(), *readonly]

    def _make_room(self) -> None:
        idle = self._idle(_MIN_IDLE_SECONDS)
        if not idle:
            what = f"all {self._max_connections} connections to the server are in use"
            raise UnreachableError(what, where=self.name, fix="Try again later.")
        self._end(min(idle, key=lambda key: self._connections[key].used))

    async def _sweep(self) -> None:
        while True:
            await anyio.sleep(_SWEEP_SECONDS)
            for key in self._idle(_IDLE_SECONDS):
                if len(self._connections) > 1:
                    self._end(key)
            if self._readonly is not None:
                self._readonly.end_idle(_IDLE_SECONDS)

    def end_if_off(self) -> None:
        """If the server is off, end its connections and processes after active calls finish."""
        if self._notifier.switches.has_server(self.name):
            return
        for key in [
            key for key, connection in self._connections.items() if not connection.is_answering
        ]:
            self._end(key)

    def _idle(self, seconds: float) -> list[Key]:
        before = time.monotonic() - seconds
        return [
            key
            for key, connection in self._connections.items()
            if connection.used < before and not connection.is_busy
        ]

    def _end(self, key: Key) -> None:
        _log.debug("%s: an unused connection ends", self.name)
        self._connections.pop(key).end()
        if self._readonly is not None:
            self._readonly.end_of(key)
