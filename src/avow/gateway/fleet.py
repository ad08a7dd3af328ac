"""All servers behind the gateway, and whose a tool, a prompt or a resource is."""

import contextlib
import logging
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import anyio

from avow.beside import beside
from avow.catalog import SEPARATOR, Catalog, Tool, make_catalog
from avow.connect import RpcError
from avow.connect.credentials import Credentials
from avow.connect.target import CommandTarget, SavedTarget, Target, UrlTarget
from avow.connect.watch import Watch
from avow.errors import AvowError, TargetError
from avow.gateway.caller import Caller, converse
from avow.gateway.contact import Contact
from avow.gateway.contract.twin import Hold
from avow.gateway.health import ServerHealth
from avow.gateway.hub import LEVELS, Hub
from avow.gateway.receipts import Vouching, check_package
from avow.gateway.roster import Judge, take_all
from avow.gateway.upstream import Upstream
from avow.guard import Answer, Call
from avow.guard.call import Progress, no_progress
from avow.policy import Principal
from avow.verify.receipt import Shelf

_log: Final = logging.getLogger(__name__)

LOG_LEVEL: Final = "io.modelcontextprotocol/logLevel"

_LONG: Final = frozenset({"content", "structuredContent"})
"""What is passed on unread, where nothing of it must change."""

_INTERNAL_ERROR: Final = -32603


Found = list[tuple[list[Tool], list[str]]]
"""The tools of each server, and what is wrong with its list."""

Joined = dict[Principal, tuple[Found, Catalog]]
"""What was made of the lists that each principal was given last."""

_MOST_JOINED: Final = 64


@dataclass(frozen=True, slots=True)
class Fleet:
    """The upstream servers, in the order of the configuration."""

    upstreams: Sequence[Upstream]
    timeout: float
    hub: Hub = field(default_factory=Hub)
    _joined: Joined = field(default_factory=dict[Principal, "tuple[Found, Catalog]"])
    _by_name: dict[str, Upstream] = field(init=False, default_factory=dict[str, Upstream])

    def __post_init__(self) -> None:
        self._by_name.update((one.name, one) for one in self.upstreams)

    def of(self, principal: Principal) -> "Reach":
        """All servers, as one principal has them."""
        return Reach(self.upstreams, principal, self.timeout, self._joined)

    def only(self, name: str) -> "Fleet":
        """The fleet of this one server."""
        return Fleet([self.owner(name)], self.timeout, self.hub)

    def owner(self, name: str) -> Upstream:
        """The server of this name; a tool in hand names one that is there."""
        return self._by_name[name]

    def known(self, qualified_name: str, principal: Principal) -> Tool | None:
        """The tool of this name, if a list that a principal was given last has it."""
        for one in self.upstreams:
            if qualified_name.startswith(one.prefix):
                tool = one.known(qualified_name, principal)
                if tool is not None:
                    return tool
        return None

    def health(self) -> list[ServerHealth]:
        """How each server fares."""
        return [one.health() for one in self.upstreams]

    async def find_tool(
        self, qualified_name: str, principal: Principal, /, *, is_fresh: bool = False
    ) -> Tool | None:
        """The tool of this name; asks only servers whose name it can be under.

        `is_fresh` asks them now, whatever is remembered of their lists.

        Raises the error of a server that cannot be asked, when no other has the tool.
        """
        failure: AvowError | None = None
        for upstream in _owners(self.upstreams, qualified_name):
            try:
                tool = await upstream.of(principal).tool(qualified_name, is_fresh=is_fresh)
            except AvowError as error:
                failure = error
                continue
            if tool is not None:
                return tool
        if failure is not None:
            raise failure
        return None

    async def run_tool(self, call: Call) -> Answer:
        """Send one call to its server, once. Raises `RpcError`, or that there is no connection."""
        return await self._by_name[call.found.server].call(call, partial(self._send, call))

    async def _send(self, call: Call, contact: Contact) -> Answer:
        tool, link = call.found, await contact.link()
        await _hear(contact, call.meta)
        check_package(tool, contact.package)
        call.is_sent = True
        return await converse(
            link,
            "tools/call",
            {"name": tool.name, "arguments": call.arguments, **own_meta(call.meta)},
            call.caller,
            timeout=self.timeout,
            progress=None if call.progress is no_progress else call.progress,
            input_schema=tool.input_schema if tool.is_marked else None,
            kept=_LONG,
        )


@dataclass(frozen=True, slots=True)
class Reach:
    """The servers as one principal has them: its own connections, or those that all share."""

    upstreams: Sequence[Upstream]
    principal: Principal
    timeout: float
    joined: Joined

    async def catalog(self) -> Catalog:
        """The tools of all servers; one that fails or is slow leaves the others, and is told of.

        It is the same object as long as no server's list changes.
        """
        found: Found = [([], [])] * len(self.upstreams)

        async def ask(index: int, upstream: Upstream) -> None:
            try:
                found[index] = await upstream.of(self.principal).listed()
            except AvowError as error:
                found[index] = ([], [str(error)])

        async with anyio.create_task_group() as group:
            for index, upstream in enumerate(self.upstreams):
                group.start_soon(ask, index, upstream)
        before = self.joined.get(self.principal)
        if before is not None and _is_same(before[0], found):
            return before[1]
        catalog = make_catalog(
            (tool for tools, _ in found for tool in tools),
            (problem for _, problems in found for problem in problems),
        )
        if len(self.joined) >= _MOST_JOINED:
            self.joined.clear()
        self.joined[self.principal] = (found, catalog)
        return catalog

    async def collect(self, method: str) -> list[tuple[Upstream, dict[str, Any]]]:
        """The entries of one list of all servers, each with its server."""
        lists: list[list[Any]] = [[]] * len(self.upstreams)

        async def ask(index: int, upstream: Upstream) -> None:
            with contextlib.suppress(AvowError):
                lists[index] = await upstream.of(self.principal).listed_entries(method)

        async with anyio.create_task_group() as group:
            for index, upstream in enumerate(self.upstreams):
                group.start_soon(ask, index, upstream)
        # What is no object is nobody's prompt or resource.
        return [
            (upstream, entry)
            for upstream, entries in zip(self.upstreams, lists, strict=True)
            for entry in entries
            if isinstance(entry, dict)
        ]

    async def find_prompt(self, qualified_name: str) -> tuple[Upstream, str] | None:
        """The server of a prompt, and the prompt's own name there."""
        found = [
            (one, qualified_name.removeprefix(f"{one.name}{SEPARATOR}"))
            for one in _owners(self.upstreams, qualified_name)
        ]
        if len(found) > 1:
            # The name of one server begins like that of another: who lists the prompt is meant.
            listed = [(one, entry.get("name")) for one, entry in await self.collect("prompts/list")]
            found = [one for one in found if one in listed] or found
        return found[0] if found else None

    async def find_resource(self, uri: str) -> Upstream | None:
        """The server that lists this resource, or else one with a template that fits it.

        Where there is only one server, nobody else can say whether the resource is there.
        """
        if len(self.upstreams) == 1:
            return self.upstreams[0]
        for upstream, entry in await self.collect("resources/list"):
            if entry.get("uri") == uri:
                return upstream
        for upstream, entry in await self.collect("resources/templates/list"):
            template = entry.get("uriTemplate")
            if isinstance(template, str) and (template == uri or _fits(template, uri)):
                return upstream
        return None

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
            contact = upstream.of(self.principal)
            link = await contact.link()
        except AvowError as error:
            # Why is for the log: it may quote what the server said to itself.
            _log.warning("%s", error)
            what = f"the server “{upstream.name}” cannot be reached"
            raise RpcError(_INTERNAL_ERROR, what) from error
        await _hear(contact, params.get("_meta"))
        try:
            return await converse(
                link,
                method,
                params,
                caller,
                timeout=self.timeout,
                progress=None if progress is no_progress else progress,
            )
        except RpcError as error:
            if error.fault is None:
                raise
            _log.warning("%s: %s", upstream.name, error)
            what = f"the server “{upstream.name}” gave no answer"
            raise RpcError(_INTERNAL_ERROR, what) from error


def _owners(upstreams: Sequence[Upstream], qualified_name: str) -> list[Upstream]:
    return [one for one in upstreams if qualified_name.startswith(one.prefix)]


@asynccontextmanager
async def open_fleet(
    targets: Sequence[Target],
    *,
    timeout: float,
    judges: Callable[[CommandTarget | UrlTarget], Judge] = lambda _: take_all,
    credentials: Callable[[CommandTarget | UrlTarget], Credentials | None] = lambda _: None,
    watch: Watch | None = None,
    shelf: Shelf | None = None,
    holds: Callable[[CommandTarget | UrlTarget], Hold | None] = lambda _: None,
) -> AsyncGenerator[Fleet]:
    """Servers that connect when they are first needed, and end when this is left.

    `judges` says for each who compares its tools with what they were, and `credentials` what is
    sent to it so that it lets avow in. `watch` looks on at what is asked of them, `shelf` holds
    receipts about their tools, and `holds` says what holds each to its contract.

    Raises `TargetError` for a saved list: there is nothing behind it to call.
    """
    hub = Hub()
    known = [_callable(one) for one in targets]
    upstreams = [
        Upstream(
            one,
            timeout=timeout,
            judge=judges(one),
            credentials=credentials(one),
            watch=watch,
            hub=hub,
            vouching=Vouching(one, shelf) if shelf else None,
        )
        for one in known
    ]
    for one in upstreams:
        if (hold := holds(one.target)) is not None:
            one.keep_to(hold)
    named = {one.name: one for one in upstreams}
    hub.moved = lambda name: named[name].move()
    async with beside(*(upstream.run for upstream in upstreams)):
        yield Fleet(upstreams, timeout, hub)


def _is_same(one: Found, other: Found) -> bool:
    """Whether all lists are those of before; a failed server's is made anew each time."""
    return all(
        (before is now or not (before or now)) and said == says
        for (before, said), (now, says) in zip(one, other, strict=True)
    )


def _callable(target: Target) -> CommandTarget | UrlTarget:
    if isinstance(target, SavedTarget):
        what = "a saved tools/list cannot be called, only inspected"
        raise TargetError(what, where=target.path, fix="Name the server itself.")
    return target


async def _hear(contact: Contact, meta: Mapping[str, Any] | None) -> None:
    """A server of the handshake eras logs as loud as its loudest caller wants."""
    level = meta.get(LOG_LEVEL) if meta else None
    if level in LEVELS:
        await contact.hear(str(level))


def own_meta(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the caller put into `_meta` for the server, as a member of the parameters.

    The protocol's own keys stay behind: they speak of the caller's connection and not of ours. How
    much it wants to be told is for the server.
    """
    kept = {
        key: value
        for key, value in (meta or {}).items()
        if key == LOG_LEVEL
        or (key != "progressToken" and not key.startswith("io.modelcontextprotocol/"))
    }
    return {"_meta": kept} if kept else {}


def _fits(template: str, uri: str) -> bool:
    """Whether `uri` could come from an RFC 6570 template: its literal parts, in their order.

    In one pass, since a template is a server's to choose and must not make avow think for long.
    """
    first, *rest = re.split(r"\{[^{}]*\}", template)
    if not uri.startswith(first):
        return False
    place = len(first)
    for literal in rest[:-1]:
        found = uri.find(literal, place)
        if found < 0:
            return False
        place = found + len(literal)
    return not rest or (uri.endswith(rest[-1]) and len(uri) - len(rest[-1]) >= place)
