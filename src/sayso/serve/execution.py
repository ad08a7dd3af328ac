"""The last step of a call: by the definition of its tool, or as the framework does."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp.server.context import CallNext
from mcp.shared.exceptions import MCPError

from sayso.guard import Answer, Call, CrashError, ToolSchemas, tool_changed, tool_error, withheld
from sayso.serve.call_context import Context, Running, running
from sayso.serve.definition import Execute, ToolDefinition
from sayso.serve.exchange import ActiveRequest, Request, as_wire, sent
from sayso.serve.frameworks import Framework
from sayso.serve.functions import is_on_purpose
from sayso.serve.paging import CursorError, continued, opened
from sayso.serve.results import agreed, as_answer, fitting, is_made, with_text
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
    """Carry out one call, from where its cursor leads.

    `holds` tells whether a tool is still carried out by a function.
    """
    definition = registry.definitions.get(call.name)
    asked = call.arguments
    is_ours = definition is not None and definition.has_cursor
    call.resume = None
    try:
        place, call.arguments = await opened(call, schemas, is_ours=is_ours)
        if not await holds(call.name, active.function):
            answer = tool_changed(call)
        else:
            now = Running(
                call,
                framework.told,
                active.function,
                server=framework.entrance,
                raw=registry.raw(call.name),
            )
            answer = await _run(now, active, definition)
        return await continued(call, place, answer, schemas)
    except CursorError as error:
        return tool_error(str(error))
    finally:
        call.arguments = asked


async def _run(now: Running, active: ActiveRequest, definition: ToolDefinition | None) -> Answer:
    """By the definition, or by the rest of the server's own chain; once, and only what it was."""
    call = now.call
    call.is_sent = True
    token = running.set(now)
    try:
        if definition is not None and definition.execute is not None:
            answer = await _execute(definition.execute, call)
            if now.returned is not None:  # by a function whose signature made the schemas
                answer = with_text(answer, now.returned[0], now.text)
        else:
            answer = await _pass(call, now, active)
        return _structured(call, answer)
    except ShapeError as error:
        # The value itself is the author's data: neither the model nor the log gets it.
        _log.warning("%s: %s", call.name, error)
        return withheld(call)
    finally:
        running.reset(token)


async def _pass(call: Call, now: Running, active: ActiveRequest) -> Answer:
    answer = await _answered(sent(active.ctx, call), active.then)
    if now.is_bypassed:
        return tool_changed(call)
    if now.crash is not None:
        raise CrashError from now.crash
    if isinstance(now.said, ShapeError):
        raise now.said
    if now.said is not None:
        return tool_error(str(now.said))
    if now.returned is None:
        return fitting(to_json(answer))
    (value,) = now.returned
    if answer.get("isError") is True and not is_made(value):
        raise ShapeError("what the tool returned does not fit its type")
    return with_text(agreed(answer, value), value, now.text)


async def _answered(ctx: Request, then: CallNext) -> Answer:
    """What the framework answers. An author's type may raise what no server survives."""
    try:
        return as_wire(await then(ctx))
    except MCPError as error:
        return tool_error(str(error))
    except (Exception, asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        raise CrashError from error


def _structured(call: Call, answer: Answer) -> Answer:
    """`answer`, which has a structure where its tool promised one (MCP, structured content)."""
    is_over = answer.get("resultType", "complete") == "complete" and not answer.get("isError")
    if is_over and "outputSchema" in call.tool.raw and answer.get("structuredContent") is None:
        raise ShapeError("the tool has an output schema, and returned nothing structured")
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
