"""A server whose tools have every kind of argument, report progress, and say what may not hide."""

import asyncio
from datetime import date
from enum import StrEnum
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

server: MCPServer[Any] = MCPServer("rich", log_level="WARNING")
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


class Colour(StrEnum):
    """A choice."""

    RED = "red"
    BLUE = "blue"


class Size(BaseModel):
    """How large."""

    width: Annotated[float, Field(gt=0, description="In metres.")]
    note: str | None = None


@server.tool(annotations=READS)
def paint(  # noqa: PLR0913, PLR0917 - one of each kind
    name: Annotated[str, Field(min_length=2, max_length=40, description="Whose wall it is.")],
    count: Annotated[int, Field(ge=1, le=9, description="How many coats.")],
    colour: Colour,
    is_wet: bool,  # noqa: FBT001 - a tool's arguments come by name
    size: Size,
    day: date | None = None,
    tags: list[str] | None = None,
    tones: list[Colour] | None = None,
    extra: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Say back what a wall would be painted like."""
    return {
        "name": name,
        "count": count,
        "colour": colour,
        "is_wet": is_wet,
        "size": size.model_dump(),
        "day": day.isoformat() if day else None,
        "tags": tags,
        "tones": tones,
        "extra": extra,
    }


@server.tool(annotations=READS)
async def wait(context: Context, seconds: float = 60.0) -> str:
    """Wait, and say how far it is."""
    steps = 100
    for step in range(steps):
        await context.report_progress(step, steps, f"step {step} of {steps}")
        await asyncio.sleep(seconds / steps)
    return "done"


@server.tool(annotations=READS)
def hide() -> str:
    """Give back a text in which characters hide."""
    return "invoice\u202efdp.exe <b>bold</b> zero\u200bwidth"


if __name__ == "__main__":
    server.run("stdio")
