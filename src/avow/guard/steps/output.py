"""Output: what leaves has the shape that the tool promised, and a size that a model can read."""

import logging
from typing import TYPE_CHECKING, Final

from avow.audit import Outcome
from avow.catalog import Tool
from avow.guard.call import Answer, Call, tool_error
from avow.guard.raw import is_plain, opened
from avow.guard.shape import Resume, shaped

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then

_log: Final = logging.getLogger(__name__)


async def output(guard: "Guard", call: Call, then: "Then") -> Answer:
    """Strip and cut a result; one that breaks its schema becomes an error, never invalid data."""
    answer = await then(call)
    told = checked(guard, call.found, answer, call.resume)
    return withheld(call) if told is None else told


def checked(
    guard: "Guard", tool: Tool, answer: Answer, resume: Resume | None = None
) -> Answer | None:
    """What `tool` answered as it may leave; `None` for what is not what the tool promised.

    What only says that the answer comes later is not what was promised either, and passes.
    """
    if answer.get("isError") is True or answer.get("resultType") == "task":
        return answer
    shape = guard.shapes.of(tool)
    try:
        if is_plain(answer, shape, guard.limit):
            return answer
        told, problems = shaped(opened(answer), shape, guard.limit, resume)
    except ValueError:
        _log.warning("what %s answered cannot be read", tool.qualified_name)
        return None
    if not problems:
        return told
    # What is wrong holds the server's data, so it is for the log and not for the model.
    said = "; ".join(map(str, problems))
    _log.warning("%s broke its output schema: %s", tool.qualified_name, said)
    return None


def withheld(call: Call) -> Answer:
    """What is said in the place of a result that is not what its tool promised."""
    call.outcome = Outcome.BAD_OUTPUT
    return tool_error(
        f"“{call.found.title}” ran, but its result does not have the form that the tool promised, "
        "so it is withheld. Do not run it again to see the result."
    )
