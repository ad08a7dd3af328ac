"""The view that one principal has of the servers behind the gateway."""

import contextlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import anyio
import anyio.to_thread
import msgspec

from sayso.catalog import SEPARATOR, Catalog, Tool, make_catalog
from sayso.connect import INTERNAL_ERROR, RpcError
from sayso.errors import SaysoError
from sayso.gateway.addresses import Address, Addresses, Entries, may_link, readdress
from sayso.gateway.caller import Caller, converse
from sayso.gateway.connection import ServerConnection
from sayso.gateway.notifications import LEVELS
from sayso.gateway.switches import Switches
from sayso.gateway.upstream import Upstream
from sayso.guard import LOG_LEVEL, Progress, no_progress
from sayso.policy import Principal

_log: Final = logging.getLogger(__name__)

_MAX_CACHED: Final = 64
_MAX_INDEXED_AT_ONCE: Final = 500
"""The maximum resources that are indexed on the event loop; more are indexed in a thread."""
_MAX_READ_AT_ONCE_BYTES: Final = 8 * 1024
"""The largest content that is parsed on the event loop; larger content is parsed in a thread."""

Lists = list[tuple[list[Tool], list[str]]]
"""The tools of each server, and the problems of its list."""

Key = tuple[object, ...]
"""The ids of lists. A cache entry keeps its lists alive, so that no other lists get their ids."""


@dataclass(frozen=True, slots=True)
class ViewCache:
    """A cache of catalogs and addresses, by the lists that they are made of; callers share it."""

    catalogs: dict[Key, tuple[Lists, Catalog]] = field(
        default_factory=dict[Key, "tuple[Lists, Catalog]"]
    )
    addresses: dict[Key, tuple[tuple[Entries, Entries], Addresses]] = field(
        default_factory=dict[Key, "tuple[tuple[Entries, Entries], Addresses]"]
    )


@dataclass(frozen=True, slots=True)
class UpstreamView:
    """The servers that one principal may reach, over its own or over shared connections.

    `is_single`: only one server is configured; a server that is switched off counts too.
    """

    upstreams: Sequence[Upstream]
    principal: Principal
    timeout: float
    cache: ViewCache = field(default_factory=ViewCache)
    switches: Switches = field(default_factory=Switches)
    is_single: bool = False

    async def catalog(self) -> Catalog:
        """Return the tools of all servers, with a problem for each server that fails or is slow.

        The catalog is the same object until a server's list changes.
        """
        lists: Lists = [([], [])] * len(self.upstreams)

        async def request(index: int, upstream: Upstream) -> None:
            try:
                lists[index] = await upstream.of(self.principal).listed()
            except SaysoError as error:
                lists[index] = ([], [str(error)])

        async with anyio.create_task_group() as group:
            for index, upstream in enumerate(self.upstreams):
                group.start_soon(request, index, upstream)
        key = tuple((id(tools) if tools else 0, *problems) for tools, problems in lists)
        catalogs = self.cache.catalogs
        cached = catalogs.get(key)
        if cached is not None:
            return cached[1]
        catalog = make_catalog(
            (tool for tools, _ in lists for tool in tools),
            (problem for _, problems in lists for problem in problems),
        )
        if len(catalogs) >= _MAX_CACHED:
            catalogs.clear()
        catalogs[key] = (lists, catalog)
        return catalog

    async def collect(self, method: str) -> list[tuple[Upstream, dict[str, Any]]]:
        """Return all servers' entries of the list `method`, each with its server."""
        return [
            (upstream, entry)
            for upstream, entries in zip(self.upstreams, await self._gather(method), strict=True)
            for entry in entries
            if isinstance(entry, dict)
        ]

    async def _gather(self, method: str, *, or_latest: bool = False) -> list[list[Any]]:
        """Return one list per server; for a failing server, an empty list or its latest list."""
        lists: list[list[Any]] = [[]] * len(self.upstreams)

        async def request(index: int, upstream: Upstream) -> None:
            with contextlib.suppress(SaysoError):
                connection = upstream.of(self.principal)
                try:
                    lists[index] = await connection.listed_entries(method)
                except SaysoError:
                    lists[index] = connection.latest.get(method, []) if or_latest else []

        async with anyio.create_task_group() as group:
            for index, upstream in enumerate(self.upstreams):
                group.start_soon(request, index, upstream)
        return lists

    async def find_prompt(self, qualified_name: str) -> tuple[Upstream, str] | None:
        candidates = [
            (upstream, qualified_name.removeprefix(f"{upstream.name}{SEPARATOR}"))
            for upstream in owners(self.upstreams, qualified_name)
        ]
        if len(candidates) > 1:
            # The names of several servers fit, so take the server that lists the prompt.
            listed = [
                (upstream, entry.get("name"))
                for upstream, entry in await self.collect("prompts/list")
            ]
            candidates = [each for each in candidates if each in listed] or candidates
        return candidates[0] if candidates else None

    async def find_resource(self, uri: str) -> Address | None:
        """Return the address of a resource or template, by its qualified URI or a listed URI.

        A single server gets every URI. Raises `RpcError` if several servers have the resource.
        """
        if self.is_single:
            return Address(self.upstreams[0].name, uri) if self.upstreams else None
        return (await self.addresses()).find(uri)

    async def addresses(self) -> Addresses:
        """Return the index of all servers' resources; a failing server's last list is used.

        Otherwise a URI that several servers list would lead to another server during a failure.
        """
        resources = await self._gather("resources/list", or_latest=True)
        templates = await self._gather("resources/templates/list", or_latest=True)
        names = [upstream.name for upstream in self.upstreams]
        key = (*names, *(id(entries) if entries else 0 for entries in (*resources, *templates)))
        cached = self.cache.addresses.get(key)
        if cached is not None:
            return cached[1]
        lists = [*zip(names, resources, strict=True)], [*zip(names, templates, strict=True)]
        is_long = sum(map(len, (*resources, *templates))) > _MAX_INDEXED_AT_ONCE
        index = partial(Addresses.of, *lists)
        addresses = await anyio.to_thread.run_sync(index) if is_long else index()
        if len(self.cache.addresses) >= _MAX_CACHED:
            self.cache.addresses.clear()
        self.cache.addresses[key] = lists, addresses
        return addresses

    async def readdress(self, server: str, result: dict[str, Any]) -> dict[str, Any]:
        """Return a result of `server` with its links changed to the URIs that clients use."""
        if self.is_single or not may_link(result):
            return result
        show = partial((await self.addresses()).show_link, server)
        content = result.get("content")
        if isinstance(content, msgspec.Raw) and len(content) < _MAX_READ_AT_ONCE_BYTES:
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
        """Forward a request unchanged. Raises `RpcError` with the server's error."""
        try:
            connection = upstream.of(self.principal)
            link = await connection.link()
        except SaysoError as error:
            # The reason is only for the log: it may quote the server's stderr.
            _log.warning("%s", error)
            what = f"the server “{upstream.name}” cannot be reached"
            raise RpcError(INTERNAL_ERROR, what) from error
        await set_log_level(connection, params.get("_meta"))
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


def owners(upstreams: Sequence[Upstream], qualified_name: str) -> list[Upstream]:
    """Return the servers whose name is the start of a qualified name; usually there is one."""
    return [upstream for upstream in upstreams if qualified_name.startswith(upstream.prefix)]


async def set_log_level(connection: ServerConnection, meta: Mapping[str, Any] | None) -> None:
    """Set the log level for a call; a connection of the handshake eras keeps the lowest level."""
    level = meta.get(LOG_LEVEL) if meta else None
    if level in LEVELS:
        await connection.set_log_level(str(level))
