"""Answers the meta-tools: a search here, a call through the guard as the tool that it names."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import anyio
from anyio import to_thread

from sayso.catalog import Catalog, Registry, SearchPage, Tool
from sayso.errors import UsageError
from sayso.gateway.search.tools import META_TOOLS, SEARCH_TOOLS, USUAL, MetaTool
from sayso.guard import Answer, Guard, Through, UnknownToolError, tool_error
from sayso.intent import WIRE_NAMES
from sayso.policy import Listing, Policy, Principal
from sayso.prompt import TITLE_LIMIT, tame
from sayso.schema import brief, retold, size
from sayso.workers import UndecidedError

_MOST_CALLERS: Final = 1_000
_MOST_VIEWS: Final = 16
"""An index of thousands of tools takes some megabytes; callers who see the same share one."""

Sees = Callable[[Principal, Tool, Policy], Tool | None]
"""The tool as the policy sees it, if the caller may know of it."""


@dataclass(frozen=True, slots=True)
class View:
    """The tools that a caller may find, and those that are listed to it all the same.

    `told` holds what has been told of tools: to tame a text costs more than to find it.
    """

    registry: Registry
    pinned: tuple[Tool, ...]
    told: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


@dataclass(slots=True)
class Views:
    """Remembers views as long as the catalog and the policy are the same objects."""

    sees: Sees
    _catalog: Catalog | None = None
    _policy: Policy | None = None
    _of_callers: dict[Principal, View] = field(default_factory=dict[Principal, View])
    _of_tools: dict[tuple[int, ...], View] = field(default_factory=dict["tuple[int, ...]", View])

    def of(self, catalog: Catalog, policy: Policy, principal: Principal) -> View:
        """What `principal` may find; what it may not see has no part in how that is ranked."""
        if catalog is not self._catalog or policy is not self._policy:
            self._catalog = catalog
            self._policy = policy
            self._of_callers.clear()
            self._of_tools.clear()
        view = self._of_callers.get(principal)
        if view is None:
            if len(self._of_callers) >= _MOST_CALLERS:
                self._of_callers.clear()
            view = self._of_callers[principal] = self._make(catalog, policy, principal)
        return view

    def _make(self, catalog: Catalog, policy: Policy, principal: Principal) -> View:
        found = (self.sees(principal, tool, policy) for tool in catalog.tools.values())
        seen = [tool for tool in found if tool is not None]
        # Tools as a policy sees them are the same objects for all callers while it counts.
        same = tuple(id(tool) for tool in seen)
        view = self._of_tools.get(same)
        if view is None:
            if len(self._of_tools) >= _MOST_VIEWS:
                self._of_callers.clear()
                self._of_tools.clear()
            pinned = tuple(tool for tool in seen if policy.is_pinned(tool.qualified_name))
            view = self._of_tools[same] = View(Registry(seen), pinned)
        return view


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
        if name not in view.told:
            view.told[name] = describe(tool, name)
        return view.told[name]

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


def _find(registry: Registry, wanted: Mapping[str, Any], limit: int) -> SearchPage:
    return registry.search(
        wanted.get("query"),
        level=wanted.get("level"),
        category=wanted.get("category"),
        server=wanted.get("server"),
        limit=limit,
        cursor=wanted.get("cursor"),
    )


_DESCRIPTION: Final = 600
_ARGUMENT: Final = 300
_SCHEMA: Final = 6_000
"""Characters of a tool's description, of one argument's, and of its whole schema."""


def describe(tool: Tool, name: str) -> dict[str, Any]:
    """One tool, called `name`, with its server's texts as data: tamed, and bounded."""
    said = tool.raw.get("description")
    schema = tool.input_schema or {"type": "object"}
    told = retold(schema, lambda text: tame(text, _ARGUMENT))
    return {
        "name": name,
        "title": tame(tool.title, TITLE_LIMIT),
        "description": tame(said, _DESCRIPTION) if isinstance(said, str) else "",
        "level": str(tool.level),
        "hints": {wire: tool.resolved[hint].value for hint, wire in WIRE_NAMES.items()},
        "inputSchema": told if size(told) <= _SCHEMA else brief(schema, limit=_SCHEMA),
    }


def fitting(entries: list[dict[str, Any]], room: int) -> int:
    """How many of `entries`, from the first, have room; one in any case."""
    for count, entry in enumerate(entries):
        room -= size(entry) + 1
        if room < 0:
            return max(count, 1)
    return len(entries)


def answer(entries: list[dict[str, Any]], found: SearchPage) -> Answer:
    """The result; its text says the same as its structure."""
    structured: dict[str, Any] = {"tools": entries, "total": found.total}
    if found.next_cursor is not None:
        structured["nextCursor"] = found.next_cursor
    text = json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
    return {"content": [{"type": "text", "text": text}], "structuredContent": structured}
