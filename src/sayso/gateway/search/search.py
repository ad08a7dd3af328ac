"""The answers of the meta-tools: a search in the index, or a tool's call through the guard."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import anyio
from anyio import to_thread

from sayso.catalog import Catalog, Registry, SearchPage, Tool
from sayso.errors import UsageError
from sayso.gateway.search.tools import DEFAULT_LIMIT, META_TOOLS, SEARCH_TOOLS, MetaTool
from sayso.guard import Answer, Guard, Through, UnknownToolError, tool_error
from sayso.intent import WIRE_NAMES
from sayso.policy import Listing, Policy, Principal
from sayso.prompt import TITLE_LIMIT, tame
from sayso.schema import brief, retold, size
from sayso.workers import UndecidedError

_MAX_CALLERS: Final = 1_000
_MAX_VIEWS: Final = 16
"""The maximum cached views, because an index of thousands of tools takes some megabytes."""

Sees = Callable[[Principal, Tool, Policy], Tool | None]
"""A function that returns the tool under the policy; `None` if the caller may not see it."""


@dataclass(frozen=True, slots=True)
class View:
    """The tools that a caller may find, and the pinned ones that are always listed.

    `described` caches descriptions, because making a description costs more than a search.
    """

    registry: Registry
    pinned: tuple[Tool, ...]
    described: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


@dataclass(slots=True)
class Views:
    """A cache of views, shared by callers, valid while catalog and policy are the same objects."""

    sees: Sees
    _catalog: Catalog | None = None
    _policy: Policy | None = None
    _of_callers: dict[Principal, View] = field(default_factory=dict[Principal, View])
    _of_tools: dict[tuple[int, ...], View] = field(default_factory=dict["tuple[int, ...]", View])

    def of(self, catalog: Catalog, policy: Policy, principal: Principal) -> View:
        """Return the view of `principal`; hidden tools do not affect the ranking."""
        if catalog is not self._catalog or policy is not self._policy:
            self._catalog = catalog
            self._policy = policy
            self._of_callers.clear()
            self._of_tools.clear()
        view = self._of_callers.get(principal)
        if view is None:
            if len(self._of_callers) >= _MAX_CALLERS:
                self._of_callers.clear()
            view = self._of_callers[principal] = self._make(catalog, policy, principal)
        return view

    def _make(self, catalog: Catalog, policy: Policy, principal: Principal) -> View:
        sights = (self.sees(principal, tool, policy) for tool in catalog.tools.values())
        visible = [tool for tool in sights if tool is not None]
        # Under one policy, the tools are the same objects for all callers.
        key = tuple(map(id, visible))
        view = self._of_tools.get(key)
        if view is None:
            if len(self._of_tools) >= _MAX_VIEWS:
                self._of_callers.clear()
                self._of_tools.clear()
            pinned = tuple(tool for tool in visible if policy.is_pinned(tool.qualified_name))
            view = self._of_tools[key] = View(Registry(visible), pinned)
        return view


_FRAME: Final = 1_000
"""The characters of a result in addition to its tools, mostly a cursor."""


class Run(Protocol):
    """A function that calls a tool, by the name that clients use, through the guard."""

    def __call__(
        self, name: str, arguments: Mapping[str, Any], through: Through | None = None, /
    ) -> Awaitable[Answer]: ...


class Search:
    """The lists and answers of a gateway whose policy says `tools = "search"`.

    `catalog` returns the current tools, and `name_of` the name that clients use for a tool.
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
        """Return the pinned tools that this caller may see, without the meta-tools."""
        view = await self._view(principal)
        return [tool for tool in view.pinned if self._name_of(tool) not in META_TOOLS]

    async def call(
        self, name: str, arguments: Mapping[str, Any], principal: Principal, run: Run
    ) -> Answer:
        """Answer a call of the meta-tool `name`; `run` calls the tool that the arguments name."""
        meta = META_TOOLS[name]
        try:
            problems = await meta.checker.problems(arguments, principal.caller)
        except UndecidedError as error:
            return tool_error(f"Nothing was run: these arguments cannot be checked: {error}.")
        if problems:
            lines = "\n".join(f"- {problem}" for problem in problems)
            return tool_error(f"Nothing was run: these arguments do not fit {name}.\n{lines}")
        if name == SEARCH_TOOLS:
            return await self._search(arguments, principal)
        return await self._call(meta, arguments, run)

    async def _call(self, meta: MetaTool, arguments: Mapping[str, Any], run: Run) -> Answer:
        called: str = arguments["name"]
        assert meta.max_level is not None  # noqa: S101 - the search was answered above
        try:
            through = Through(meta.name, meta.max_level, called)
            return await run(called, arguments.get("arguments") or {}, through)
        except UnknownToolError as error:
            # The unknown name is an argument here, so return a tool error, not a protocol error.
            return tool_error(f"{error}. Find a tool's name with {SEARCH_TOOLS}.")

    async def _search(self, arguments: Mapping[str, Any], principal: Principal) -> Answer:
        view = await self._view(principal)
        await self._prepare(view.registry)
        limit = int(arguments.get("limit", DEFAULT_LIMIT))
        try:
            page = _find(view.registry, arguments, limit)
            entries = [self._described(view, tool) for tool in page.tools]
            count = fitting(entries, self._guard.limit - _FRAME)
            if count < len(entries):
                page = _find(view.registry, arguments, count)
            return answer(entries[:count], page)
        except UsageError as error:
            return tool_error(str(error))

    def _described(self, view: View, tool: Tool) -> dict[str, Any]:
        name = self._name_of(tool)
        if name not in view.described:
            view.described[name] = describe(tool, name)
        return view.described[name]

    async def _view(self, principal: Principal) -> View:
        return self._views.of(await self._catalog(principal), self._guard.policy(), principal)

    async def _prepare(self, registry: Registry) -> None:
        """Build the index in a thread, because that may take a second."""
        if registry.is_prepared:
            return
        async with self._preparing:
            if not registry.is_prepared:
                await to_thread.run_sync(registry.prepare)

    def _sees(self, principal: Principal, tool: Tool, policy: Policy) -> Tool | None:
        seen = self._guard.sees(principal, tool, policy)
        return seen and seen[0]


def _find(registry: Registry, arguments: Mapping[str, Any], limit: int) -> SearchPage:
    filters = {key: arguments.get(key) for key in ("level", "category", "server", "cursor")}
    return registry.search(arguments.get("query"), limit=limit, **filters)


_MAX_DESCRIPTION: Final = 600
_MAX_ARGUMENT: Final = 300
_MAX_SCHEMA: Final = 6_000
"""The maximum characters of a tool's description, an argument's description, and the schema."""


def describe(tool: Tool, name: str) -> dict[str, Any]:
    """Return a tool's entry in a search result, with its server's texts tamed and cut."""
    text = tool.raw.get("description")
    schema = tool.input_schema or {"type": "object"}
    tamed = retold(schema, lambda text: tame(text, _MAX_ARGUMENT))
    return {
        "name": name,
        "title": tame(tool.title, TITLE_LIMIT),
        "description": tame(text, _MAX_DESCRIPTION) if isinstance(text, str) else "",
        "level": str(tool.level),
        "hints": {wire: tool.resolved[hint].value for hint, wire in WIRE_NAMES.items()},
        "inputSchema": tamed if size(tamed) <= _MAX_SCHEMA else brief(schema, limit=_MAX_SCHEMA),
    }


def fitting(entries: list[dict[str, Any]], room: int) -> int:
    """Return how many of the first `entries` fit into `room` characters; at least one."""
    for count, entry in enumerate(entries):
        room -= size(entry) + 1
        if room < 0:
            return max(count, 1)
    return len(entries)


def answer(entries: list[dict[str, Any]], page: SearchPage) -> Answer:
    """Return the result of a search as structured content, and as the same JSON in a text."""
    structured: dict[str, Any] = {"tools": entries, "total": page.total}
    if page.next_cursor is not None:
        structured["nextCursor"] = page.next_cursor
    text = json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
    return {"content": [{"type": "text", "text": text}], "structuredContent": structured}
