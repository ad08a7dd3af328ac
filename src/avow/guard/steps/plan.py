"""Plan: what the call would change, for the person who is asked and for the limits on how much."""

import logging
from typing import TYPE_CHECKING, Final

from avow.errors import DeniedError
from avow.guard.call import Answer, Call, unplanned
from avow.guard.history import situation_of
from avow.guard.plans import has_plan, plan_of
from avow.intent import Level
from avow.policy import Effect
from avow.policy import decide as decide_by_policy

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then

_log: Final = logging.getLogger(__name__)


async def plan(guard: "Guard", call: Call, then: "Then") -> Answer:
    """Go on with a plan where the tool has one and it matters; without it nothing runs.

    An author's function may say why there is none by a `DeniedError`, and a dry run by its error;
    all else stays in the log.
    """
    matters = call.decided.effect is Effect.CONFIRM or (
        call.under.counts_targets and call.decided.effect is Effect.ALLOW
    )
    if not has_plan(call.found.intent) or not matters or call.found.level is Level.READ:
        return await then(call)
    try:
        call.plan = await plan_of(guard, call, call.found.intent)
    except DeniedError as error:
        return unplanned(call, str(error))
    except Exception:  # noqa: BLE001 - an author's function may raise anything
        _log.exception("what a call of %s would change cannot be told", call.name)
        return unplanned(call)
    call.decision = decide_by_policy(call.under, await situation_of(guard, call))
    return await then(call)
