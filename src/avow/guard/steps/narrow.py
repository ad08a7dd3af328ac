"""Narrow: from the tool's intent to this call's."""

import logging
from typing import TYPE_CHECKING, Final

from avow.audit import Outcome
from avow.errors import UsageError
from avow.guard.call import Answer, Call, tool_error
from avow.guard.narrowing import narrowed
from avow.policy import facts_of

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then

_log: Final = logging.getLogger(__name__)


async def narrow(guard: "Guard", call: Call, then: "Then") -> Answer:
    """Go on with the intent of this call; one that is wider than the tool's does not run."""
    try:
        tool = await narrowed(call.found, call.arguments)
    except UsageError as error:
        _log.error("%s", error)
        await guard.audit.refused(call.id, call.principal, name=call.name, outcome=Outcome.FAILED)
        return tool_error("Nothing was run: what this call would do is not what its tool declares.")
    if tool is not call.tool:
        call.tool, call.about = tool, facts_of(tool)
    return await then(call)
