"""Ceiling: a call through a meta-tool changes no more than that meta-tool says it may."""

from typing import Final

from sayso.audit import Outcome
from sayso.guard.call import Answer, Call, tool_error
from sayso.guard.context import GuardContext
from sayso.guard.step import Step
from sayso.intent import Level

_ORDER: Final = tuple(Level)


async def check_ceiling(_: GuardContext, call: Call) -> Answer | None:
    """Go on where the call's level is not above its meta-tool's.

    A client may let a meta-tool run unasked by its hints, so these must hold whatever it names.
    """
    through = call.request.through
    level = call.tool.level
    if through is None or _ORDER.index(level) <= _ORDER.index(through.most):
        return None
    call.outcome = Outcome.DENIED
    return tool_error(
        f"Nothing was run: “{through.called}” is a {level} tool, and {through.tool} calls none. "
        f"Call it by call_{level}_tool."
    )


def _is_inner(call: Call) -> bool:
    return call.request.through is not None


CEILING: Final = Step("ceiling", _is_inner, check_ceiling)
