"""Validate: arguments that do not fit the tool's schema never reach a person or the server."""

from typing import TYPE_CHECKING

from avow.audit import Outcome
from avow.guard.call import Answer, Call, tool_error

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then


async def validate(guard: "Guard", call: Call, then: "Then") -> Answer:
    """Go on with arguments that fit (JSON Schema 2020-12); else say all that is wrong with them."""
    checker = guard.shapes.of(call.found).arguments
    problems = checker.problems(call.arguments) if checker else ()
    if not problems:
        return await then(call)
    call.outcome = Outcome.BAD_ARGUMENTS
    await guard.audit.refused(call.id, call.principal, name=call.name, outcome=call.outcome)
    told = "\n".join(f"- {problem}" for problem in problems)
    return tool_error(f"Nothing was run: these arguments do not fit the tool.\n{told}")
