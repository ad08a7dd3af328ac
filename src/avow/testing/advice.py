"""Intents as an author writes them, for messages that say what to write instead."""

from typing import Final

from avow.catalog import Tool
from avow.intent import HINT_NAMES, PRESETS, Hints, Intent, read_tool

_USUAL: Final = {"DESTRUCTIVE": "DELETE"}
"""Under which of its names a preset is best known."""


def as_code(intent: Intent) -> str:
    """The preset that is nearest to an intent's hints, with what is different.

    >>> from avow import DELETE
    >>> as_code(DELETE.but(idempotent=True))
    'avow.DELETE.but(idempotent=True)'
    """
    name, apart = min(
        ((name, _apart(preset.hints, intent.hints)) for name, preset in PRESETS.items()),
        key=lambda one: ("read_only" in one[1] or "destructive" in one[1], len(one[1])),
    )
    known = f"avow.{_USUAL.get(name, name)}"
    if not apart:
        return known
    return f"{known}.but({', '.join(f'{one}={intent.hints[one]}' for one in apart)})"  # pyright: ignore[reportArgumentType] - names of hints


def suggested(tool: Tool, more: str) -> str:
    """What to declare of a tool: by what it says itself, and for the rest by what it is called."""
    said = read_tool(tool.raw).intent.hints
    guessed = {name: one.value for name, one in tool.inferred.items()}
    hints = Hints(
        **{one: guessed.get(one) if said[one] is None else said[one] for one in HINT_NAMES}
    )
    if hints.read_only is None and hints.destructive is None:
        return f"@avow.declare(…{more}) with the preset that it is: avow.READ_ONLY, avow.DELETE, …"
    why = "" if said.is_complete else ", if its name and texts say what it does"
    return f"@avow.declare({as_code(Intent(hints))}{more}){why}"


def _apart(preset: Hints, hints: Hints) -> list[str]:
    return [one for one in HINT_NAMES if hints[one] is not None and hints[one] is not preset[one]]
