"""Attempt: on disk before the server can see the call."""

from typing import TYPE_CHECKING

from avow.guard.call import Answer, Call

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then


async def attempt(guard: "Guard", call: Call, then: "Then") -> Answer:
    """Write the attempt down; what cannot be written down is not run."""
    await guard.audit.attempt(call.facts, call.approval)
    return await then(call)
