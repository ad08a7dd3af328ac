"""The servers in the documentation, and the calls that stand in a comment above each.

`<!-- tool {"argument": 1} -> words -->` is a call and words of its answer; `! words` are those of
a protocol error.
"""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from mcp import Client, MCPError, StdioServerParameters
from mcp.server import MCPServer
from mcp_types import ElicitResult, TextContent
from tests.connect.serving import ENVIRONMENT, serve_app
from tests.warm import Warm

DOCS = Path(__file__).parents[2]
_BLOCK = re.compile(r"((?:<!-- .*? -->\n)+)```python server\n(.*?)```", re.DOTALL)
_CALL = re.compile(r"<!-- (\w+) (\{.*\}) -> (.*) -->")


class Said(NamedTuple):
    """One call and what the page says of its answer."""

    tool: str
    arguments: dict[str, Any]
    words: str


class Example(NamedTuple):
    """One server of a page."""

    name: str
    code: str
    calls: list[Said]

    def on(self, framework: str) -> str:
        """Return the example for another framework: two lines differ."""
        if framework == "MCPServer":
            return self.code
        code = self.code.replace("from mcp.server import MCPServer", "from fastmcp import FastMCP")
        return code.replace("MCPServer(", "FastMCP(")


def find_examples(*paths: str) -> list[Example]:
    """All servers in these pages."""
    return [
        Example(f"{path}-{number}", code, _calls(comments))
        for path in paths
        for number, (comments, code) in enumerate(_BLOCK.findall((DOCS / path).read_text()))
    ]


def _calls(comments: str) -> list[Said]:
    return [
        Said(tool, json.loads(arguments), words)
        for tool, arguments, words in _CALL.findall(comments)
    ]


@asynccontextmanager
async def connected(
    code: str, transport: str, era: str, folder: Path, python: Warm
) -> AsyncGenerator[Client]:
    """A client of the server that `code` makes; whoever sits at it says yes."""

    async def agree(context: Any, params: Any) -> ElicitResult:
        del context, params
        return ElicitResult(action="accept", content={"approve": True})

    async with (
        _reached(code, transport, folder, python) as target,
        Client(target, mode=era, elicitation_callback=agree) as client,
    ):
        yield client


@asynccontextmanager
async def _reached(code: str, transport: str, folder: Path, python: Warm) -> AsyncGenerator[Any]:
    if transport == "stdio":
        path = folder / "server.py"
        path.write_text(code)
        words = python.words("-W", "error", str(path))
        env = {**ENVIRONMENT, "FASTMCP_SHOW_SERVER_BANNER": "false"}
        yield StdioServerParameters(command=words[0], args=words[1:], env=env)
        return
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, "example", "exec"), names)  # noqa: S102 - the project's own documentation
    server = names["server"]
    is_official = isinstance(server, MCPServer)
    if transport == "memory":
        yield server if is_official else server._mcp_server  # noqa: SLF001 - FastMCP has no other way
        return
    app = server.streamable_http_app() if is_official else server.http_app()
    async with serve_app(app) as base:
        yield f"{base}/mcp"


async def answer_of(client: Client, said: Said) -> str:
    """The text of a call's answer."""
    try:
        answer = await client.call_tool(said.tool, said.arguments)
    except MCPError as error:
        return f"! {error}"
    return "\n".join(one.text for one in answer.content if isinstance(one, TextContent))
