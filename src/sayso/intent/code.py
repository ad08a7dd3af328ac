"""Intents as Python code: a preset, with the differences."""

from typing import Final

from sayso.intent.hints import HINT_NAMES, HintName, Hints
from sayso.intent.presets import PRESETS, Intent

_USUAL: Final = {"DESTRUCTIVE": "DELETE"}
"""The preferred name of a preset."""


def as_code(hints: Hints) -> str:
    """Return the code of the nearest preset, with the differences.

    >>> as_code(Hints(read_only=False, destructive=True, idempotent=True, open_world=False))
    'sayso.DELETE.but(idempotent=True)'
    """
    name, preset = nearest(hints)
    changed = _differences(preset.hints, hints)
    known = f"sayso.{_USUAL.get(name, name)}"
    if not changed:
        return known
    return f"{known}.but({', '.join(f'{hint}={hints[hint]}' for hint in changed)})"


def nearest(hints: Hints) -> tuple[str, Intent]:
    """Return the preset with the fewest different hints, preferably of the same level.

    >>> nearest(Hints(read_only=True, open_world=True))[0]
    'FETCH'
    """

    def distance(name: str) -> tuple[bool, int]:
        changed = _differences(PRESETS[name].hints, hints)
        return "read_only" in changed or "destructive" in changed, len(changed)

    name = min(PRESETS, key=distance)
    return name, PRESETS[name]


def supposed(hints: Hints) -> Hints | None:
    """Return all four hints as a proposal for an author, or `None` if too few are known.

    Known hints are kept. Unknown ones are assumed harmless, since tools that delete, send or reach
    outside usually say so. Only a suggestion: no decision uses it.

    >>> supposed(Hints(read_only=False))
    Hints(read_only=False, destructive=False, idempotent=False, open_world=False)
    >>> supposed(Hints(open_world=True)) is None
    True
    """
    if hints.read_only is None and hints.destructive is None:
        return None
    is_read = bool(hints.read_only)
    usual = Hints(is_read, destructive=False, idempotent=is_read, open_world=False)
    return usual.updated(hints)


def _differences(preset: Hints, hints: Hints) -> list[HintName]:
    return [
        name for name in HINT_NAMES if hints[name] is not None and hints[name] is not preset[name]
    ]
