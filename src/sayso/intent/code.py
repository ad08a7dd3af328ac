"""Intents as an author writes them: a preset, and what is different."""

from typing import Final

from sayso.intent.hints import HINT_NAMES, HintName, Hints
from sayso.intent.presets import PRESETS, Intent

_USUAL: Final = {"DESTRUCTIVE": "DELETE"}
"""Under which of its names a preset is best known."""


def as_code(hints: Hints) -> str:
    """The preset that is nearest to some hints, with what is different.

    >>> as_code(Hints(read_only=False, destructive=True, idempotent=True, open_world=False))
    'sayso.DELETE.but(idempotent=True)'
    """
    name, preset = nearest(hints)
    apart = _apart(preset.hints, hints)
    known = f"sayso.{_USUAL.get(name, name)}"
    if not apart:
        return known
    return f"{known}.but({', '.join(f'{hint}={hints[hint]}' for hint in apart)})"


def nearest(hints: Hints) -> tuple[str, Intent]:
    """The preset with the fewest hints that are set otherwise; of the same level if there is.

    >>> nearest(Hints(read_only=True, open_world=True))[0]
    'FETCH'
    """

    def distance(name: str) -> tuple[bool, int]:
        apart = _apart(PRESETS[name].hints, hints)
        return "read_only" in apart or "destructive" in apart, len(apart)

    name = min(PRESETS, key=distance)
    return name, PRESETS[name]


def supposed(hints: Hints) -> Hints | None:
    """All four, where some are known, for an author to look at; `None` where they tell too little.

    What is known is kept. Of what is not, only loss is not supposed: who deletes or sends says so,
    and so does who reaches outside. Nothing is decided by this.

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


def _apart(preset: Hints, hints: Hints) -> list[HintName]:
    return [
        name for name in HINT_NAMES if hints[name] is not None and hints[name] is not preset[name]
    ]
