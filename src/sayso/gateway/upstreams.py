"""All servers behind the gateway, and the server of each tool, prompt and resource."""

import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import anyio
import anyio.to_thread
import msgspec

from sayso.beside import beside
from sayso.catalog import SEPARATOR, Catalog, Tool, make_catalog
from sayso.connect import (
    INTERNAL_ERROR,
    CommandTarget,
    Credentials,
    RpcError,
    SavedTarget,
    Target,
    UrlTarget,
    Watch,
)
from sayso.contract import Hold
from sayso.errors import SaysoError, TargetError, UnreachableError
from sayso.gateway.addresses import Address, Addresses, Entries, may_link, readdress
from sayso.gateway.caller import Caller, converse
from sayso.gateway.connection import ServerConnection
from sayso.gateway.health import ServerHealth
from sayso.gateway.notifications import LEVELS, Notifier
from sayso.gateway.receipts import PackageReceipts, check_package
from sayso.gateway.switches import Switches
from sayso.gateway.tool_cache import Judge, take_all
from sayso.gateway.upstream import Upstream
from sayso.guard import LOG_LEVEL, Answer, Call, Progress, no_progress, unruled
from sayso.policy import Policy, Principal
from sayso.receipts import ReceiptCollection

_log: Final = logging.getLogger(__name__)


_LONG: Final = frozenset({"content", "structuredContent"})
"""What is passed on unread, where nothing of it must change."""

_POLICY_SECONDS: Final = 1.0
"""How soon connections end that a new policy switches off; requests see it at once."""


ListedTools = list[tuple[list[Tool], list[str]]]
"""The tools of each server, and what is wrong with its list."""

JoinedCatalogs = dict[tuple[object, ...], tuple[ListedTools, Catalog]]
"""What was made of lists, by which lists these are: callers of the same servers share it."""

Indexed = dict[tuple[object, ...], tuple[tuple[Entries, Entries], Addresses]]
"""Whose resources are whose, by the lists that say so."""

_MOST_JOINED: Final = 64
_LONG_LISTS: Final = 500
"""Resources that are indexed in a thread, so that others' requests go on."""
_SHORT_BYTES: Final = 8 * 1024
"""Content that is read at once; more is read in a thread."""


@dataclass(frozen=True, slots=True)
class Upstreams:
    """The upstream servers, in the order of the configuration.

    `upstreams` are all of them, for operators; requests of callers take those of `reachable`.
    """

    upstreams: Sequence[Upstream]
    timeout: float
    notifier: Notifier = field(default_factory=Notifier)
    switches: Switches = field(default_factory=Switches)
    _joined: JoinedCatalogs = field(
        default_factory=dict["tuple[object, ...]", "tuple[ListedTools, Catalog]"]
    )
    _indexed: Indexed = field(
        default_factory=dict["tuple[object, ...]", "tuple[tuple[Entries, Entries], Addresses]"]
    )
    _by_name: dict[str, Upstream] = field(init=False, default_factory=dict[str, Upstream])

    def __post_init__(self) -> None:
        self._by_name.update((upstream.name, upstream) for upstream in self.upstreams)

    def of(self, principal: Principal) -> "Reach":
        return Reach(
            self.reachable(principal),
            principal,
            self.timeout,
            self._joined,
            self.switches,
            self._indexed,
            is_single=len(self.upstreams) == 1,
        )

    def reachable(self, principal: Principal) -> Sequence[Upstream]:
        """Return the servers that this caller may reach: none that the policy switches off."""
        has = self.switches.has
        subject = principal.subject
        return [upstream for upstream in self.upstreams if has(upstream.name, subject)]

    def only(self, name: str) -> "Upstreams":
        return Upstreams([self.owner(name)], self.timeout, self.notifier, self.switches)

    def owner(self, name: str) -> Upstream:
        return self._by_name[name]

    def known(self, qualified_name: str, principal: Principal) -> Tool | None:
        """The tool of this name, if a list that a principal was given last has it."""
        for upstream in _owners(self.reachable(principal), qualified_name):
            if (tool := upstream.known(qualified_name, principal)) is not None:
                return tool
        return None

    def health(self) -> list[ServerHealth]:
        return [upstream.health() for upstream in self.upstreams]

    async def find_tool(
        self, qualified_name: str, principal: Principal, /, *, is_fresh: bool = False
    ) -> Tool | None:
        """The tool of this name; asks only servers whose name it can be under.

        `is_fresh` asks them now, whatever is remembered of their lists. Raises the error of a
        server that cannot be asked, when no other has the tool.
        """
        failure: SaysoError | None = None
        for upstream in _owners(self.reachable(principal), qualified_name):
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
        """Send one call to its server, once. Raises `RpcError`, or that there is no connection."""
        server = call.tool.server
        if not self.switches.has(server, call.principal.subject):
            raise UnreachableError("the policy switches it or its caller off", where=server)
        return await self._by_name[server].call(call, partial(self._send, call))

    async def _send(self, call: Call, connection: ServerConnection) -> Answer:
        tool = call.tool
        link = await connection.link()
        await _hear(connection, call.meta)
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
            kept=_LONG,
        )


@dataclass(frozen=True, slots=True)
class Reach:
    """The servers as one principal has them: its own connections, or those that all share.

    `is_single` says that only one server is configured, whatever is switched off.
    """

    upstreams: Sequence[Upstream]
    principal: Principal
    timeout: float
    joined: JoinedCatalogs
    switches: Switches = field(default_factory=Switches)
    indexed: Indexed = field(
        default_factory=dict["tuple[object, ...]", "tuple[tuple[Entries, Entries], Addresses]"]
    )
    is_single: bool = False

    async def catalog(self) -> Catalog:
        """Return the tools of all servers, and problems of those that fail or are slow.

        It is the same object as long as no server's list changes.
        """
        found: ListedTools = [([], [])] * len(self.upstreams)

        async def ask(index: int, upstream: Upstream) -> None:
            try:
                found[index] = await upstream.of(self.principal).listed()
            except SaysoError as error:
                found[index] = ([], [str(error)])

        async with anyio.create_task_group() as group:
            for index, upstream in enumerate(self.upstreams):
                group.start_soon(ask, index, upstream)
        # A list is the same object as long as it does not change; what is kept keeps it alive.
        key = tuple((id(tools) if tools else 0, *problems) for tools, problems in found)
        before = self.joined.get(key)
        if before is not None:
            return before[1]
        catalog = make_catalog(
            (tool for tools, _ in found for tool in tools),
            (problem for _, problems in found for problem in problems),
        )
        if len(self.joined) >= _MOST_JOINED:
            self.joined.clear()
        self.joined[key] = (found, catalog)
        return catalog

    async def collect(self, method: str) -> list[tuple[Upstream, dict[str, Any]]]:
        """The entries of one list of all servers, each with its server."""
        # What is no object is nobody's prompt or resource.
        return [
            (upstream, entry)
            for upstream, entries in zip(self.upstreams, await self._gather(method), strict=True)
            for entry in entries
            if isinstance(entry, dict)
        ]

    async def _gather(self, method: str, *, or_latest: bool = False) -> list[list[Any]]:
        """Return one list of each server; an empty or the latest one where it gives none now."""
        lists: list[list[Any]] = [[]] * len(self.upstreams)

        async def ask(index: int, upstream: Upstream) -> None:
            with contextlib.suppress(SaysoError):
                connection = upstream.of(self.principal)
                try:
                    lists[index] = await connection.listed_entries(method)
                except SaysoError:
                    lists[index] = connection.latest_entries(method) if or_latest else []

        async with anyio.create_task_group() as group:
            for index, upstream in enumerate(self.upstreams):
                group.start_soon(ask, index, upstream)
        return lists

    async def find_prompt(self, qualified_name: str) -> tuple[Upstream, str] | None:
        found = [
            (upstream, qualified_name.removeprefix(f"{upstream.name}{SEPARATOR}"))
            for upstream in _owners(self.upstreams, qualified_name)
        ]
        if len(found) > 1:
            # The name of one server begins like that of another: who lists the prompt is meant.
            listed = [
                (upstream, entry.get("name"))
                for upstream, entry in await self.collect("prompts/list")
            ]
            found = [candidate for candidate in found if candidate in listed] or found
        return found[0] if found else None

    async def find_resource(self, uri: str) -> Address | None:
        """Return whose resource or template this is: a qualified form, or one that is listed.

        Where only one server is configured, nobody else can say whether the resource is there.
        Raises `RpcError` where several servers have it.
        """
        if self.is_single:
            return Address(self.upstreams[0].name, uri) if self.upstreams else None
        return (await self.addresses()).find(uri)

    async def addresses(self) -> Addresses:
        """Index the resources of all servers; one that gives no list now counts with its last one.

        Else its URI would become another server's as soon as it goes down.
        """
        resources = await self._gather("resources/list", or_latest=True)
        templates = await self._gather("resources/templates/list", or_latest=True)
        names = [upstream.name for upstream in self.upstreams]
        key = (*names, *(id(entries) if entries else 0 for entries in (*resources, *templates)))
        known = self.indexed.get(key)
        if known is not None:
            return known[1]
        given = (
            [*zip(names, resources, strict=True)],
            [*zip(names, templates, strict=True)],
        )
        is_long = sum(map(len, (*resources, *templates))) > _LONG_LISTS
        index = partial(Addresses.of, *given)
        addresses = await anyio.to_thread.run_sync(index) if is_long else index()
        if len(self.indexed) >= _MOST_JOINED:
            self.indexed.clear()
        # The lists are kept alive with it, so that their ids stay their own.
        self.indexed[key] = given, addresses
        return addresses

    async def readdress(self, server: str, result: dict[str, Any]) -> dict[str, Any]:
        """Return a result of `server` whose links lead to its own resources at `/mcp`."""
        if self.is_single or not may_link(result):
            return result
        show = partial((await self.addresses()).show_link, server)
        content = result.get("content")
        if isinstance(content, msgspec.Raw) and len(content) < _SHORT_BYTES:
            return readdress(result, show)
        return await anyio.to_thread.run_sync(readdress, result, show)

    async def forward(
        self,
        upstream: Upstream,
        method: str,
        params: dict[str, Any],
        *,
        caller: Caller | None = None,
        progress: Progress = no_progress,
    ) -> dict[str, Any]:
        """Pass one request on as it is. Raises `RpcError` with what the server answered."""
        try:
            connection = upstream.of(self.principal)
            link = await connection.link()
        except SaysoError as error:
            # Why is for the log: it may quote what the server said to itself.
            _log.warning("%s", error)
            what = f"the server “{upstream.name}” cannot be reached"
            raise RpcError(INTERNAL_ERROR, what) from error
        await _hear(connection, params.get("_meta"))
        try:
            return await converse(
                link,
                method,
                params,
                caller,
                is_on=partial(self.switches.has, upstream.name, self.principal.subject),
                timeout=self.timeout,
                progress=None if progress is no_progress else progress,
            )
        except RpcError as error:
            if error.fault is None:
                raise
            _log.warning("%s: %s", upstream.name, error)
            what = f"the server “{upstream.name}” gave no answer"
            raise RpcError(INTERNAL_ERROR, what) from error


def _owners(upstreams: Sequence[Upstream], qualified_name: str) -> list[Upstream]:
    return [upstream for upstream in upstreams if qualified_name.startswith(upstream.prefix)]


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
    """Servers that connect when they are first needed, and end when this is left.

    `judges` says for each who compares its tools with what they were, and `credentials` what is
    sent to it so that it lets sayso in. `watch` looks on at what is asked of them, `receipts` holds
    receipts about their tools, and `holds` says what holds each to its contract. `policy` is that
    of the moment; connections of servers that it switches off are ended. Raises `TargetError` for a
    saved list: there is nothing behind it to call.
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
    """End what a new policy switches off, and tell clients that their lists may have changed.

    A policy that cannot be had refuses each request by itself, so it must not end the gateway.
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


async def _hear(connection: ServerConnection, meta: Mapping[str, Any] | None) -> None:
    """A server of the handshake eras logs as loud as its loudest caller wants."""
    level = meta.get(LOG_LEVEL) if meta else None
    if level in LEVELS:
        await connection.hear(str(level))
