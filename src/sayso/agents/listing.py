"""The cached list of a server's tools, requested as raw JSON."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from mcp.shared.inbound import find_invalid_x_mcp_header

from sayso.agents.wire import Wire
from sayso.catalog import Tool, read_tools
from sayso.connect import METHOD_NOT_FOUND, RpcError
from sayso.errors import NotMcpError, UnreachableError

_FRESH_SECONDS: Final = 30.0
"""How long a list is cached; a `list_changed` notification drops it at once."""

_MAX_PAGES: Final = 1000

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class Listing:
    """The tools of one server; `server` is its name in the policy.

    `is_left` is set when the guard is closed. No tool may be called after that.
    """

    wire: Wire
    server: str
    origin: str
    is_left: bool = False
    _tools: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    _at: float | None = None
    _changes: int = 0

    def forget(self) -> None:
        self._at = None
        self._changes += 1

    async def find(
        self, name: str, _principal: object, /, *, is_fresh: bool = False
    ) -> Tool | None:
        """Return the tool of this name; `is_fresh` bypasses the cache.

        Raises `UnreachableError` if the server does not return its list.
        """
        try:
            tools = await self.known(is_fresh=is_fresh)
        except RpcError as error:
            raise UnreachableError(f"tools/list failed: {error}", where=self.server) from error
        return tools.get(name)

    async def known(self, *, is_fresh: bool = False) -> Mapping[str, Tool]:
        """Return the tools by name, from the cache if it is fresh. Raises the errors of `ask`."""
        if is_fresh or self._at is None or time.monotonic() - self._at > _FRESH_SECONDS:
            return await self.ask()
        return self._tools

    async def ask(self, meta: Mapping[str, Any] | None = None) -> Mapping[str, Tool]:
        """Request all pages of the list. If two tools have the same name, keep the first.

        Raises `RpcError`. Raises `NotMcpError` if a page has no list or there are too many pages.
        """
        changes = self._changes
        tools = self._read(await self._entries(meta))
        if changes == self._changes:
            # Cache the list only if the server reported no change while it was read.
            self._tools = tools
            self._at = time.monotonic()
        return tools

    async def _entries(self, meta: Mapping[str, Any] | None) -> list[Any]:
        entries: list[Any] = []
        params: dict[str, Any] = {"_meta": dict(meta)} if meta else {}
        for _ in range(_MAX_PAGES):
            try:
                page = await self.wire.request("tools/list", params)
            except RpcError as error:
                if error.code == METHOD_NOT_FOUND and error.fault is None:
                    return []
                raise
            listed = page.get("tools")
            if not isinstance(listed, list):
                raise NotMcpError("the tools/list result has no list “tools”", where=self.server)
            entries += cast("list[Any]", listed)
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str):
                return entries
            params = {**params, "cursor": cursor}
        what = f"tools/list has more than {_MAX_PAGES} pages"
        raise NotMcpError(what, where=self.server)

    def _read(self, entries: Sequence[Any]) -> Mapping[str, Tool]:
        tools, problems = read_tools(self.server, entries, origin=self.origin)
        by_name: dict[str, Tool] = {}
        for tool in tools:
            # MCP 2026-07-28: a client must drop a tool with an invalid `x-mcp-header`.
            wrong = None
            if self.wire.is_modern:
                wrong = find_invalid_x_mcp_header(tool.input_schema)
            if wrong is not None:
                problems.append(f"{self.server}: the tool {tool.name!r} is not listed: {wrong}")
            elif tool.name in by_name:
                problems.append(f"{self.server}: two tools are named {tool.name!r}; the first wins")
            else:
                by_name[tool.name] = tool
        for problem in problems:
            _log.warning("%s", problem)
        return by_name
