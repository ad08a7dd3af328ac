"""The step `validate`: refuse arguments that do not fit the tool's schema."""

import json
from typing import Final

from sayso.audit import Outcome
from sayso.guard.call import Answer, Call, tool_error
from sayso.guard.context import GuardContext, Step, every_call
from sayso.guard.steps.find import refuse
from sayso.schema import brief
from sayso.workers import UndecidedError


async def validate(guard: GuardContext, call: Call) -> Answer | None:
    """Refuse arguments that do not fit the schema (JSON Schema 2020-12), and list their problems.

    Arguments that cannot be checked in time are refused too. No person and no server sees them.
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
    listed = "\n".join(f"- {problem}" for problem in problems)
    through = call.request.through
    if through is None:
        return tool_error(f"Nothing was run: these arguments do not fit the tool.\n{listed}")
    # A caller through a meta-tool may never have seen the tool's schema.
    schema = json.dumps(brief(call.tool.input_schema or {}), ensure_ascii=False)
    return tool_error(
        f"Nothing was run: these arguments do not fit “{through.called}”.\n{listed}\n"
        f"The arguments must fit this schema: {schema}"
    )


VALIDATE: Final = Step("validate", every_call, validate)
