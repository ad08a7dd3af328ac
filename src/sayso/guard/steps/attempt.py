"""The step `attempt`: write the call to disk before the server can see it."""

from typing import Final

from sayso.audit import Outcome
from sayso.guard.call import Answer, Call, lost_answer, tool_error
from sayso.guard.context import GuardContext, Step, every_call
from sayso.guard.history import quotas_now, use_of
from sayso.store import Lapse


async def record_attempt(guard: GuardContext, call: Call) -> Answer | None:
    """Record the attempt; a call that cannot be recorded does not run.

    The same transaction checks limits, the grant and the idempotency key again, so parallel calls
    are counted one after another. A call does not run if its grant was revoked, or if its key went
    to another call because this process seemed dead. If a retry is refused here, the outcome of the
    earlier try is unknown. A read with a key is written at once, not with the next group of
    records: until its attempt is recorded, another call could take the key.
    """
    call.tries += 1
    quotas = await quotas_now(guard, call) if call.policy.counts_calls else ()
    use = use_of(guard, call)
    may_wait = call.claim is None
    refusal = await guard.audit.begin(call.facts, call.approval, use, quotas, may_wait=may_wait)
    if refusal is None:
        return None
    if call.is_sent:
        return lost_answer(call)
    call.outcome = Outcome.DENIED
    if isinstance(refusal, Lapse) and refusal.claim is not None:
        return tool_error("Nothing was run: another call now has this call's idempotency key.")
    if isinstance(refusal, Lapse):
        return tool_error(
            "Nothing was run: the standing approval for this call is no longer valid. Make the "
            "call again to ask a person."
        )
    return tool_error(
        f"Policy does not allow this call: the limit of {refusal.most} per minute is reached. "
        "Nothing was run. Try again in a minute."
    )


ATTEMPT: Final = Step("attempt", every_call, record_attempt)
