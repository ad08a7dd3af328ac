"""All servers behind the gateway, and the server of each tool."""

import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio

from sayso.beside import beside
from sayso.catalog import Tool
from sayso.connect import CommandTarget, Credentials, SavedTarget, Target, UrlTarget, Watch
from sayso.contract import Hold
from sayso.errors import SaysoError, TargetError, UnreachableError
from sayso.gateway.caller import converse
from sayso.gateway.connection import ServerConnection
from sayso.gateway.health import ServerHealth
from sayso.gateway.notifications import Notifier
from sayso.gateway.receipts import PackageReceipts, check_package
from sayso.gateway.switches import Switches
from sayso.gateway.tool_cache import Judge, take_all
from sayso.gateway.upstream import Upstream
from sayso.gateway.upstream_view import UpstreamView, ViewCache, owners, set_log_level
from sayso.guard import Answer, Call, no_progress, unruled
from sayso.policy import Policy, Principal
from sayso.receipts import ReceiptCollection

_RAW_MEMBERS: Final = frozenset({"content", "structuredContent"})
"""The members of a result that are forwarded as raw JSON if they need no change."""

_POLICY_SECONDS: Final = 1.0
"""The interval at which connections of servers that are switched off end; requests end at once."""


@dataclass(frozen=True, slots=True)
class Upstreams:
    """The upstream servers, in the order of the configuration.

    `upstreams` are all servers, for operators. Callers' requests use only those of `reachable`.
    """

    upstreams: Sequence[Upstream]
    timeout: float
    notifier: Notifier = field(default_factory=Notifier)
    switches: Switches = field(default_factory=Switches)
    _cache: ViewCache = field(default_factory=ViewCache)
    _by_name: dict[str, Upstream] = field(init=False, default_factory=dict[str, Upstream])

    def __post_init__(self) -> None:
        self._by_name.update((upstream.name, upstream) for upstream in self.upstreams)

    def of(self, principal: Principal) -> UpstreamView:
        return UpstreamView(
            self.reachable(principal),
            principal,
            self.timeout,
            self._cache,
            self.switches,
            is_single=len(self.upstreams) == 1,
        )

    def reachable(self, principal: Principal) -> Sequence[Upstream]:
        """Return the servers that this caller may use: those that the policy leaves on."""
        has = self.switches.has
        subject = principal.subject
        return [upstream for upstream in self.upstreams if has(upstream.name, subject)]

    def only(self, name: str) -> "Upstreams":
        return Upstreams([self.owner(name)], self.timeout, self.notifier, self.switches)

    def owner(self, name: str) -> Upstream:
        return self._by_name[name]

    def known(self, qualified_name: str, principal: Principal) -> Tool | None:
        """Return the tool of this name from a principal's last lists, or `None`."""
        for upstream in owners(self.reachable(principal), qualified_name):
            if (tool := upstream.known(qualified_name, principal)) is not None:
                return tool
        return None

    def health(self) -> list[ServerHealth]:
        return [upstream.health() for upstream in self.upstreams]

    async def find_tool(
        self, qualified_name: str, principal: Principal, /, *, is_fresh: bool = False
    ) -> Tool | None:
        """Return the tool of this name, from a server whose name it begins with.

        `is_fresh` bypasses the cached lists. If a server is unavailable and no other server has the
        tool, raises the error of that server.
        """
        failure: SaysoError | None = None
        for upstream in owners(self.reachable(principal), qualified_name):
            try:
                tool = await upstream.of(principal).tool(qualified_name, is_fresh=is_fresh)
            except SaysoError as error:
                failure = error
                continue
            if tool is not None:
                return tool
        if failure is not None:
            raise failure
        return None

    async def run_tool(self, call: Call) -> Answer:
        """Send a call to its server, once. Raises `RpcError`, or an error of the connection."""
        server = call.tool.server
        if not self.switches.has(server, call.principal.subject):
            raise UnreachableError("the policy switches the server or caller off", where=server)
        return await self._by_name[server].call(call, partial(self._send, call))

    async def _send(self, call: Call, connection: ServerConnection) -> Answer:
        tool = call.tool
        link = await connection.link()
        await set_log_level(connection, call.meta)
        check_package(tool, connection.package)
        call.is_sent = True
        return await converse(
            link,
            "tools/call",
            {"name": tool.name, "arguments": call.arguments, **call.sent_meta},
            call.request.caller,
            is_on=partial(self.switches.has, tool.server, call.principal.subject),
            timeout=self.timeout,
            progress=None if call.progress is no_progress else call.progress,
            input_schema=tool.input_schema if tool.is_marked else None,
            kept=_RAW_MEMBERS,
        )


@asynccontextmanager
async def open_upstreams(
    targets: Sequence[Target],
    *,
    timeout: float,
    judges: Callable[[CommandTarget | UrlTarget], Judge] = lambda _: take_all,
    credentials: Callable[[CommandTarget | UrlTarget], Credentials | None] = lambda _: None,
    watch: Watch | None = None,
    receipts: ReceiptCollection | None = None,
    holds: Callable[[CommandTarget | UrlTarget], Hold | None] = lambda _: None,
    policy: Callable[[], Policy] = unruled,
) -> AsyncGenerator[Upstreams]:
    """Yield the servers. They connect on first use, and end when the context is left.

    For each server, `judges` compares its tools with known definitions, `credentials` authenticate
    sayso, and `holds` enforces its contract. `watch` observes requests, and `receipts` are about
    tools. If the current `policy` switches a server off, its connections end. Raises `TargetError`
    for a saved list, which cannot be called.
    """
    switches = Switches(policy)
    notifier = Notifier(switches=switches)
    known = [_callable(target) for target in targets]
    upstreams = [
        Upstream(
            target,
            timeout=timeout,
            judge=judges(target),
            credentials=credentials(target),
            watch=watch,
            notifier=notifier,
            receipts=PackageReceipts(target, receipts) if receipts else None,
        )
        for target in known
    ]
    for upstream in upstreams:
        if (hold := holds(upstream.target)) is not None:
            upstream.keep_to(hold)
    named = {upstream.name: upstream for upstream in upstreams}
    notifier.moved = lambda name: named[name].move()
    follow = partial(_follow, policy, upstreams, notifier)
    async with beside(follow, *(upstream.run for upstream in upstreams)):
        yield Upstreams(upstreams, timeout, notifier, switches)


async def _follow(
    policy: Callable[[], Policy], upstreams: Sequence[Upstream], notifier: Notifier
) -> None:
    """End connections that a new policy switches off, and announce changed lists to clients.

    A policy that cannot be read does not end the gateway, because requests are refused then.
    """
    known: Policy | None = None
    while True:
        with contextlib.suppress(SaysoError):
            now = policy()
            for upstream in upstreams:
                upstream.end_if_off()
            if known is not None and now is not known:
                notifier.tell_policy()
            known = now
        await anyio.sleep(_POLICY_SECONDS)


def _callable(target: Target) -> CommandTarget | UrlTarget:
    if isinstance(target, SavedTarget):
        what = "a saved tools/list cannot be called, only inspected"
        raise TargetError(what, where=target.path, fix="Name the server itself.")
    return target
