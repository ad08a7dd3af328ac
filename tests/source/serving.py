"""Servers made from a source in memory, and their tools as a real client gets them."""

from typing import Any

from mcp import Client
from tests.serve.serving import inside


async def served(source: str | bytes, name: str = "server") -> list[dict[str, Any]]:
    """The tools that the server in a source lists, as they are on the wire."""
    module: dict[str, Any] = {"__name__": "served"}
    exec(compile(source, "served.py", "exec"), module)  # noqa: S102 - the sources are the tests' own
    server = module[name]
    async with Client(inside(server)) as client:
        listed = await client.list_tools()
    return [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in listed.tools]
