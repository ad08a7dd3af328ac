"""The last step of a call: run the tool's own function, or pass the call to the framework."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp.server.context import CallNext
from mcp.shared.exceptions import MCPError

from sayso.guard import Answer, Call, CrashError, ToolSchemas, tool_changed, tool_error, withheld
from sayso.serve.call_context import Context, Running, running
from sayso.serve.definition import Execute, ToolDefinition
from sayso.serve.exchange import ActiveRequest, Request, as_wire, forwarded
from sayso.serve.frameworks import Framework
from sayso.serve.functions import is_on_purpose
from sayso.serve.paging import CursorError, continue_list, resolve_cursor
from sayso.serve.results import (
    as_answer,
    check_size,
    is_sdk_result,
    with_matching_text,
    with_text,
)
from sayso.serve.tool_registry import ToolRegistry
from sayso.serve.values import ShapeError, to_json

_log: Final = logging.getLogger(__name__)


async def carry_out(
    call: Call,
    active: ActiveRequest,
    schemas: ToolSchemas,
    *,
    registry: ToolRegistry,
    framework: Framework,
    holds: Callable[[str, Callable[..., Any] | None], Awaitable[bool]],
) -> Answer:
    """Execute one call. If it has a cursor, return only the items after the cursor's position.

    `holds` returns whether a tool still has the function for which the call was decided.
    """
    definition = registry.definitions.get(call.name)
    asked = call.arguments
    is_ours = definition is not None and definition.has_cursor
    call.resume = None
    try:
        place, call.arguments = await resolve_cursor(call, schemas, is_ours=is_ours)
        if not await holds(call.name, active.function):
            answer = tool_changed(call)
        else:
            now = Running(
                call,
                framework.public_error,
                active.function,
                server=framework.entrance,
                raw=registry.raw(call.name),
            )
            answer = await _run(now, active, definition)
        return await continue_list(call, place, answer, schemas)
    except CursorError as error:
        return tool_error(str(error))
    finally:
        call.arguments = asked


async def _run(now: Running, active: ActiveRequest, definition: ToolDefinition | None) -> Answer:
    """Execute a call once, with its definition or with the rest of the server's middleware."""
    call = now.call
    call.is_sent = True
    token = running.set(now)
    try:
        if definition is not None and definition.execute is not None:
            answer = await _execute(definition.execute, call)
            # `returned` is set only by a function whose schemas were made from its signature.
            if now.returned is not None:
                answer = with_text(answer, now.returned[0], now.text)
        else:
            answer = await _pass(call, now, active)
        return _structured(call, answer)
    except ShapeError as error:
        # The error may be about private data, so hide the value from the model and the log.
        _log.warning("%s: %s", call.name, error)
        return withheld(call)
    finally:
        running.reset(token)


async def _pass(call: Call, now: Running, active: ActiveRequest) -> Answer:
    answer = await _answered(forwarded(active.ctx, call), active.then)
    if now.is_bypassed:
        return tool_changed(call)
    if now.crash is not None:
        raise CrashError from now.crash
    if isinstance(now.raised, ShapeError):
        raise now.raised
    if now.raised is not None:
        return tool_error(str(now.raised))
    if now.returned is None:
        return check_size(to_json(answer))
    (value,) = now.returned
    if answer.get("isError") is True and not is_sdk_result(value):
        raise ShapeError("the tool returned a value that does not match its return type")
    return with_text(with_matching_text(answer, value), value, now.text)


async def _answered(ctx: Request, then: CallNext) -> Answer:
    """Return the framework's answer.

    A `BaseException` that is neither an `Exception` nor built in becomes a `CrashError`.
    """
    try:
        return as_wire(await then(ctx))
    except MCPError as error:
        return tool_error(str(error))
    except (Exception, asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        raise CrashError from error


def _structured(call: Call, answer: Answer) -> Answer:
    """Return `answer`. Raises `ShapeError` if required structured content is missing."""
    is_over = answer.get("resultType", "complete") == "complete" and not answer.get("isError")
    if is_over and "outputSchema" in call.tool.raw and answer.get("structuredContent") is None:
        raise ShapeError("the tool has an output schema but returned no structured content")
    return answer


async def _execute(execute: Execute, call: Call) -> Answer:
    try:
        return await as_answer(execute, Context(call))
    except ShapeError:
        raise
    except Exception as error:
        if is_on_purpose(error):
            return tool_error(str(error))
        raise CrashError from error
