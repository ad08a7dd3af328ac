"""Validate: arguments that do not fit the tool's schema never reach a person or the server."""

import json
from typing import Final

from sayso.audit import Outcome
from sayso.guard.call import Answer, Call, tool_error
from sayso.guard.context import GuardContext
from sayso.guard.step import Step, every_call
from sayso.guard.steps.find import refuse
from sayso.schema import brief
from sayso.workers import UndecidedError


async def validate(guard: GuardContext, call: Call) -> Answer | None:
    """Go on with arguments that fit (JSON Schema 2020-12); else say all that is wrong with them.

    Arguments that cannot be checked in time are refused.
    """
    checker = guard.schemas.of(call.tool).arguments
    try:
        problems = await checker.problems(call.arguments, call.principal.caller) if checker else ()
    except UndecidedError as error:
        await refuse(guard, call, Outcome.BAD_ARGUMENTS)
        return tool_error(
            f"Nothing was run: these arguments cannot be checked, because {error}. Make them "
            "smaller or simpler."
        )
    if not problems:
        return None
    await refuse(guard, call, Outcome.BAD_ARGUMENTS)
    told = "\n".join(f"- {problem}" for problem in problems)
    through = call.request.through
    if through is None:
        return tool_error(f"Nothing was run: these arguments do not fit the tool.\n{told}")
    # Who calls through a meta-tool may never have seen the tool's own schema.
    wanted = json.dumps(brief(call.tool.input_schema or {}), ensure_ascii=False)
    return tool_error(
        f"Nothing was run: these arguments do not fit “{through.called}”.\n{told}\n"
        f"Its arguments must fit this schema: {wanted}"
    )


VALIDATE: Final = Step("validate", every_call, validate)
