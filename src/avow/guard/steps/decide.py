"""Decide: may it run, must a person be asked, or is it refused."""

from typing import TYPE_CHECKING

from avow.guard.call import Answer, Call
from avow.guard.history import situation_of
from avow.policy import decide as decide_by_policy

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then


async def decide(guard: "Guard", call: Call, then: "Then") -> Answer:
    """Put the decision on the call; the steps after it carry it out."""
    standing = guard.standing.of(call.under, call.principal, call.tool_facts)
    call.decision = standing or decide_by_policy(call.under, await situation_of(guard, call))
    return await then(call)
