"""Validate: arguments that do not fit the tool's schema never reach a person or the server."""

import json
from typing import TYPE_CHECKING

from avow.audit import Outcome
from avow.guard.call import Answer, Call, tool_error
from avow.guard.steps.find import refuse
from avow.schema import brief
from avow.workers import UndecidedError

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then


async def validate(guard: "Guard", call: Call, then: "Then") -> Answer:
    """Go on with arguments that fit (JSON Schema 2020-12); else say all that is wrong with them.

    Arguments that cannot be checked in time are refused.
    """
    checker = guard.shapes.of(call.found).arguments
    try:
        problems = await checker.problems(call.arguments, call.principal.caller) if checker else ()
    except UndecidedError as error:
        await refuse(guard, call, Outcome.BAD_ARGUMENTS)
        return tool_error(
            f"Nothing was run: these arguments cannot be checked, because {error}. Make them "
            "smaller or simpler."
        )
    if not problems:
        return await then(call)
    await refuse(guard, call, Outcome.BAD_ARGUMENTS)
    told = "\n".join(f"- {problem}" for problem in problems)
    if call.through is None:
        return tool_error(f"Nothing was run: these arguments do not fit the tool.\n{told}")
    # Who calls through a meta-tool may never have seen the tool's own schema.
    wanted = json.dumps(brief(call.found.input_schema or {}), ensure_ascii=False)
    return tool_error(
        f"Nothing was run: these arguments do not fit “{call.through.called}”.\n{told}\n"
        f"Its arguments must fit this schema: {wanted}"
    )
