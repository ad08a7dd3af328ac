"""How the tools of this folder declare themselves, truly or not."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp_types import ToolAnnotations

KEPT = Path(os.environ.get("KEPT", "."))
"""The folder that the person keeps: a fixture of the verifier."""

Tool = Callable[..., Any]


def claim(server: MCPServer, **hints: bool) -> Callable[[Tool], Tool]:
    """Declare a tool with these hints; those that are not named stay unset."""
    wire = {
        "read_only": "readOnlyHint",
        "destructive": "destructiveHint",
        "idempotent": "idempotentHint",
        "open_world": "openWorldHint",
    }
    annotations = ToolAnnotations.model_validate({wire[name]: hints[name] for name in hints})
    return server.tool(annotations=annotations)
