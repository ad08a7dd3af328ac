"""Complete lists from a server, read page by page."""

import math
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
    """One list as received, with its `ttlMs` (in seconds) and `cacheScope`, if given."""

    entries: list[Any]
    seconds: float | None = None
    is_public: bool = False


async def list_all(link: Link, method: str, *, timeout: float) -> list[Any]:
    """Return every entry of one list, as received. `timeout` and errors are as for `read_list`."""
    return (await read_list(link, method, timeout=timeout)).entries


async def read_list(link: Link, method: str, *, timeout: float) -> Listed:
    """Return one list, with the strictest cache settings of its pages.

    `timeout` is in seconds for each page. Raises `RpcError`, and `NotMcpError` if the answer holds
    no list or the pages never end.
    """
    key = LISTS[method]
    entries: list[Any] = []
    seconds = math.inf
    is_public = True
    params: dict[str, str] = {}
    for _ in range(_MOST_PAGES):
        page = await link.request(method, params, timeout=timeout, kept=frozenset({key}))
        found = await _entries(page.get(key))
        if found is None:
            what = f"the answer to {method} has no list of {key}"
            raise NotMcpError(what, where=link.name)
        entries += found
        seconds = min(seconds, _seconds(page))
        is_public = is_public and page.get("cacheScope") == "public"
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            return Listed(entries, None if math.isinf(seconds) else seconds, is_public)
        params = {"cursor": cursor}
    what = f"{method} does not end after {_MOST_PAGES} pages"
    raise NotMcpError(what, where=link.name)


async def _entries(raw: object) -> list[Any] | None:
    """Return the entries of one page, read in slices, or `None` if `raw` is not a list."""
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
    except ValueError as error:  # its message quotes the unreadable answer
        raise RpcError.none(Fault.LOST, "the answer cannot be read") from error


def _seconds(page: Mapping[str, Any]) -> float:
    ttl: object = page.get("ttlMs")
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or ttl < 0:
        return math.inf
    return ttl / 1000
