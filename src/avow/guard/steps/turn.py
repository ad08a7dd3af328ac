"""Turn: what reads or may be repeated runs at once, the other calls of one agent in their order."""

from typing import TYPE_CHECKING

from avow.guard.call import Answer, Call

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then


async def turn(guard: "Guard", call: Call, then: "Then") -> Answer:  # noqa: ARG001 - a step
    """Go on when it is this call's turn, so that what is decided is decided of the world as it is.

    When cancelled while it waits, nothing was decided, and nothing runs.
    """
    if call.turn is None:
        return await then(call)
    resolved = call.found.resolved
    if resolved.read_only.value or resolved.idempotent.value:
        call.turn.leave()
    else:
        await call.turn.take()
    return await then(call)
