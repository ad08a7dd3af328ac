"""Attempt: on disk before the server can see the call."""

from typing import TYPE_CHECKING

from avow.audit import Outcome
from avow.guard.call import Answer, Call, tool_error
from avow.guard.history import quotas_now, use_of

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then


async def attempt(guard: "Guard", call: Call, then: "Then") -> Answer:
    """Write the attempt down; what cannot be written down is not run.

    Limits are held here once more, where calls at the same time are counted one after another. A
    further try is of the same call.
    """
    call.tries += 1
    quotas = await quotas_now(guard, call) if call.tries == 1 else ()
    over = await guard.audit.begin(call.facts, call.approval, use_of(guard, call), quotas)
    if over is None:
        return await then(call)
    call.outcome = Outcome.DENIED
    return tool_error(
        f"Policy does not allow this call: the limit of {over.most} per minute is reached. "
        "Nothing was run. Try again in a minute."
    )
