"""The registry: the tools of any number of servers, to look up, to page through and to group."""

import json
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple, TypeGuard, cast

from avow.catalog.tool import Tool
from avow.catalog.words import words_of
from avow.errors import UsageError
from avow.intent import HINT_NAMES, Level
from avow.schema import digest

Grouping = Literal["server", "category", "level"]

_Identity = tuple[str, str, str, str]
"""What tells tools apart: server, name, origin, fingerprint."""
_Place = tuple[int, _Identity]
"""Where a tool stands in a result: its score, negated, and who it is."""

_WEIGHTS: Final = (8, 4, 1)
"""What a word is worth in a name, in a title, category or tag, and in a description."""
_SHORTEST_PREFIX: Final = 3


class Found(NamedTuple):
    """One page of a search; `total` counts the tools on all pages.

    `next_cursor` is `None` on the last page.
    """

    results: tuple[Tool, ...]
    next_cursor: str | None
    total: int


class Registry:
    """Tools of any number of servers, in one order whatever order they came in.

    >>> from avow.catalog import make_tool
    >>> registry = Registry([make_tool("crm", {"name": n}) for n in ("user_list", "user_delete")])
    >>> [one.name for one in registry.search("users", level=Level.READ).results]
    ['user_list']
    """

    __slots__ = ("_tools", "_words")

    def __init__(self, tools: Iterable[Tool]) -> None:
        by_key = {_identity(one): one for one in tools}
        self._tools = {key: by_key[key] for key in sorted(by_key)}
        self._words: dict[_Identity, tuple[frozenset[str], ...]] = {}

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def search(  # noqa: PLR0913 - each narrows the result by itself
        self,
        query: str | None = None,
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
    ) -> Found:
        """The tools that fit all that is said, a page at a time.

        A hint is compared as it was resolved. A tool fits a query when it has one word of it; the
        more of them and the nearer to its name, the earlier it comes. Without a query the order is
        by server and name. A cursor says after which tool to go on, so tools that come or go
        between two pages shift nothing. Raises `UsageError` for a limit that is no number of 1 or
        more, and for a cursor that is none or of another search.
        """
        if type(limit) is not int or limit < 1:
            raise UsageError(f"a limit of {limit!r} tools is none", fix="Give at least 1.")
        hints = (read_only, destructive, idempotent, open_world)
        asked = digest([query, *hints, level, category, tag, scope, server])[:16]
        after = None if cursor is None else _read_cursor(cursor, asked)
        found = sorted(
            (-score, key)
            for key, one in self._tools.items()
            if server in (None, one.server)
            and level in (None, one.level)
            and category in (None, one.intent.category)
            and (tag is None or tag in one.intent.tags)
            and (scope is None or scope in one.intent.scopes)
            and all(
                wanted in (None, one.resolved[name].value)
                for name, wanted in zip(HINT_NAMES, hints, strict=True)
            )
            and (score := self._score(query, key, one))
        )
        left = found if after is None else [one for one in found if one > after]
        page = left[:limit]
        more = _write_cursor(page[-1], asked) if len(left) > limit else None
        return Found(tuple(self._tools[key] for _, key in page), more, len(found))

    def groups(self, by: Grouping) -> Mapping[str | None, tuple[Tool, ...]]:
        """All tools by server, category or level; `group_tools` does it with a part of them."""
        return group_tools(self, by)

    def _score(self, query: str | None, key: _Identity, tool: Tool) -> int:
        """How well a tool fits, by itself alone: a page must not depend on the other tools."""
        if query is None or not query.strip():
            return 1
        if key not in self._words:
            self._words[key] = _fields_of(tool)
        return sum(_worth(word, self._words[key]) for word in words_of(query))


def group_tools(tools: Iterable[Tool], by: Grouping) -> dict[str | None, tuple[Tool, ...]]:
    """Tools by server, category or level, each group in the order in which they came.

    Groups are sorted, levels from read to destructive; those without a category come last, under
    `None`.
    """
    found: dict[str | None, list[Tool]] = {level: [] for level in Level} if by == "level" else {}
    for one in tools:
        name = one.intent.category if by == "category" else str(getattr(one, by))
        found.setdefault(name, []).append(one)
    names = found if by == "level" else sorted(found, key=lambda name: (name is None, name or ""))
    return {name: tuple(found[name]) for name in names if found[name]}


def _identity(tool: Tool) -> _Identity:
    return tool.server, tool.name, tool.origin, tool.fingerprint


def _fields_of(tool: Tool) -> tuple[frozenset[str], ...]:
    """The words of a tool's name, of what it is filed under, and of its description."""
    intent, said = tool.intent, tool.raw.get("description")
    filed = " ".join([intent.title or "", intent.category or "", *sorted(intent.tags)])
    return words_of(tool.name), words_of(filed), words_of(said if isinstance(said, str) else "")


def _worth(word: str, fields: tuple[frozenset[str], ...]) -> int:
    """What a word of a query is worth, where it is found best; half for the beginning of a word."""
    for weight, words in zip(_WEIGHTS, fields, strict=True):
        if word in words:
            return 2 * weight
        if len(word) >= _SHORTEST_PREFIX and any(one.startswith(word) for one in words):
            return weight
    return 0


def _write_cursor(place: _Place, asked: str) -> str:
    text = json.dumps([asked, place[0], *place[1]], separators=(",", ":"))
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read_cursor(cursor: str, asked: str) -> _Place:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        value: object = json.loads(b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, RecursionError):
        value = None
    if not _is_place(value):
        raise UsageError("the cursor is none that a search gave", fix="Begin again without one.")
    if value[0] != asked:
        raise UsageError("the cursor is of another search", fix="Begin again without one.")
    _, score, server, name, origin, fingerprint = value
    return score, (server, name, origin, fingerprint)


def _is_place(value: object) -> TypeGuard[tuple[str, int, str, str, str, str]]:
    if not isinstance(value, list):
        return False
    kinds = [type(one) for one in cast("list[object]", value)]
    return kinds == [str, int, str, str, str, str]
