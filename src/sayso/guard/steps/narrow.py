"""Narrow: from the tool's intent to this call's."""

import logging
from typing import Final

from sayso.audit import Outcome
from sayso.errors import UsageError
from sayso.guard.call import Answer, Call, tool_error
from sayso.guard.context import GuardContext
from sayso.guard.narrowing import narrowed
from sayso.guard.step import Step
from sayso.policy import facts_of

_log: Final = logging.getLogger(__name__)


async def narrow(guard: GuardContext, call: Call) -> Answer | None:
    """Go on with the intent of this call; one that is wider than the tool's does not run."""
    try:
        tool = await narrowed(call.tool, call.arguments)
    except UsageError as error:
        _log.error("%s", error)
        await guard.audit.refused(call.id, call.principal, name=call.name, outcome=Outcome.FAILED)
        return tool_error("Nothing was run: what this call would do is not what its tool declares.")
    if tool is not call.tool:
        call.tool, call.tool_facts = tool, facts_of(tool)
    return None


def _has_narrow(call: Call) -> bool:
    return call.tool.intent.narrow is not None


NARROW: Final = Step("narrow", _has_narrow, narrow)
