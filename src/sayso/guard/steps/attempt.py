"""The step `attempt`: the call is on disk before the server can see it."""

from typing import Final

from sayso.audit import Outcome
from sayso.guard.call import Answer, Call, lost_answer, tool_error
from sayso.guard.context import GuardContext, Step, every_call
from sayso.guard.history import quotas_now, use_of
from sayso.store import Lapse


async def record_attempt(guard: GuardContext, call: Call) -> Answer | None:
    """Record the attempt; a call that cannot be recorded does not run.

    Limits and grants are checked here again, in one transaction: parallel calls are counted one
    after another, and none runs with a grant that was revoked, or with a key that was given to
    another call because its process seemed dead. If a retry is refused here, the outcome of the
    try before it is unknown. A read with a key does not wait for the next group of records: a key
    without a recorded attempt is given to the next call.
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
