"""Whole lists from a server that gives them page by page."""

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


async def list_all(link: Link, method: str, *, timeout: float) -> list[Any]:
    """Every entry of one list, as received; `timeout` in seconds for each page.

    Raises `RpcError`, and `NotMcpError` when the answer holds no list or the pages never end.
    """
    key = LISTS[method]
    entries: list[Any] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        params = {} if cursor is None else {"cursor": cursor}
        page = await link.request(method, params, timeout=timeout)
        found = page.get(key)
        if not isinstance(found, list):
            what = f"its answer to {method} holds no list of {key}"
            raise NotMcpError(what, where=link.name)
        entries += cast("list[Any]", found)
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            return entries
    what = f"its {method} does not end after {_MOST_PAGES} pages"
    raise NotMcpError(what, where=link.name)
