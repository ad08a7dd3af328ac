"""Intents as Python code: a preset, with the differences."""

from typing import Final

from sayso.intent.hints import HINT_NAMES, HintName, Hints
from sayso.intent.presets import PRESETS, Intent

_PREFERRED_NAMES: Final = {"DESTRUCTIVE": "DELETE"}
"""Presets that `as_code` writes under another of their names."""


def as_code(hints: Hints) -> str:
    """Return the code of the nearest preset, with the differences.

    >>> as_code(Hints(read_only=False, destructive=True, idempotent=True, open_world=False))
    'sayso.DELETE.but(idempotent=True)'
    """
    name, preset = nearest(hints)
    changed = _differences(preset.hints, hints)
    preset_code = f"sayso.{_PREFERRED_NAMES.get(name, name)}"
    if not changed:
        return preset_code
    return f"{preset_code}.but({', '.join(f'{hint}={hints[hint]}' for hint in changed)})"


def nearest(hints: Hints) -> tuple[str, Intent]:
    """Return the name and the preset with the fewest different hints, of the same level if any.

    >>> nearest(Hints(read_only=True, open_world=True))[0]
    'FETCH'
    """

    def distance(name: str) -> tuple[bool, int]:
        changed = _differences(PRESETS[name].hints, hints)
        return "read_only" in changed or "destructive" in changed, len(changed)

    name = min(PRESETS, key=distance)
    return name, PRESETS[name]


def supposed(hints: Hints) -> Hints | None:
    """Return all four hints as a proposal for an author, or `None` if too few are set.

    Set hints are kept. An unset hint is filled as for a tool that neither deletes nor reaches
    outside, since most that do say so. No decision uses the proposal.

    >>> supposed(Hints(read_only=False))
    Hints(read_only=False, destructive=False, idempotent=False, open_world=False)
    >>> supposed(Hints(open_world=True)) is None
    True
    """
    if hints.read_only is None and hints.destructive is None:
        return None
    is_read = bool(hints.read_only)
    assumed = Hints(is_read, destructive=False, idempotent=is_read, open_world=False)
    return assumed.updated(hints)


def _differences(preset: Hints, hints: Hints) -> list[HintName]:
    return [
        name for name in HINT_NAMES if hints[name] is not None and hints[name] is not preset[name]
    ]
