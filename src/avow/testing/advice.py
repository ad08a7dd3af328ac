"""Intents as an author writes them, for messages that say what to write instead."""

import json
from typing import Final

from avow.catalog import Tool
from avow.intent import HINT_NAMES, PRESETS, HintName, Hints, Intent, read_tool, write_annotations

_USUAL: Final = {"DESTRUCTIVE": "DELETE"}
"""Under which of its names a preset is best known."""


def as_code(intent: Intent) -> str:
    """The preset that is nearest to an intent's hints, with what is different.

    >>> from avow import DELETE
    >>> as_code(DELETE.but(idempotent=True))
    'avow.DELETE.but(idempotent=True)'
    """
    name, preset = _nearest(intent.hints)
    apart = _apart(preset.hints, intent.hints)
    known = f"avow.{_USUAL.get(name, name)}"
    if not apart:
        return known
    return f"{known}.but({', '.join(f'{one}={intent.hints[one]}' for one in apart)})"


def suggested(tool: Tool, *, title: str | None, is_bound: bool) -> str:
    """What to declare of a tool: by what it says itself, and for the rest by what it is called."""
    said = read_tool(tool.raw).intent.hints
    guessed = {name: one.value for name, one in tool.inferred.items()}
    hints = Hints(
        **{one: guessed.get(one) if said[one] is None else said[one] for one in HINT_NAMES}
    )
    if hints.read_only is None and hints.destructive is None:
        return f"declare what it does{_named(title)}, with a preset such as avow.READ_ONLY"
    why = "" if said.is_complete else "if its name and texts say what it does, "
    return why + how(Intent(hints), title=title, is_bound=is_bound)


def how(intent: Intent, *, title: str | None = None, is_bound: bool) -> str:
    """How to declare an intent: with avow, or on the wire where a server goes without.

    >>> from avow import DELETE
    >>> how(DELETE, title="Delete it", is_bound=True)
    'declare it as avow.DELETE, title="Delete it"'
    """
    code = as_code(intent)
    if is_bound:
        return f"declare it as {code}{_named(title)}"
    hints = _nearest(intent.hints)[1].hints
    whole = Hints(
        **{
            one: hints[one] if intent.hints[one] is None else intent.hints[one]
            for one in HINT_NAMES
        }
    )
    wire = json.dumps(write_annotations(whole, title), ensure_ascii=False)
    return f"give it the annotations {wire} (with avow.bind: {code})"


def _named(title: str | None) -> str:
    return f', title="{title}"' if title else ""


def _nearest(hints: Hints) -> tuple[str, Intent]:
    """The preset with the fewest hints that are set otherwise; of the same level if there is."""

    def distance(name: str) -> tuple[bool, int]:
        apart = _apart(PRESETS[name].hints, hints)
        return "read_only" in apart or "destructive" in apart, len(apart)

    name = min(PRESETS, key=distance)
    return name, PRESETS[name]


def _apart(preset: Hints, hints: Hints) -> list[HintName]:
    return [one for one in HINT_NAMES if hints[one] is not None and hints[one] is not preset[one]]
