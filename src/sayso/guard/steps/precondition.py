"""Precondition: a tool may say under which conditions it may be called at all."""

from typing import Final

from sayso.audit import Outcome
from sayso.guard.call import Answer, Call, tool_error
from sayso.guard.condition import unmet
from sayso.guard.context import GuardContext
from sayso.guard.step import Step
from sayso.policy import Effect


async def check_condition(_: GuardContext, call: Call) -> Answer | None:
    """Go on where the author's condition holds."""
    said = await unmet(call.tool, call.arguments)
    if said is None:
        return None
    call.outcome = Outcome.DENIED
    return tool_error(said)


def _has_condition(call: Call) -> bool:
    return call.tool.intent.when is not None and call.decision.effect is not Effect.DENY


PRECONDITION: Final = Step("precondition", _has_condition, check_condition)
