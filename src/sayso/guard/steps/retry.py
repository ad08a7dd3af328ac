"""Retry: only what may happen twice, and only after the way to the server failed."""

from typing import Final

from sayso.connect import RpcError
from sayso.errors import UnreachableError
from sayso.guard.call import Answer, Call
from sayso.guard.context import GuardContext, Then
from sayso.guard.step import WrappingStep

_BUDGET_SECONDS: Final = 15.0
"""After this no further try is begun: whoever called waits."""


async def retry(guard: GuardContext, call: Call, then: Then) -> Answer:
    """Make the call again after a failure of transport.

    Never after the tool's own error, and never what may have happened and must not happen twice.
    Each attempt is on record, since the step that writes it down comes after this one.
    """
    if guard.attempts == 1:
        return await then(call)
    try:
        return await then(call)
    except Exception as error:
        if not _is_transport(error):
            raise
        lost = [error]
    # Only now: getting ready to try again costs more than all other steps of a call that goes well.
    import stamina  # noqa: PLC0415 - the same is so of importing it

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
