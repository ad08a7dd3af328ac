"""The registry: the tools of any number of servers, to look up, to page through and to group."""

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
"""What tells tools apart: server, name, origin, fingerprint."""


class SearchPage(NamedTuple):
    """One page of a search: `tools`, a cursor, and the `total` number of tools on all pages.

    `next_cursor` is `None` on the last page.
    """

    tools: tuple[Tool, ...]
    next_cursor: str | None
    total: int


class Registry:
    """Tools of any number of servers, in one order whatever order they came in.

    Takes every kind of tool that `sayso.catalog.as_tool` takes: the SDK's, entries of `tools/list`,
    `ToolDefinition`s and catalog tools.

    >>> registry = Registry([{"name": "user_list"}])
    >>> registry.add({"name": "user_delete"}).search("users", read_only=True).tools[0].name
    'user_list'
    """

    __slots__ = ("_all", "_keys", "_ranked")

    def __init__(self, tools: Iterable[object] = ()) -> None:
        self._hold(as_tools(tools))

    def _hold(self, tools: Iterable[Tool]) -> None:
        by_key = {_identity(tool): tool for tool in tools}
        self._keys = tuple(sorted(by_key))
        self._all = tuple(by_key[key] for key in self._keys)
        self._ranked: tuple[Ranking, str] | None = None

    def add(self, *tools: object, server: str = "") -> "Registry":
        """Hold more tools, and return this registry; a second of the same name takes its place.

        `server` is the server that the tools are of, where they do not say it. Raises `UsageError`
        for what is no tool; then nothing was added.

        >>> len(Registry().add({"name": "user_list"}, {"name": "user_delete"}, server="crm"))
        2
        """
        more = as_tools(tools, server=server)
        named = {(tool.server, tool.name, tool.origin) for tool in more}
        kept = [tool for tool in self._all if (tool.server, tool.name, tool.origin) not in named]
        self._hold([*kept, *more])
        return self

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @property
    def is_prepared(self) -> bool:
        """Whether `prepare` has run."""
        return self._ranked is not None

    def prepare(self) -> None:
        """Make the index that queries are answered from, before the first of them does.

        With thousands of tools that takes a while; it may be done in another thread.
        """
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
        """Return the tools that fit all that is given, a page at a time.

        A hint is compared as it was resolved. A tool fits a text when it has one word of it, or
        one that begins with it; the more and rarer they are, and the nearer to its name, the
        earlier it comes. Without a text the order is by server and name.

        >>> found = Registry([{"name": "user_list"}, {"name": "user_get"}]).search(limit=1)
        >>> found.tools[0].name, found.total, found.next_cursor is None
        ('user_get', 2, False)

        A cursor says after which tool to go on. Without a text tools that come or go between two
        pages shift nothing; a text ranks tools among the others, so its cursor is good as long as
        these are the same. Raises `UsageError` for a limit that is no number of 1 or more, and for
        a cursor that is none or of another search.
        """
        if type(limit) is not int or limit < 1:
            raise UsageError(f"limit must be at least 1, got {limit!r}")
        hints = (read_only, destructive, idempotent, open_world)
        scores, among = self._scores(text)
        asked = digest([text, *hints, level, category, tag, scope, server, among])[:16]
        fits = _filter(
            {"server": server, "level": level},
            {"category": category},
            {"tags": tag, "scopes": scope},
            dict(zip(HINT_NAMES, hints, strict=True)),
        )
        tools = self._all
        found = [(-score, place) for place, score in scores if fits is None or fits(tools[place])]
        left = found
        if cursor is not None:
            after = self._place(_read_cursor(cursor, asked))
            left = [rank for rank in found if rank > after]
        page = nsmallest(limit, left)
        more = None
        if len(left) > limit:
            more = self._write_cursor(page[-1], asked)
        return SearchPage(tuple(tools[place] for _, place in page), more, len(found))

    def groups(self, by: Grouping) -> Mapping[str | None, tuple[Tool, ...]]:
        """Return all tools by server, category or level, in the order of the registry.

        Groups are sorted, levels from read to destructive; the tools without a category come last,
        under `None`.
        """
        found: dict[str | None, list[Tool]] = {}
        for tool in self:
            name = tool.intent.category
            if by != "category":
                name = str(getattr(tool, by))
            found.setdefault(name, []).append(tool)
        names = sorted(found, key=lambda name: (name is None, name or ""))
        if by == "level":
            names = [level for level in Level if level in found]
        return {name: tuple(found[name]) for name in names}

    def _scores(self, query: str | None) -> tuple[Iterable[tuple[int, int]], str]:
        """The places of the tools that fit, with how well, and among which tools that is so."""
        if query is None or not query.strip():
            return ((place, 1) for place in range(len(self._all))), ""
        self.prepare()
        assert self._ranked is not None  # noqa: S101 - prepared
        ranking, among = self._ranked
        return ranking.scores(query).items(), among

    def _write_cursor(self, last: tuple[int, int], asked: str) -> str:
        text = json.dumps([asked, last[0], *self._keys[last[1]]], separators=(",", ":"))
        return urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def _place(self, cursor: tuple[int, _Identity]) -> tuple[int, float]:
        score, key = cursor
        place = bisect_left(self._keys, key)
        if self._keys[place : place + 1] == (key,):
            return score, place
        return score, place - 0.5


def _filter(
    own: Mapping[str, object],
    intended: Mapping[str, object],
    held: Mapping[str, object],
    hints: Mapping[HintName, bool | None],
) -> Callable[[Tool], bool] | None:
    """Whether a tool is as is wanted, by what is wanted at all; `None` where nothing is."""
    own = _said(own)
    intended = _said(intended)
    held = _said(held)
    wanted: dict[HintName, bool] = {
        name: value for name, value in hints.items() if value is not None
    }
    if not (own or intended or held or wanted):
        return None
    return lambda tool: (
        all(getattr(tool, name) == value for name, value in own.items())
        and all(getattr(tool.intent, name) == value for name, value in intended.items())
        and all(value in getattr(tool.intent, name) for name, value in held.items())
        and all(tool.resolved[name].value is value for name, value in wanted.items())
    )


def _said(wanted: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in wanted.items() if value is not None}


def _identity(tool: Tool) -> _Identity:
    return tool.server, tool.name, tool.origin, tool.fingerprint


def _read_cursor(cursor: str, asked: str) -> tuple[int, _Identity]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        value: object = json.loads(b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, RecursionError):
        value = None
    if not _is_place(value):
        raise UsageError("the cursor is none that a search gave", fix="Begin again without one.")
    if value[0] != asked:
        what = "the cursor is of another search, or the tools have changed since"
        raise UsageError(what, fix="Begin again without one.")
    _, score, server, name, origin, fingerprint = value
    return score, (server, name, origin, fingerprint)


def _is_place(value: object) -> TypeGuard[tuple[str, int, str, str, str, str]]:
    if not isinstance(value, list):
        return False
    kinds = [type(part) for part in cast("list[object]", value)]
    return kinds == [str, int, str, str, str, str]
