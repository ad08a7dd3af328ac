"""Whole lists from a server that gives them page by page."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from sayso.connect.link import Link
from sayso.connect.message import read_value
from sayso.connect.rpc import Fault, RpcError
from sayso.errors import NotMcpError
from sayso.slices import LARGE_BYTES, in_slices, rest_since

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
        page = await link.request(method, params, timeout=timeout, kept=frozenset({key}))
        found = await _entries(page.get(key))
        if found is None:
            what = f"its answer to {method} holds no list of {key}"
            raise NotMcpError(what, where=link.name)
        entries += found
        seconds = _least(seconds, _seconds(page))
        is_public = is_public and page.get("cacheScope") == "public"
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            return Listed(entries, seconds, is_public)
    what = f"its {method} does not end after {_MOST_PAGES} pages"
    raise NotMcpError(what, where=link.name)


async def _entries(raw: object) -> list[Any] | None:
    """Return the entries of one page, read in slices; `None` for what is no list."""
    if not isinstance(raw, msgspec.Raw):
        return None
    try:
        if len(raw) <= LARGE_BYTES:
            found = read_value(raw)
            return cast("list[Any]", found) if isinstance(found, list) else None
        begun = time.perf_counter()
        pieces = msgspec.json.decode(raw, type=list[msgspec.Raw])
        await rest_since(begun)
        return await in_slices(pieces, read_value)
    except msgspec.ValidationError:
        return None
    except ValueError as error:  # the words quote what could not be read
        raise RpcError.none(Fault.LOST, "its answer cannot be read") from error


def _seconds(page: Mapping[str, Any]) -> float | None:
    said: object = page.get("ttlMs")
    if isinstance(said, bool) or not isinstance(said, int | float) or said < 0:
        return None
    return said / 1000


def _least(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else min(one, other)
