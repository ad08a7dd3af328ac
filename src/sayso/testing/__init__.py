"""Tools for tests of MCP servers: a pytest plugin, and assertions that work without it.

A `server` argument accepts an `MCPServer`, a low-level `Server`, a `FastMCP`, a target as on the
command line (`"server.py:mcp"`, `"mcp.json#crm"`, `"https://…"`, `"tools.json"`, `"-- "` and a
command), or an earlier reading of one, as you need inside an event loop.
"""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.testing.approver import Approver
    from sayso.testing.behaviour import Behaviour, Verdict
    from sayso.testing.client import ClientFactory, open_client
    from sayso.testing.declarations import assert_annotated, assert_level, assert_preset
    from sayso.testing.exercising import assert_behaves, exercise
    from sayso.testing.listing import Surface, read_surface
    from sayso.testing.rules import assert_prompt_states_rules
    from sayso.testing.snapshot import assert_surface
    from sayso.testing.state import folder_state, sqlite_state

__all__ = [
    "Approver",
    "Behaviour",
    "ClientFactory",
    "Surface",
    "Verdict",
    "assert_annotated",
    "assert_behaves",
    "assert_level",
    "assert_preset",
    "assert_prompt_states_rules",
    "assert_surface",
    "exercise",
    "folder_state",
    "open_client",
    "read_surface",
    "sqlite_state",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.testing.approver": ("Approver",),
        "sayso.testing.behaviour": ("Behaviour", "Verdict"),
        "sayso.testing.declarations": ("assert_annotated", "assert_level", "assert_preset"),
        "sayso.testing.exercising": ("assert_behaves", "exercise"),
        "sayso.testing.client": ("ClientFactory", "open_client"),
        "sayso.testing.rules": ("assert_prompt_states_rules",),
        "sayso.testing.snapshot": ("assert_surface",),
        "sayso.testing.state": ("folder_state", "sqlite_state"),
        "sayso.testing.listing": ("Surface", "read_surface"),
    },
)


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__})
