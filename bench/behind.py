"""The MCP server behind the gateways that are measured, made with the official SDK.

Usage: `python bench/behind.py PORT|stdio TOOLS`
"""

import json
import sys
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel

READ: ToolAnnotations = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
WRITE: ToolAnnotations = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


class Row(BaseModel):
    """One of many."""

    id: int
    name: str
    note: str
    weight: float


ROWS = [Row(id=n, name=f"row {n}", note="n" * 60, weight=n * 1.5) for n in range(190)]
PLAIN = [one.model_dump() for one in ROWS]


def make_server(tools: int) -> MCPServer[Any]:
    """Five tools that are called, and as many more as make `tools`."""
    server = MCPServer("behind", log_level="ERROR")

    @server.tool(annotations=READ, structured_output=False)
    def get_echo(text: str) -> str:
        """Give back the text."""
        return text

    @server.tool(annotations=WRITE, structured_output=False)
    def set_echo(text: str) -> str:
        """Set the text, and give it back."""
        return text

    @server.tool(annotations=READ, structured_output=False)
    def get_large() -> str:
        """Give 20 KB of JSON as text."""
        return json.dumps({"rows": PLAIN})

    @server.tool(annotations=READ)
    def list_rows() -> list[Row]:
        """Give 20 KB of rows that have a schema."""
        return ROWS

    @server.tool(annotations=READ, structured_output=False)
    def get_huge() -> str:
        """Give three times as much as a result may hold."""
        return json.dumps({"rows": PLAIN * 3})

    for number in range(max(tools - 5, 0)):
        server.tool(name=f"get_part_{number:04d}", annotations=READ, structured_output=False)(_part)
    return server


def _part(path: str, limit: int = 10, *, is_deep: bool = False) -> str:
    """Give the things under a path."""
    del path, limit, is_deep
    return "nothing"


def main() -> None:
    """Serve until ended."""
    if sys.argv[1] == "stdio":
        make_server(int(sys.argv[2])).run("stdio")
        return
    app = make_server(int(sys.argv[2])).streamable_http_app()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
