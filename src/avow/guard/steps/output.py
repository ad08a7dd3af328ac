"""Output: what leaves has the shape that the tool promised, and a size that a model can read."""

import logging
from typing import TYPE_CHECKING, Final

from avow.audit import Outcome
from avow.guard.call import Answer, Call, tool_error
from avow.guard.raw import is_plain, opened
from avow.guard.shape import shaped

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then

_log: Final = logging.getLogger(__name__)


async def output(guard: "Guard", call: Call, then: "Then") -> Answer:
    """Strip and cut a result; one that breaks its schema becomes an error, never invalid data."""
    answer = await then(call)
    if answer.get("isError") is True:
        return answer
    shape = guard.shapes.of(call.found)
    try:
        if is_plain(answer, shape, guard.limit):
            return answer
        told, problems = shaped(opened(answer), shape, guard.limit, call.resume)
    except ValueError:
        _log.warning("what %s answered cannot be read", call.name)
        return withheld(call)
    if not problems:
        return told
    # What is wrong holds the server's data, so it is for the log and not for the model.
    _log.warning("%s broke its output schema: %s", call.name, "; ".join(map(str, problems)))
    return withheld(call)


def withheld(call: Call) -> Answer:
    """What is said in the place of a result that is not what its tool promised."""
    call.outcome = Outcome.BAD_OUTPUT
    return tool_error(
        f"“{call.found.title}” ran, but its result does not have the form that the tool promised, "
        "so it is withheld. Do not run it again to see the result."
    )
