"""For people who test their servers: a pytest plugin, and assertions that work without it.

Whatever takes a `server` takes an `MCPServer`, a low-level `Server`, a `FastMCP`, a target as the
command line has it (`"server.py:mcp"`, `"mcp.json#crm"`, `"https://…"`, `"tools.json"`, `"-- "` and
a command), or what was read of one before, which is the way inside of an event loop. Nothing is
imported before it is used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from avow.testing.approver import Approver
    from avow.testing.behaviour import Behaviour, Verdict, assert_behaves
    from avow.testing.declared import assert_annotated, assert_level, assert_preset
    from avow.testing.exercise import exercise
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

_HOMES = {
    "Approver": "approver",
    "Behaviour": "behaviour",
    "ClientFactory": "guest",
    "Manifest": "promises",
    "Surface": "surface",
    "Verdict": "behaviour",
    "assert_annotated": "declared",
    "assert_behaves": "behaviour",
    "assert_level": "declared",
    "assert_preset": "declared",
    "assert_prompt_states_rules": "rules",
    "assert_surface": "snapshot",
    "exercise": "exercise",
    "folder_state": "states",
    "manifest": "promises",
    "open_client": "guest",
    "read_surface": "surface",
    "requirement": "promises",
    "sqlite_state": "states",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: pytest imports this package in every run."""
    home = _HOMES.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module  # noqa: PLC0415 - lazy on purpose: it is the point

    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, imported or not yet."""
    return sorted({*globals(), *__all__})
