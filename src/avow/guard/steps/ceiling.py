"""Ceiling: a call through a meta-tool changes no more than that meta-tool says it may."""

from typing import TYPE_CHECKING, Final

from avow.audit import Outcome
from avow.guard.call import Answer, Call, tool_error
from avow.intent import Level

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then

_ORDER: Final = tuple(Level)


async def ceiling(guard: "Guard", call: Call, then: "Then") -> Answer:  # noqa: ARG001 - a step
    """Go on where the call's level is not above its meta-tool's.

    A client may let a meta-tool run unasked by its hints, so these must hold whatever it names.
    """
    through, level = call.through, call.found.level
    if through is None or _ORDER.index(level) <= _ORDER.index(through.most):
        return await then(call)
    call.outcome = Outcome.DENIED
    return tool_error(
        f"Nothing was run: “{through.called}” is a {level} tool, and {through.tool} calls none. "
        f"Call it by call_{level}_tool."
    )
