"""Trials: calls on fresh state, and their effects against a hint."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final

from sayso.errors import SaysoError
from sayso.trace import Effect, Kind
from sayso.verify.call import Case, MadeCall
from sayso.verify.judge import ToolEvidence
from sayso.verify.judge.judge import effects_against
from sayso.verify.observed_server import ObservedServer
from sayso.verify.suspicion import Suspicion

StartServer = Callable[[], AbstractAsyncContextManager[ObservedServer]]

_IN_PLACE: Final = frozenset({Kind.WRITE, Kind.UPDATE, Kind.METADATA})
"""Kinds of effects that a clock or a random value can have when a call is repeated."""


@dataclass(slots=True)
class Trial:
    """Repeats the calls of one suspicion, each time on a fresh server.

    `is_success` says whether the latest call with effects succeeded. `is_explained` says whether a
    repeated call changed only times and random values.
    """

    suspicion: Suspicion
    evidence: ToolEvidence
    start_server: StartServer
    is_success: bool = False
    is_explained: bool = False

    async def run(self, way: Sequence[tuple[str, Case]]) -> list[Effect]:
        """Make the calls on a fresh server. Return the last call's effects against the hint."""
        try:
            made = await play(self.start_server, way)
            effects = self._against(made[-1])
            if self.suspicion.name == "idempotent" and effects:
                if not made[-2].is_success:
                    return []
                once = await play(self.start_server, way[:-1])
                effects = _without_volatile(effects, once[-1], made[-2])
                self.is_explained = not effects
        except SaysoError:
            return []
        if effects:
            self.is_success = made[-1].is_success
        return effects

    def _against(self, made: MadeCall) -> list[Effect]:
        suspicion = self.suspicion
        first = effects_against(suspicion.name, suspicion.made, self.evidence.profile)
        kinds = {(effect.kind, effect.life) for effect in first}
        again = effects_against(suspicion.name, made, self.evidence.profile)
        return [effect for effect in again if (effect.kind, effect.life) in kinds]


async def play(start_server: StartServer, way: Sequence[tuple[str, Case]]) -> list[MadeCall]:
    """Make calls on a fresh server, and wait for late effects of the last one."""
    async with start_server() as server:
        await server.idle()
        made = [await server.call(name, case) for name, case in way]
        return [*made[:-1], await server.linger(made[-1])]


def _without_volatile(effects: list[Effect], first_call: MadeCall, other: MadeCall) -> list[Effect]:
    """Drop effects of clocks and random values, in which two runs of the first call differ."""
    first = {(effect.kind, effect.target): effect for effect in first_call.effects}
    volatile = {
        effect.target
        for effect in other.effects
        if (same := first.get((effect.kind, effect.target))) is None or not _is_same(same, effect)
    }
    return [
        effect
        for effect in effects
        if effect.kind not in _IN_PLACE or effect.target not in volatile
    ]


def _is_same(first: Effect, other: Effect) -> bool:
    digests = {blob and blob.digest for blob in (first.after, other.after)}
    return first.detail == other.detail and len(digests) == 1
