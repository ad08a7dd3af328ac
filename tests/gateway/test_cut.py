"""Cut lists of servers behind a gateway: no item is skipped silently."""

from pathlib import Path

import pytest
from mcp import Client
from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel
from tests.connect.serving import serve_app
from tests.gateway.serving import ERAS, serve
from tests.gateway.test_main_job import text

from sayso.connect import UrlTarget

pytestmark = pytest.mark.anyio


class Optional(BaseModel):
    """A page whose end is `null`."""

    rows: list[str]
    next_cursor: str | None = None


class Required(BaseModel):
    """A page that always has a cursor."""

    rows: list[str]
    next_cursor: str


@pytest.mark.parametrize("era", ERAS)
async def test_a_cursor_behind_what_was_cut_is_taken_out_or_told_of(
    era: str, tmp_path: Path
) -> None:
    server = MCPServer("far", log_level="ERROR")
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    rows = ["x" * 3_000] * 20

    @server.tool(annotations=reads)
    def optional_list() -> Optional:
        return Optional(rows=rows, next_cursor="page 2")

    @server.tool(annotations=reads)
    def required_list() -> Required:
        return Required(rows=rows, next_cursor="page 2")

    async with (
        serve_app(server.streamable_http_app()) as base,
        serve(UrlTarget("far", f"{base}/mcp"), store=tmp_path / "a.db") as served,
        Client(served.url, mode=era) as client,
    ):
        optional = await client.call_tool("far__optional_list", {})
        required = await client.call_tool("far__required_list", {})
    for result, cursor, said in (
        (optional, None, "“next_cursor” would have skipped them and is removed."),
        (required, "page 2", "“next_cursor” continues after them, so it skips them."),
    ):
        assert result.structured_content is not None
        assert len(result.structured_content["rows"]) == 8
        assert result.structured_content["next_cursor"] == cursor
        assert "Showing the first 8 of 20; the other 12 are left out." in text(result)
        assert said in text(result)
