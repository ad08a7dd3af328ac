"""The step `retry`: after a transport failure, try a call again if it may run twice."""

from typing import Final

from sayso.connect import RpcError
from sayso.errors import UnreachableError
from sayso.guard.call import Answer, Call
from sayso.guard.context import GuardContext, Then, WrappingStep

_BUDGET_SECONDS: Final = 15.0
"""The time after which no further try begins, because the caller is waiting."""


async def retry(guard: GuardContext, call: Call, then: Then) -> Answer:
    """Make the call again after a transport failure, but not after an error of the tool.

    Each attempt is recorded, since the step `attempt` comes after this one.
    """
    if guard.attempts == 1:
        return await then(call)
    try:
        return await then(call)
    except Exception as error:
        if not _is_transport(error):
            raise
        lost = [error]
    # Imported late: stamina and its context cost more than all other steps of a successful call.
    import stamina  # noqa: PLC0415 - see above

    tries = stamina.retry_context(
        on=_is_transport, attempts=guard.attempts, timeout=_BUDGET_SECONDS, wait_initial=0.1
    )
    async for attempt in tries:
        with attempt:
            if lost:
                raise lost.pop()
            return await then(call)
    message = "the last try neither answered nor raised"
    raise RuntimeError(message)


def _is_transport(error: Exception) -> bool:
    if isinstance(error, RpcError):
        return error.may_have_run
    return isinstance(error, UnreachableError)


def _may_run_twice(call: Call) -> bool:
    resolved = call.tool.resolved
    return resolved.read_only.value or resolved.idempotent.value


RETRY: Final = WrappingStep("retry", _may_run_twice, retry)
