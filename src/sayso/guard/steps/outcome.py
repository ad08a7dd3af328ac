"""The step `outcome`: record how the call ended, also after an error or a cancellation."""

import logging
from typing import Final

import anyio

from sayso.audit import Outcome, may_wait
from sayso.connect import RpcError
from sayso.errors import AuthenticationError, StoreError, UnreachableError
from sayso.guard.active_calls import StoppedError
from sayso.guard.call import Answer, Call, CrashError, lost_answer, stopped, tool_error
from sayso.guard.context import GuardContext, Then, WrappingStep, every_call
from sayso.guard.shutdown import GivenUpError
from sayso.incidents import INTERNAL, describe_incident, report_incident, report_incident_briefly
from sayso.intent import Level

_log: Final = logging.getLogger(__name__)


async def record_outcome(guard: GuardContext, call: Call, then: Then) -> Answer:
    """Turn errors into an answer, and record how the call ended.

    If the call is cancelled, the record is written before the cancellation is raised again. During
    a shutdown the caller gets an answer instead of the cancellation.
    """
    try:
        answer = await _answered(call, then)
    except anyio.get_cancelled_exc_class():
        call.outcome = Outcome.OUTCOME_UNKNOWN if call.is_sent else Outcome.CANCELLED
        await _write(guard, call, None)
        if guard.shutdown.is_over and call.is_sent:
            return lost_answer(call)
        raise
    except RpcError:
        call.outcome = Outcome.ERROR
        await _write(guard, call, None)
        raise
    if call.outcome is None:
        call.outcome = Outcome.TOOL_ERROR if answer.get("isError") is True else Outcome.OK
    await _write(guard, call, answer)
    return answer


async def _answered(call: Call, then: Then) -> Answer:
    try:
        return await then(call)
    except RpcError as error:
        if not error.may_have_run:
            raise
        return lost_answer(call)
    except StoreError as error:
        if call.is_sent:
            _log.error("a call may have run, and it could not be recorded further: %s", error)
            return lost_answer(call)
        _log.error("a call was not run because it could not be recorded: %s", error)
        call.outcome = Outcome.FAILED
        return tool_error(
            "Nothing was run: sayso cannot write its log, and what is not on record does not run."
        )
    except StoppedError:
        return stopped(call) if call.is_sent else _halted(call)
    except (UnreachableError, AuthenticationError, GivenUpError) as error:
        _log.warning("%s", error)
        return lost_answer(call) if call.is_sent else _unsent(call, error)
    except CrashError as error:
        return _crashed(call, error)
    except Exception as error:  # noqa: BLE001 - every error must be recorded
        call.incident = report_incident(_log, error)
        call.outcome = Outcome.OUTCOME_UNKNOWN if call.is_sent else Outcome.FAILED
        ran = "It may have run." if call.is_sent else "Nothing was run."
        what = call.tool.intent.on_error or INTERNAL
        return tool_error(f"{describe_incident(call.incident, what)} {ran}")


def _halted(call: Call) -> Answer:
    call.outcome = Outcome.CANCELLED
    return tool_error("Nothing was run: a person stopped this call.")


def _unsent(call: Call, error: Exception) -> Answer:
    if isinstance(error, GivenUpError):
        call.outcome = Outcome.CANCELLED
        return tool_error("Nothing was run: sayso is being stopped. Make the call again.")
    call.outcome = Outcome.UNREACHABLE
    return tool_error(f"Nothing was run: the server “{call.tool.server}” cannot be reached.")


def _crashed(call: Call, error: CrashError) -> Answer:
    """Answer a call whose tool's function failed, without the text of the exception.

    The exception is logged in one line, and its traceback at the level DEBUG.
    """
    call.incident = report_incident_briefly(_log, error.__cause__ or error, call.name)
    call.outcome = Outcome.TOOL_ERROR
    what = call.tool.intent.on_error or f"“{call.tool.title}” failed"
    text = describe_incident(call.incident, what)
    if call.tool.level is not Level.READ:
        text = f"{text} Part of it may have been done."
    return tool_error(text)


async def _write(guard: GuardContext, call: Call, answer: Answer | None) -> None:
    """Write the last record of the call.

    If that fails, the caller still gets its answer, and the log tries to write the record later.
    Until then the attempt has no outcome, which readers of the log treat as unknown.
    """
    ended = call.outcome or Outcome.FAILED
    writing = guard.audit.outcome(
        call.facts,
        ended,
        started=call.request.started,
        approval=call.approval,
        result=answer,
        incident=call.incident,
    )
    try:
        if may_wait(call.tool.level, ended):
            # No await comes before the writer has the record, so a cancellation cannot lose it.
            await writing
            return
        # A cancellation now must not leave an attempt without an outcome.
        with anyio.CancelScope(shield=True):
            await writing
    except anyio.get_cancelled_exc_class():
        # Only a shutdown cancels shielded scopes. It waits for the writer, which has the record, so
        # the answer can still be returned.
        if not guard.shutdown.is_over:
            raise
    except Exception:  # noqa: BLE001 - the call has ended either way, and its caller must learn how
        _log.exception("the outcome of call %s could not be recorded now", call.id)


OUTCOME: Final = WrappingStep("outcome", every_call, record_outcome)
