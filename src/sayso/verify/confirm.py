"""Confirmation of suspicions: each suspicious call is repeated on fresh state before the report.

An effect counts only with the kind and lifetime seen before, and only if it does not happen without
the call. Then the arguments are made as small as possible, and controls look for another cause.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from sayso.trace import Effect
from sayso.verify.call import Case
from sayso.verify.control import Control, FirstCalls
from sayso.verify.judge import Confirmed, ToolEvidence
from sayso.verify.suspicion import VOLATILE, Cleared, Suspicion
from sayso.verify.trial import Trial

Shrink = Callable[[Case, Callable[[Case], Awaitable[bool]]], Awaitable[Case]]

NOT_REPRODUCED: Final = "seen once; an isolated run did not reproduce it"


async def confirm(
    suspicion: Suspicion,
    evidence: ToolEvidence,
    first_calls: FirstCalls,
    shrink: Shrink,
) -> Confirmed | Cleared | str:
    """Return the reproduced effects, why they are harmless, or why the tool is not accused.

    `first_calls` starts the servers.
    """
    trial = Trial(suspicion, evidence, first_calls.start_server)
    for way in suspicion.ways():
        effects = await trial.run(way)
        if effects:
            break
        if trial.is_explained:
            return Cleared(VOLATILE)
    else:
        return NOT_REPRODUCED
    confirmed = Confirmed(tuple(effects), suspicion.made.case.arguments)
    if len(way) == suspicion.times:
        confirmed = await _smallest(suspicion, trial, effects, shrink)
    return await Control(suspicion, trial, first_calls).judge(confirmed)


async def _smallest(
    suspicion: Suspicion, trial: Trial, effects: list[Effect], shrink: Shrink
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
