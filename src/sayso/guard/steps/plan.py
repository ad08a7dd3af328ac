"""Plan: what the call would change, for the person who is asked and for the limits on how much."""

import logging
from typing import Final

from sayso.errors import DeniedError
from sayso.guard.call import Answer, Call, unplanned
from sayso.guard.context import GuardContext
from sayso.guard.history import situation_of
from sayso.guard.plans import has_plan, plan_of
from sayso.guard.step import Step
from sayso.intent import Level
from sayso.policy import Effect
from sayso.policy import decide as decide_by_policy

_log: Final = logging.getLogger(__name__)


async def make_plan(guard: GuardContext, call: Call) -> Answer | None:
    """Go on with a plan; without it nothing runs.

    An author's function may say why there is none by a `DeniedError`, and a dry run by its error;
    all else stays in the log.
    """
    try:
        call.plan = await plan_of(guard, call, call.tool.intent)
    except DeniedError as error:
        return unplanned(call, str(error))
    except Exception:  # noqa: BLE001 - an author's function may raise anything
        _log.exception("what a call of %s would change cannot be told", call.name)
        return unplanned(call)
    call.decision = decide_by_policy(call.policy, await situation_of(guard, call))
    return None


def _needs_plan(call: Call) -> bool:
    """Whether the tool can tell what the call would change, and somebody asks or counts that."""
    if not has_plan(call.tool.intent) or call.tool.level is Level.READ:
        return False
    effect = call.decision.effect
    return effect is Effect.CONFIRM or (call.policy.counts_targets and effect is Effect.ALLOW)


PLAN: Final = Step("plan", _needs_plan, make_plan)
