"""Decide: may it run, must a person be asked, or is it refused."""

from typing import Final

from sayso.guard.call import Call
from sayso.guard.context import GuardContext
from sayso.guard.history import situation_of
from sayso.guard.step import Step, every_call
from sayso.policy import decide as decide_by_policy


async def decide(guard: GuardContext, call: Call) -> None:
    """Put the decision on the call; the steps after it carry it out."""
    standing = guard.standing.of(call.policy, call.principal, call.tool_facts)
    call.decision = standing or decide_by_policy(call.policy, await situation_of(guard, call))


DECIDE: Final = Step("decide", every_call, decide)
