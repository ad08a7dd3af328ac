"""Output: what leaves has the shape that the tool promised, and a size that a model can read."""

import logging
from typing import Final

from sayso.audit import Outcome
from sayso.catalog import Tool
from sayso.guard.call import Answer, Call, tool_error
from sayso.guard.context import GuardContext, Then
from sayso.guard.passthrough import is_brief, is_plain, opened
from sayso.guard.reshape import is_cheap, is_cheap_to_strip, reshaped
from sayso.guard.schemas import NO_SCHEMAS, Resume, ToolSchemas, shaped
from sayso.guard.step import WrappingStep, every_call
from sayso.intent import Level
from sayso.schema import Problem
from sayso.workers import UndecidedError

_log: Final = logging.getLogger(__name__)


async def shape_output(guard: GuardContext, call: Call, then: Then) -> Answer:
    """Strip and cut a result; one that breaks its schema becomes an error, never invalid data."""
    answer = await then(call)
    shown = await checked(guard, call.tool, answer, call.resume, call.principal.caller)
    return withheld(call) if shown is None else shown


async def checked(
    guard: GuardContext, tool: Tool, answer: Answer, resume: Resume | None = None, caller: str = ""
) -> Answer | None:
    """Return what `tool` answered as it may leave; `None` for what is not what the tool promised.

    Of an answer that says that the result comes later only that is kept. A result that is too
    costly for the event loop is checked in a worker, for `caller`; one that cannot be checked in
    time counts as not what was promised.
    """
    if answer.get("resultType") == "task":
        return as_task(answer)
    is_error = answer.get("isError") is True
    # An error keeps to no schema, but it is read by a model too.
    limit = guard.result_limit(tool)
    schemas = NO_SCHEMAS if is_error else guard.schemas.of(tool)
    try:
        if is_error and is_brief(answer, limit):
            return answer
        result, problems = await _shaped(answer, schemas, limit, resume, caller)
    except UndecidedError:
        _log.warning("what %s answered cannot be checked in time", tool.qualified_name)
        return None
    except ValueError:
        _log.warning("what %s answered cannot be read", tool.qualified_name)
        return None
    if not problems:
        return result
    # What is wrong holds the server's data, so it is for the log and not for the model.
    said = "; ".join(map(str, problems))
    _log.warning("%s broke its output schema: %s", tool.qualified_name, said)
    return None


def as_task(answer: Answer) -> Answer:
    """Return what an answer says of a task, and nothing that could pass for its result."""
    kept = {name: answer[name] for name in _OF_TASK if _is_brief(answer.get(name))}
    if "_meta" in answer:
        kept["_meta"] = answer["_meta"]
    return kept


def _is_brief(value: object) -> bool:
    return isinstance(value, int | float) or (
        isinstance(value, str) and len(value) <= _LONGEST_OF_TASK
    )


_OF_TASK: Final = (
    *("resultType", "taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt"),
    *("ttl", "ttlMs", "ttlSeconds", "pollInterval", "pollIntervalMs", "pollIntervalSeconds"),
)
_LONGEST_OF_TASK: Final = 2000


async def _shaped(
    answer: Answer, schemas: ToolSchemas, limit: int, resume: Resume | None, caller: str
) -> tuple[Answer, tuple[Problem, ...]]:
    # A list that can be gone on with is the author's own: it never left this process.
    is_own = resume is not None and schemas.is_local
    if not is_own and not is_cheap(answer, schemas):
        return await reshaped(answer, schemas, limit, caller)
    if is_plain(answer, schemas, limit):
        return answer, ()
    read = opened(answer)
    if is_own or is_cheap_to_strip(read, schemas):
        return shaped(read, schemas, limit, resume)
    return await reshaped(answer, schemas, limit, caller)


def withheld(call: Call) -> Answer:
    """Answer a call whose result does not fit the tool's output schema.

    A read may be called again, but its result would be withheld again; a write must not.
    """
    call.outcome = Outcome.BAD_OUTPUT
    text = (
        f"“{call.tool.title}” ran, but its result does not fit the output schema that the tool "
        "declares, so it is withheld."
    )
    if call.tool.level is not Level.READ:
        text = f"{text} Do not run it again to see the result."
    return tool_error(text)


OUTPUT: Final = WrappingStep("output", every_call, shape_output)
