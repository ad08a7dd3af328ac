"""A server whose every write stands in a file, so that a test can tell what ran, and how often.

`journal.py FILE` speaks over stdio, `journal.py FILE PORT` over HTTP, to any number of clients.
"""

import os
import sys
from pathlib import Path

import anyio
from mcp.server import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("journal")
path = Path(sys.argv[1])


def hints(*, read_only: bool = False, destructive: bool = False) -> ToolAnnotations:
    return ToolAnnotations(
        read_only_hint=read_only,
        destructive_hint=destructive,
        idempotent_hint=False,
        open_world_hint=False,
    )


def write(number: int) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{number}\n")


@server.tool(annotations=hints())
async def append(number: int, seconds: float = 0) -> str:
    """Append a number to the journal, and take some time."""
    write(number)
    await anyio.sleep(seconds)
    return f"appended {number}"


@server.tool(annotations=hints(destructive=True))
async def drop(number: int) -> str:
    """Drop a number."""
    write(number)
    return f"dropped {number}"


@server.tool(annotations=hints(read_only=True))
async def read(number: int, seconds: float = 0) -> str:
    """Read a number."""
    await anyio.sleep(seconds)
    return f"read {number} in {os.getpid()}"


def main() -> None:
    if len(sys.argv) == 2:
        server.run("stdio")
        return
    import uvicorn

    app = server.streamable_http_app()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="error", access_log=False)


main()
