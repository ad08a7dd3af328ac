"""Answers the meta-tools: a search here, a call through the guard as the tool that it names."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol

import anyio
from anyio import to_thread

from sayso.catalog import Catalog, Found, Registry, Tool
from sayso.errors import UsageError
from sayso.gateway.search.results import answer, describe, fitting
from sayso.gateway.search.tools import META_TOOLS, SEARCH_TOOLS, USUAL, MetaTool
from sayso.gateway.search.views import View, Views
from sayso.guard import Answer, Guard, Through, UnknownToolError, tool_error
from sayso.policy import Listing, Policy, Principal
from sayso.workers import UndecidedError

_FRAME: Final = 1_000
"""Characters of a result beside its tools; a cursor has most of them."""


class Run(Protocol):
    """Makes one call, through the guard, of the tool that the client knows by this name."""

    def __call__(
        self, name: str, arguments: Mapping[str, Any], through: Through | None = None, /
    ) -> Awaitable[Answer]: ...


class Search:
    """What the gateway lists and answers where the policy says `tools = "search"`.

    `catalog` gives the tools of the moment, and `name_of` what a client calls one of them.
    """

    def __init__(
        self,
        guard: Guard,
        catalog: Callable[[Principal], Awaitable[Catalog]],
        name_of: Callable[[Tool], str],
    ) -> None:
        self._guard = guard
        self._catalog = catalog
        self._name_of = name_of
        self._views = Views(self._sees)
        self._preparing = anyio.Lock()

    @property
    def is_on(self) -> bool:
        return self._guard.policy().tools is Listing.SEARCH

    def answers(self, name: str) -> bool:
        return name in META_TOOLS and self.is_on

    async def listed(self, principal: Principal) -> list[Tool]:
        """The pinned tools that this caller may know of, beside the meta-tools."""
        view = await self._view(principal)
        return [tool for tool in view.pinned if self._name_of(tool) not in META_TOOLS]

    async def call(
        self, name: str, arguments: Mapping[str, Any], principal: Principal, run: Run
    ) -> Answer:
        """The answer of the meta-tool `name`; what it calls is called by `run`."""
        meta = META_TOOLS[name]
        try:
            problems = await meta.checker.problems(arguments, principal.caller)
        except UndecidedError as error:
            return tool_error(f"Nothing was run: these arguments cannot be checked: {error}.")
        if problems:
            told = "\n".join(f"- {problem}" for problem in problems)
            return tool_error(f"Nothing was run: these arguments do not fit {name}.\n{told}")
        if name == SEARCH_TOOLS:
            return await self._search(arguments, principal)
        return await self._call(meta, arguments, run)

    async def _call(self, meta: MetaTool, arguments: Mapping[str, Any], run: Run) -> Answer:
        called: str = arguments["name"]
        assert meta.most is not None  # noqa: S101 - it is one that calls
        try:
            through = Through(meta.name, meta.most, called)
            return await run(called, arguments.get("arguments") or {}, through)
        except UnknownToolError as error:
            # The name is an argument here, and a model can mend that where it reads the result.
            return tool_error(f"{error}. Find a tool's name with {SEARCH_TOOLS}.")

    async def _search(self, wanted: Mapping[str, Any], principal: Principal) -> Answer:
        view = await self._view(principal)
        registry = view.registry
        await self._prepare(registry)
        limit = int(wanted.get("limit", USUAL))
        try:
            found = _find(registry, wanted, limit)
            entries = [self._told(view, tool) for tool in found.tools]
            count = fitting(entries, self._guard.limit - _FRAME)
            if count < len(entries):
                found = _find(registry, wanted, count)
            return answer(entries[:count], found)
        except UsageError as error:
            return tool_error(str(error))

    def _told(self, view: View, tool: Tool) -> dict[str, Any]:
        name = self._name_of(tool)
        told = view.told.get(name)
        if told is None:
            told = view.told[name] = describe(tool, name)
        return told

    async def _view(self, principal: Principal) -> View:
        return self._views.of(await self._catalog(principal), self._guard.policy(), principal)

    async def _prepare(self, registry: Registry) -> None:
        """Make the index; beside the other requests, since that may take a second."""
        if registry.is_prepared:
            return
        async with self._preparing:
            if not registry.is_prepared:
                await to_thread.run_sync(registry.prepare)

    def _sees(self, principal: Principal, tool: Tool, policy: Policy) -> Tool | None:
        seen = self._guard.sees(principal, tool, policy)
        return seen and seen[0]


def _find(registry: Registry, wanted: Mapping[str, Any], limit: int) -> Found:
    return registry.search(
        wanted.get("query"),
        level=wanted.get("level"),
        category=wanted.get("category"),
        server=wanted.get("server"),
        limit=limit,
        cursor=wanted.get("cursor"),
    )
