"""Decide: may it run, must a person be asked, or is it refused."""

from typing import TYPE_CHECKING

from avow.guard.call import Answer, Call
from avow.policy import decide_by_mode

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then


async def decide(guard: "Guard", call: Call, then: "Then") -> Answer:
    """Put the decision on the call; the steps after it carry it out."""
    call.decision = decide_by_mode(guard.mode, call.found.resolved)
    return await then(call)
