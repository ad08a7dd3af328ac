"""For people who test their servers: a pytest plugin, and assertions that work without it.

Whatever takes a `server` takes an `MCPServer`, a low-level `Server`, a `FastMCP`, a target as the
command line has it (`"server.py:mcp"`, `"mcp.json#crm"`, `"https://…"`, `"tools.json"`, `"-- "` and
a command), or what was read of one before, which is the way inside of an event loop. Nothing is
imported before it is used.
"""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.testing.approver import Approver
    from sayso.testing.behaviour import Behaviour, Verdict
    from sayso.testing.declared import assert_annotated, assert_level, assert_preset
    from sayso.testing.exercising import assert_behaves, exercise
    from sayso.testing.guest import ClientFactory, open_client
    from sayso.testing.promises import Manifest, manifest, requirement
    from sayso.testing.rules import assert_prompt_states_rules
    from sayso.testing.snapshot import assert_surface
    from sayso.testing.states import folder_state, sqlite_state
    from sayso.testing.surface import Surface, read_surface

__all__ = [
    "Approver",
    "Behaviour",
    "ClientFactory",
    "Manifest",
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
    "manifest",
    "open_client",
    "read_surface",
    "requirement",
    "sqlite_state",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.testing.approver": ("Approver",),
        "sayso.testing.behaviour": ("Behaviour", "Verdict"),
        "sayso.testing.declared": ("assert_annotated", "assert_level", "assert_preset"),
        "sayso.testing.exercising": ("assert_behaves", "exercise"),
        "sayso.testing.guest": ("ClientFactory", "open_client"),
        "sayso.testing.promises": ("Manifest", "manifest", "requirement"),
        "sayso.testing.rules": ("assert_prompt_states_rules",),
        "sayso.testing.snapshot": ("assert_surface",),
        "sayso.testing.states": ("folder_state", "sqlite_state"),
        "sayso.testing.surface": ("Surface", "read_surface"),
    },
)


def __dir__() -> list[str]:
    """The public names, imported or not yet."""
    return sorted({*globals(), *__all__})
