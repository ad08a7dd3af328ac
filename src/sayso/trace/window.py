"""The effects between two moments, each told once however often it was done."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sayso.trace.effect import Effect, Kind, Observer

_MOST: Final = 5_000
"""Different effects of one window; beyond, only that there were more is told."""

_Key = tuple[Kind, str, bool, str]


@dataclass(slots=True)
class Window:
    """What was done to one target in one way is one effect, with how often.

    Sends are kept apart by what was said, since a GET and a POST to one host differ.
    """

    _effects: dict[_Key, Effect] = field(default_factory=dict[_Key, Effect])
    _times: dict[_Key, float] = field(default_factory=dict[_Key, float])
    _counts: dict[_Key, int] = field(default_factory=dict[_Key, int])
    missed: int = 0

    def add(self, effects: Iterable[Effect], time: float) -> None:
        """Take in effects that happened at a time, in seconds since 1970."""
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
        """The effects in the order of their first time, with that time."""
        told = [
            (_counted(self._effects[key], self._counts[key]), self._times[key])
            for key in self._effects
        ]
        if self.missed:
            more = Effect(Kind.BLIND, "effects", Observer.SYSCALLS, detail=f"{self.missed} more")
            told.append((more, 0.0))
        return told


def _counted(effect: Effect, count: int) -> Effect:
    if count == 1:
        return effect
    return replace(effect, detail=f"{effect.detail}; {count} times".lstrip("; "))
