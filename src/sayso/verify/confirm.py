"""Confirmation of suspicions: each suspicious call is repeated on fresh state before the report.

An effect counts only with the kind and lifetime seen before, and only if it does not happen without
the call. Then the arguments are made as small as possible.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Final, Literal

from sayso.errors import SaysoError
from sayso.intent import HintName
from sayso.trace import Effect, Kind
from sayso.verify.call import Case, MadeCall
from sayso.verify.judge import Confirmed, ToolEvidence
from sayso.verify.judge.judge import effects_against
from sayso.verify.observed_server import ObservedServer

StartServer = Callable[[], AbstractAsyncContextManager[ObservedServer]]
Shrink = Callable[[Case, Callable[[Case], Awaitable[bool]]], Awaitable[Case]]

Cleared = Literal["cleared"]
CLEARED: Final[Cleared] = "cleared"
"""The result for a suspicion that is harmless: the second call changes only times or randomness."""
NOT_REPRODUCED: Final = "seen once; an isolated run did not reproduce it"
_IN_PLACE: Final = frozenset({Kind.WRITE, Kind.UPDATE, Kind.METADATA})
"""Kinds of effects that a clock or a random value can have when a call is repeated."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A call `made` that contradicts a hint. `before` are earlier calls of the tool, in order.

    `prelude` are earlier calls of other tools that changed something; the call may need them.
    """

    name: HintName
    made: MadeCall
    before: Sequence[MadeCall]
    prelude: Sequence[tuple[str, Case]] = field(default=())

    @property
    def times(self) -> int:
        """Return how often the call must be made: twice for `idempotent`, once for other hints."""
        return 2 if self.name == "idempotent" else 1

    def ways(self) -> Iterable[list[tuple[str, Case]]]:
        """Yield sequences of calls that may reproduce the effect, shortest first."""
        tool = self.made.tool
        case = self.made.case
        alone = [(tool, case)] * self.times
        with_earlier = [(tool, call.case) for call in self.before] + [(tool, case)]
        yield alone
        if len(with_earlier) > len(alone):
            yield with_earlier
        if self.prelude:
            yield [*self.prelude, *alone]


async def confirm(
    suspicion: Suspicion, evidence: ToolEvidence, start_server: StartServer, shrink: Shrink
) -> Confirmed | Cleared | str:
    """Return the reproduced effects, `CLEARED`, or why no effect was reproduced."""
    trial = _Trial(suspicion, evidence, start_server)
    for way in suspicion.ways():
        effects = await trial.run(way)
        if effects:
            break
        if trial.is_explained:
            return CLEARED
    else:
        return NOT_REPRODUCED
    if len(way) > suspicion.times:
        return Confirmed(tuple(effects), suspicion.made.case.arguments)
    return await _smallest(suspicion, trial, effects, shrink)


async def _smallest(
    suspicion: Suspicion, trial: "_Trial", effects: list[Effect], shrink: Shrink
) -> Confirmed:
    latest_effects = effects
    tool = suspicion.made.tool

    async def is_refuting(case: Case) -> bool:
        nonlocal latest_effects
        again = await trial.run([(tool, case)] * suspicion.times)
        latest_effects = again or latest_effects
        return bool(again)

    case = await shrink(suspicion.made.case, is_refuting)
    return Confirmed(tuple(latest_effects), case.arguments)


@dataclass(slots=True)
class _Trial:
    suspicion: Suspicion
    evidence: ToolEvidence
    start_server: StartServer
    is_explained: bool = False

    async def run(self, way: Sequence[tuple[str, Case]]) -> list[Effect]:
        """Make the calls on a fresh server. Return the last call's effects against the hint."""
        try:
            made = await self._play(way)
            effects = self._against(made[-1])
            if self.suspicion.name == "idempotent" and effects:
                if not made[-2].is_success:
                    return []
                once = await self._play(way[:-1])
                effects = _without_volatile(effects, once[-1], made[-2])
                self.is_explained = not effects
        except SaysoError:
            return []
        else:
            return effects

    async def _play(self, way: Sequence[tuple[str, Case]]) -> list[MadeCall]:
        async with self.start_server() as server:
            await server.idle()
            made = [await server.call(name, case) for name, case in way]
            return [*made[:-1], await server.linger(made[-1])]

    def _against(self, made: MadeCall) -> list[Effect]:
        suspicion = self.suspicion
        first = effects_against(suspicion.name, suspicion.made, self.evidence.profile)
        kinds = {(effect.kind, effect.life) for effect in first}
        again = effects_against(suspicion.name, made, self.evidence.profile)
        return [effect for effect in again if (effect.kind, effect.life) in kinds]


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
