"""Turn: what reads or may be repeated runs at once, the other calls of one agent in their order."""

from typing import TYPE_CHECKING

from avow.guard.call import Answer, Call

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then


async def turn(guard: "Guard", call: Call, then: "Then") -> Answer:
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
        # Who was switched to another mode meanwhile did not mean the calls before only.
        call.policy = guard.policy()
    return await then(call)
