"""Whole lists from a server that gives them page by page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from avow.connect.link import Link
from avow.errors import NotMcpError

_MOST_PAGES: Final = 1000

LISTS: Final = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
"""The list methods of the protocol, and the key that holds the entries of each."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One list, as received, and for how long and for whom it holds.

    `seconds` is `None` where that was not said; one that `is_public` is the same for all callers
    (MCP 2026-07-28, `ttlMs` and `cacheScope`).
    """

    entries: list[Any]
    seconds: float | None = None
    is_public: bool = False


async def list_all(link: Link, method: str, *, timeout: float) -> list[Any]:
    """Every entry of one list, as received; `timeout` in seconds for each page.

    Raises `RpcError`, and `NotMcpError` when the answer holds no list or the pages never end.
    """
    return (await read_list(link, method, timeout=timeout)).entries


async def read_list(link: Link, method: str, *, timeout: float) -> Listed:
    """The same, and how long it holds for whom: what the strictest of its pages says."""
    key = LISTS[method]
    entries: list[Any] = []
    seconds: float | None = None
    is_public = True
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        params = {} if cursor is None else {"cursor": cursor}
        page = await link.request(method, params, timeout=timeout)
        found = page.get(key)
        if not isinstance(found, list):
            what = f"its answer to {method} holds no list of {key}"
            raise NotMcpError(what, where=link.name)
        entries += cast("list[Any]", found)
        seconds = _least(seconds, _seconds(page))
        is_public = is_public and page.get("cacheScope") == "public"
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            return Listed(entries, seconds, is_public)
    what = f"its {method} does not end after {_MOST_PAGES} pages"
    raise NotMcpError(what, where=link.name)


def _seconds(page: Mapping[str, Any]) -> float | None:
    said: object = page.get("ttlMs")
    if isinstance(said, bool) or not isinstance(said, int | float) or said < 0:
        return None
    return said / 1000


def _least(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else min(one, other)
