"""For people who test their servers: a pytest plugin, and assertions that work without it.

Whatever takes a `server` takes an `MCPServer`, a low-level `Server`, a `FastMCP`, a target as the
command line has it (`"server.py:mcp"`, `"mcp.json#crm"`, `"https://…"`, `"tools.json"`, `"-- "` and
a command), or what was read of one before, which is the way inside of an event loop. Nothing is
imported before it is used.
"""

from typing import TYPE_CHECKING

from avow.lazy import lazily

if TYPE_CHECKING:
    from avow.testing.approver import Approver
    from avow.testing.behaviour import Behaviour, Verdict, assert_behaves
    from avow.testing.declared import assert_annotated, assert_level, assert_preset
    from avow.testing.exercising import exercise
    from avow.testing.guest import ClientFactory, open_client
    from avow.testing.promises import Manifest, manifest, requirement
    from avow.testing.rules import assert_prompt_states_rules
    from avow.testing.snapshot import assert_surface
    from avow.testing.states import folder_state, sqlite_state
    from avow.testing.surface import Surface, read_surface

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
        "avow.testing.approver": ("Approver",),
        "avow.testing.behaviour": ("Behaviour", "Verdict", "assert_behaves"),
        "avow.testing.declared": ("assert_annotated", "assert_level", "assert_preset"),
        "avow.testing.exercising": ("exercise",),
        "avow.testing.guest": ("ClientFactory", "open_client"),
        "avow.testing.promises": ("Manifest", "manifest", "requirement"),
        "avow.testing.rules": ("assert_prompt_states_rules",),
        "avow.testing.snapshot": ("assert_surface",),
        "avow.testing.states": ("folder_state", "sqlite_state"),
        "avow.testing.surface": ("Surface", "read_surface"),
    },
)


def __dir__() -> list[str]:
    """The public names, imported or not yet."""
    return sorted({*globals(), *__all__})
