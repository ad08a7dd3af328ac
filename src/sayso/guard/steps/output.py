"""The step `output`: make the result fit its schema, and cut it to a size that a model can read."""

import logging
from typing import Final

from sayso.audit import Outcome
from sayso.catalog import Tool
from sayso.guard.call import Answer, Call, tool_error
from sayso.guard.context import GuardContext, Then, WrappingStep, every_call
from sayso.guard.passthrough import is_brief, is_plain, opened
from sayso.guard.result_jobs import is_cheap, is_cheap_to_strip, reshaped
from sayso.guard.schemas import NO_SCHEMAS, Resume, ToolSchemas, shaped
from sayso.intent import Level
from sayso.schema import Problem
from sayso.workers import UndecidedError

_log: Final = logging.getLogger(__name__)


async def shape_output(guard: GuardContext, call: Call, then: Then) -> Answer:
    """Strip and cut the result; a result that does not fit its schema becomes an error."""
    answer = await then(call)
    shaped_ = await checked(guard, call.tool, answer, call.resume, call.principal.caller)
    return withheld(call) if shaped_ is None else shaped_


async def checked(
    guard: GuardContext, tool: Tool, answer: Answer, resume: Resume | None = None, caller: str = ""
) -> Answer | None:
    """Return an answer of `tool` in its final form; `None` if it does not fit the output schema.

    For a task, whose result comes later, only the task's fields are returned. A result that is too
    costly for the event loop is checked in a worker, in a job of `caller`. A result that cannot be
    checked in time does not fit.
    """
    if answer.get("resultType") == "task":
        return as_task(answer)
    is_error = answer.get("isError") is True
    # An error is cut too, because a model reads it; no schema applies to an error.
    limit = guard.result_limit(tool)
    schemas = NO_SCHEMAS if is_error else guard.schemas.of(tool)
    try:
        if is_error and is_brief(answer, limit):
            return answer
        result, problems = await _shaped(answer, schemas, limit, resume, caller)
    except UndecidedError:
        _log.warning("the result of %s cannot be checked in time", tool.qualified_name)
        return None
    except ValueError:
        _log.warning("the result of %s is not valid JSON", tool.qualified_name)
        return None
    if not problems:
        return result
    # The problems quote the server's data, so the log gets them and the model does not.
    _log.warning(
        "%s broke its output schema: %s", tool.qualified_name, "; ".join(map(str, problems))
    )
    return None


def as_task(answer: Answer) -> Answer:
    """Return only the fields of an answer that describe its task, without the result's members."""
    task = {name: answer[name] for name in _TASK_FIELDS if _is_brief(answer.get(name))}
    if "_meta" in answer:
        task["_meta"] = answer["_meta"]
    return task


def _is_brief(value: object) -> bool:
    is_text = isinstance(value, str) and len(value) <= _MAX_TASK_FIELD_CHARACTERS
    return is_text or isinstance(value, int | float)


_TASK_FIELDS: Final = (
    *("resultType", "taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt"),
    *("ttl", "ttlMs", "ttlSeconds", "pollInterval", "pollIntervalMs", "pollIntervalSeconds"),
)
_MAX_TASK_FIELD_CHARACTERS: Final = 2000


async def _shaped(
    answer: Answer, schemas: ToolSchemas, limit: int, resume: Resume | None, caller: str
) -> tuple[Answer, tuple[Problem, ...]]:
    # A list with a `resume` comes from a function in this process, so it need not go to a worker.
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
    """Answer a call whose result does not fit the tool's output schema."""
    call.outcome = Outcome.BAD_OUTPUT
    text = (
        f"“{call.tool.title}” ran, but its result does not fit the output schema that the tool "
        "declares, so it is withheld."
    )
    if call.tool.level is not Level.READ:
        text = f"{text} Do not run it again to see the result."
    return tool_error(text)


OUTPUT: Final = WrappingStep("output", every_call, shape_output)
