"""The last step of a call: by the definition of its tool, or as the framework does."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mcp.shared.exceptions import MCPError

from avow.approvals.elicitation import INPUT
from avow.guard import Answer, Call, tool_error
from avow.guard.call import CrashError
from avow.guard.steps.output import withheld
from avow.serve.context import Context, Running, running
from avow.serve.definition import Execute
from avow.serve.exchange import as_object, as_wire
from avow.serve.functions import is_on_purpose
from avow.serve.results import ShapeError, agreed, as_answer, is_made

if TYPE_CHECKING:
    from avow.serve.door import Passing

_log: Final = logging.getLogger(__name__)

_OURS: Final = ("inputResponses", "requestState")


async def carry_out(
    call: Call,
    execute: Execute | None,
    passing: "Passing",
    *,
    told: Callable[[Exception, str], Exception],
) -> Answer:
    """Run one call by `execute`; without it, by the rest of the server's own chain.

    `told` is what goes on to the framework in the place of an error; see `Framework.told`.
    """
    call.is_sent = True
    now = Running(call, told)
    token = running.set(now)
    try:
        if execute is not None:
            return await _execute(execute, call)
        return await _pass(call, now, passing)
    except ShapeError as error:
        # The value itself is the author's data: neither the model nor the log gets it.
        _log.warning("%s: %s", call.name, error)
        return withheld(call)
    finally:
        running.reset(token)


async def _pass(call: Call, now: Running, passing: "Passing") -> Answer:
    params = {**as_object(passing.ctx.params), "arguments": dict(call.arguments)}
    if INPUT in as_object(params.get("inputResponses")):
        params = {key: one for key, one in params.items() if key not in _OURS}
    try:
        answer = as_wire(await passing.then(replace(passing.ctx, params=params)))
    except MCPError as error:
        if now.crash is not None:
            raise CrashError from now.crash
        return tool_error(str(error))
    if now.crash is not None:
        raise CrashError from now.crash
    if now.said is not None:
        return tool_error(str(now.said))
    if now.returned is None:
        return answer
    (value,) = now.returned
    if answer.get("isError") is True and not is_made(value):
        raise ShapeError("what the tool returned does not fit its type")
    return agreed(answer, value)


async def _execute(execute: Execute, call: Call) -> Answer:
    try:
        return await as_answer(execute, Context(call))
    except ShapeError:
        raise
    except Exception as error:
        if is_on_purpose(error):
            return tool_error(str(error))
        raise CrashError from error
