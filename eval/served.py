"""Worlds behind servers that are not ours: each call goes on to the server itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError

from eval.outcome import Ends, Made
from eval.score import ends_of
from eval.script import Script
from eval.stage import failure

RENAMED, UNLISTED = "apply_item", "maintain"
"""Two more names for tools of a server: one says nothing of what it does, one is not listed."""

_TEXTS: Final = {RENAMED: "Applies the item.", UNLISTED: "Maintenance."}


@dataclass(slots=True)
class ServedWorld:
    """A server, and what it changes. `more` says which tools the two more names stand for."""

    name: str
    client: Client
    restore: Callable[[], None]
    view: Callable[[], str]
    more: Mapping[str, str]
    _tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def begin(self) -> "ServedWorld":
        """Ask the server for its tools."""
        listed = (await self.client.list_tools()).tools
        own = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in listed]
        named = {tool["name"]: tool for tool in own}
        added = [
            {**named[real], "name": alias, "title": alias, "description": _TEXTS[alias]}
            for alias, real in self.more.items()
        ]
        self._tools = [*own, *added]
        return self

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """See `World.tools`."""
        return self._tools

    @property
    def declared(self) -> dict[str, Mapping[str, bool] | None]:
        """The hints as the server's own authors give them."""
        return {tool["name"]: tool.get("annotations") for tool in self._tools}

    def reset(self, script: Script) -> None:
        """See `World.reset`."""
        del script
        self.restore()

    def look(self) -> str:
        """See `World.look`."""
        return self.view()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """See `World.call`."""
        try:
            return await self.client.call_tool(self.more.get(tool, tool), dict(arguments))
        except MCPError as error:
            return failure(str(error))

    def ends(self, script: Script, free: Sequence[Made], made: Sequence[Made]) -> Ends:
        """See `World.ends`."""
        return ends_of(script, free, made)
