"""The effects of a time window. Equal effects are listed once, with their number."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sayso.trace.effect import Effect, Kind, syscall_effect

_MOST: Final = 5_000
"""The maximum number of different effects in a window; further ones are only counted."""

_Key = tuple[Kind, str, bool, str]


@dataclass(slots=True)
class Window:
    """A collection of effects. Sends and renames are equal only if their details are equal too."""

    _effects: dict[_Key, Effect] = field(default_factory=dict[_Key, Effect])
    _times: dict[_Key, float] = field(default_factory=dict[_Key, float])
    _counts: dict[_Key, int] = field(default_factory=dict[_Key, int])
    missed: int = 0

    def add(self, effects: Iterable[Effect], time: float) -> None:
        """Add effects that happened at a Unix time in seconds."""
        for effect in effects:
            key = (effect.kind, effect.target, effect.is_failed, "")
            if effect.kind in (Kind.SEND, Kind.RENAME):
                key = (*key[:3], effect.detail)
            if key not in self._effects and len(self._effects) >= _MOST:
                self.missed += 1
                continue
            self._effects.setdefault(key, effect)
            self._times.setdefault(key, time)
            self._counts[key] = self._counts.get(key, 0) + 1

    def timed(self) -> Sequence[tuple[Effect, float]]:
        """Return each effect with the time when it was first seen, in that order."""
        effects = [
            (_counted(self._effects[key], self._counts[key]), self._times[key])
            for key in self._effects
        ]
        if self.missed:
            more = syscall_effect(Kind.BLIND, "effects", detail=f"{self.missed} more")
            effects.append((more, 0.0))
        return effects


def _counted(effect: Effect, count: int) -> Effect:
    if count == 1:
        return effect
    return replace(effect, detail=f"{effect.detail}; {count} times".lstrip("; "))
