"""Tools, principals and stores for tests of the floors above."""

from typing import Any

from sayso.catalog import Tool, make_tool
from sayso.policy import LOCAL, Principal

AMY = Principal(LOCAL, client="chat")

DELETE = {"destructiveHint": True, "readOnlyHint": False}
READ = {"readOnlyHint": True}
WRITE = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}


def tool(name: str = "customer_delete", annotations: Any = None, **more: Any) -> Tool:
    """A tool of the server `demo`."""
    raw = {"name": name, "inputSchema": {"type": "object"}, **more}
    return make_tool("demo", raw if annotations is None else {**raw, "annotations": annotations})
