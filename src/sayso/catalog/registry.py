"""The registry: the tools of any number of servers, for search, paging and grouping."""

import json
from base64 import b64decode, urlsafe_b64encode
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import nsmallest
from typing import Literal, NamedTuple, TypeGuard, cast

from sayso.catalog.convert import as_tools
from sayso.catalog.ranking import Ranking
from sayso.catalog.tool import Tool
from sayso.errors import UsageError
from sayso.intent import HINT_NAMES, HintName, Level
from sayso.schema import digest

Grouping = Literal["server", "category", "level"]

_Identity = tuple[str, str, str, str]
"""The identity of a tool: server, name, origin, fingerprint."""


class SearchPage(NamedTuple):
    """One page of a search; `total` counts all pages, `next_cursor` is `None` on the last one."""

    tools: tuple[Tool, ...]
    next_cursor: str | None
    total: int


class Registry:
    """The tools of any number of servers, in an order that does not depend on insertion.

    Accepts every kind of tool: the SDK's, entries of `tools/list`, `ToolDefinition`s and catalog
    tools.

    >>> registry = Registry([{"name": "user_list"}])
    >>> registry.add({"name": "user_delete"}).search("users", read_only=True).tools[0].name
    'user_list'
    """

    __slots__ = ("_all", "_keys", "_ranked")

    def __init__(self, tools: Iterable[object] = ()) -> None:
        self._set_tools(as_tools(tools))

    def _set_tools(self, tools: Iterable[Tool]) -> None:
        by_key = {_identity(tool): tool for tool in tools}
        self._keys = tuple(sorted(by_key))
        self._all = tuple(by_key[key] for key in self._keys)
        self._ranked: tuple[Ranking, str] | None = None

    def add(self, *tools: object, server: str = "") -> "Registry":
        """Add tools, replacing those with the same server, name and origin; return this registry.

        `server` applies to tools that do not name theirs. If any argument is not a tool, raises
        `UsageError` and adds nothing.

        >>> len(Registry().add({"name": "user_list"}, {"name": "user_delete"}, server="crm"))
        2
        """
        added = as_tools(tools, server=server)
        named = {(tool.server, tool.name, tool.origin) for tool in added}
        kept = [tool for tool in self._all if (tool.server, tool.name, tool.origin) not in named]
        self._set_tools([*kept, *added])
        return self

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @property
    def is_prepared(self) -> bool:
        return self._ranked is not None

    def prepare(self) -> None:
        """Build the search index ahead of the first query; may run in another thread."""
        if self._ranked is None:
            self._ranked = (Ranking(self._all), digest(self._keys)[:16])

    def search(  # noqa: PLR0913 - each narrows the result by itself
        self,
        text: str | None = None,
        *,
        read_only: bool | None = None,
        destructive: bool | None = None,
        idempotent: bool | None = None,
        open_world: bool | None = None,
        level: Level | None = None,
        category: str | None = None,
        tag: str | None = None,
        scope: str | None = None,
        server: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> SearchPage:
        """Return a page of the tools that match all arguments.

        Hints are compared as resolved. A tool matches `text` if it has a word of it, or a word
        that starts with one. A tool ranks higher if it has more of the words, rarer words, or words
        in its name. Without a text, tools are in the order of server and name.

        >>> found = Registry([{"name": "user_list"}, {"name": "user_get"}]).search(limit=1)
        >>> found.tools[0].name, found.total, found.next_cursor is None
        ('user_get', 2, False)

        A cursor continues after a page's last tool. When tools change, only the cursors of searches
        without a text stay valid, because the ranking depends on all tools. Raises `UsageError` for
        a limit below 1, and for a cursor that is invalid or from another search.
        """
        if type(limit) is not int or limit < 1:
            raise UsageError(f"limit must be at least 1, got {limit!r}")
        hints = (read_only, destructive, idempotent, open_world)
        scores, ranked_digest = self._scores(text)
        key = digest([text, *hints, level, category, tag, scope, server, ranked_digest])[:16]
        fits = _filter(
            {"server": server, "level": level},
            {"category": category},
            {"tags": tag, "scopes": scope},
            dict(zip(HINT_NAMES, hints, strict=True)),
        )
        tools = self._all
        ranked = [(-score, place) for place, score in scores if fits is None or fits(tools[place])]
        remaining = ranked
        if cursor is not None:
            after = self._place(_read_cursor(cursor, key))
            remaining = [rank for rank in ranked if rank > after]
        page = nsmallest(limit, remaining)
        next_cursor = None
        if len(remaining) > limit:
            next_cursor = self._write_cursor(page[-1], key)
        return SearchPage(tuple(tools[place] for _, place in page), next_cursor, len(ranked))

    def groups(self, by: Grouping) -> Mapping[str | None, tuple[Tool, ...]]:
        """Return all tools by server, category or level, in the order of the registry.

        Groups are sorted by name, and levels from read to destructive. Tools without a category
        are last, under `None`.
        """
        groups: dict[str | None, list[Tool]] = {}
        for tool in self:
            name = tool.intent.category
            if by != "category":
                name = str(getattr(tool, by))
            groups.setdefault(name, []).append(tool)
        names = sorted(groups, key=lambda name: (name is None, name or ""))
        if by == "level":
            names = [level for level in Level if level in groups]
        return {name: tuple(groups[name]) for name in names}

    def _scores(self, query: str | None) -> tuple[Iterable[tuple[int, int]], str]:
        """Return the matching tools' positions and scores, and a digest of all ranked tools."""
        if query is None or not query.strip():
            return ((place, 1) for place in range(len(self._all))), ""
        self.prepare()
        assert self._ranked is not None  # noqa: S101 - prepared
        ranking, ranked_digest = self._ranked
        return ranking.scores(query).items(), ranked_digest

    def _write_cursor(self, last: tuple[int, int], key: str) -> str:
        text = json.dumps([key, last[0], *self._keys[last[1]]], separators=(",", ":"))
        return urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def _place(self, cursor: tuple[int, _Identity]) -> tuple[int, float]:
        score, key = cursor
        place = bisect_left(self._keys, key)
        if self._keys[place : place + 1] == (key,):
            return score, place
        return score, place - 0.5


def _filter(
    fields: Mapping[str, object],
    intent_fields: Mapping[str, object],
    members: Mapping[str, object],
    hints: Mapping[HintName, bool | None],
) -> Callable[[Tool], bool] | None:
    """Return a predicate for the given criteria, or `None` without any."""
    fields = _without_none(fields)
    intent_fields = _without_none(intent_fields)
    members = _without_none(members)
    required_hints: dict[HintName, bool] = {
        name: value for name, value in hints.items() if value is not None
    }
    if not (fields or intent_fields or members or required_hints):
        return None
    return lambda tool: (
        all(getattr(tool, name) == value for name, value in fields.items())
        and all(getattr(tool.intent, name) == value for name, value in intent_fields.items())
        and all(value in getattr(tool.intent, name) for name, value in members.items())
        and all(tool.resolved[name].value is value for name, value in required_hints.items())
    )


def _without_none(criteria: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in criteria.items() if value is not None}


def _identity(tool: Tool) -> _Identity:
    return tool.server, tool.name, tool.origin, tool.fingerprint


def _read_cursor(cursor: str, key: str) -> tuple[int, _Identity]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        value: object = json.loads(b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, RecursionError):
        value = None
    if not _is_place(value):
        raise UsageError("invalid cursor", fix="Start again without a cursor.")
    if value[0] != key:
        what = "the cursor is from another search, or the tools have changed"
        raise UsageError(what, fix="Start again without a cursor.")
    _, score, server, name, origin, fingerprint = value
    return score, (server, name, origin, fingerprint)


def _is_place(value: object) -> TypeGuard[tuple[str, int, str, str, str, str]]:
    if not isinstance(value, list):
        return False
    kinds = [type(part) for part in cast("list[object]", value)]
    return kinds == [str, int, str, str, str, str]
