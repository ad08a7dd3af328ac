"""Attempt: on disk before the server can see the call."""

from typing import Final

from sayso.audit import Outcome
from sayso.guard.call import Answer, Call, lost_answer, tool_error
from sayso.guard.context import GuardContext
from sayso.guard.history import quotas_now, use_of
from sayso.guard.step import Step, every_call
from sayso.store import Lapse


async def record_attempt(guard: GuardContext, call: Call) -> Answer | None:
    """Write the attempt down; what cannot be written down is not run.

    Limits and grants are held here once more, where calls at the same time are counted one after
    another, and none goes on a grant that was taken back, or with a key that was given to another
    call while its process was taken for dead. A try that is held back leaves the one before it:
    nobody knows whether that ran. With a key a read does not wait for company either: a key whose
    call has no attempt on record is given to the next one.
    """
    call.tries += 1
    quotas = await quotas_now(guard, call) if call.policy.counts_calls else ()
    use = use_of(guard, call)
    may_wait = call.claim is None
    over = await guard.audit.begin(call.facts, call.approval, use, quotas, may_wait=may_wait)
    if over is None:
        return None
    if call.is_sent:
        return lost_answer(call)
    call.outcome = Outcome.DENIED
    if isinstance(over, Lapse) and over.claim is not None:
        return tool_error("Nothing was run: another call has this call's key now.")
    if isinstance(over, Lapse):
        return tool_error(
            "Nothing was run: the standing approval that this call was to run on does not hold any "
            "more. Make the call again to have a person asked."
        )
    return tool_error(
        f"Policy does not allow this call: the limit of {over.most} per minute is reached. "
        "Nothing was run. Try again in a minute."
    )


ATTEMPT: Final = Step("attempt", every_call, record_attempt)
