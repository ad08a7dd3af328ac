"""When: a tool may say under which conditions it may be called at all."""

from typing import TYPE_CHECKING

from avow.audit import Outcome
from avow.guard.call import Answer, Call, tool_error
from avow.guard.condition import unmet
from avow.policy import Effect

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then


async def when(guard: "Guard", call: Call, then: "Then") -> Answer:  # noqa: ARG001 - a step
    """Go on where the author's condition holds."""
    if call.decided.effect is Effect.DENY:
        return await then(call)
    said = await unmet(call.found, call.arguments)
    if said is None:
        return await then(call)
    call.outcome = Outcome.DENIED
    return tool_error(said)
