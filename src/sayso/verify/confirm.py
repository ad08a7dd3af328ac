"""Confirmation of suspicions: each is repeated alone on fresh state before it is reported.

Effects that also happen without the call do not count; the rest must be of the same kind and
lifetime. Then the arguments are made as small as possible.
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
"""A suspicion with an explanation: a second call changes only a clock or a random value."""
NOT_REPRODUCED: Final = "seen once; an isolated run did not reproduce it"
_IN_PLACE: Final = frozenset({Kind.WRITE, Kind.UPDATE, Kind.METADATA})
"""Effects of a clock in a value when a call is repeated."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """`made` contradicts a hint; `before` are the tool's own earlier calls, in order.

    `prelude` are earlier calls of other tools that changed something, which it may need.
    """

    name: HintName
    made: MadeCall
    before: Sequence[MadeCall]
    prelude: Sequence[tuple[str, Case]] = field(default=())

    @property
    def times(self) -> int:
        """Return the number of calls: `idempotent` needs a second one."""
        return 2 if self.name == "idempotent" else 1

    def ways(self) -> Iterable[list[tuple[str, Case]]]:
        """Yield the sequences of calls that may reproduce it, shortest first."""
        tool = self.made.tool
        case = self.made.case
        alone = [(tool, case)] * self.times
        own = [(tool, call.case) for call in self.before] + [(tool, case)]
        yield alone
        if len(own) > len(alone):
            yield own
        if self.prelude:
            yield [*self.prelude, *alone]


async def confirm(
    suspicion: Suspicion, evidence: ToolEvidence, start_server: StartServer, shrink: Shrink
) -> Confirmed | Cleared | str:
    """Return effects reproduced on fresh servers, `CLEARED`, or why there are none. Cancellable."""
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
    found = effects
    tool = suspicion.made.tool

    async def is_refuting(case: Case) -> bool:
        nonlocal found
        again = await trial.run([(tool, case)] * suspicion.times)
        found = again or found
        return bool(again)

    case = await shrink(suspicion.made.case, is_refuting)
    return Confirmed(tuple(found), case.arguments)


@dataclass(slots=True)
class _Trial:
    suspicion: Suspicion
    evidence: ToolEvidence
    start_server: StartServer
    is_explained: bool = False

    async def run(self, way: Sequence[tuple[str, Case]]) -> list[Effect]:
        """Return the effects of the last call that contradict the hint like the first ones."""
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
    """Drop changes of clocks and random values: those in which two first calls differ."""
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
