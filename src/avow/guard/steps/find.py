"""Find: the tool of this name, if this caller may know of it."""

import logging
from typing import TYPE_CHECKING, Final

from avow.audit import Outcome
from avow.catalog import as_tool
from avow.errors import AuthenticationError, UnknownToolError, UnreachableError, UsageError
from avow.guard.call import Answer, Call, tool_error
from avow.guard.large import TooLargeError, take_arguments
from avow.policy import is_switched_off

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then

_log: Final = logging.getLogger(__name__)


async def find(guard: "Guard", call: Call, then: "Then") -> Answer:
    """Raise the same `UnknownToolError` for a tool that is hidden as for one that is not there."""
    policy = call.policy = guard.policy()
    if is_switched_off(policy, subject=call.principal.subject):
        await refuse(guard, call, Outcome.DENIED)
        return tool_error("Nothing was run: the policy switches this caller off.")
    try:
        tool = await guard.find_tool(call.name, call.principal)
    except (UnreachableError, AuthenticationError) as error:
        _log.warning("%s", error)
        await refuse(guard, call, Outcome.UNREACHABLE)
        return tool_error("Nothing was run: the server of this tool cannot be reached.")
    seen = None if tool is None else guard.sees(call.principal, tool, call.policy)
    if seen is None:
        is_off = tool is not None and is_switched_off(policy, server=as_tool(tool).server)
        await refuse(guard, call, Outcome.DENIED if is_off else Outcome.UNKNOWN_TOOL)
        raise UnknownToolError(call.name)
    try:
        await take_arguments(call, call.arguments)
    except TooLargeError as error:
        await refuse(guard, call, Outcome.BAD_ARGUMENTS)
        return tool_error(f"Nothing was run: the arguments are too large ({error}).")
    except UsageError as error:
        await refuse(guard, call, Outcome.BAD_ARGUMENTS)
        return tool_error(f"Nothing was run: the arguments are not JSON to pass on ({error}).")
    call.tool, call.about = seen
    return await then(call)


async def refuse(guard: "Guard", call: Call, outcome: Outcome) -> None:
    """Write down that a call came to nothing before there was anything to decide."""
    call.outcome = outcome
    through = call.through and call.through.tool
    await guard.audit.refused(
        call.id, call.principal, name=call.name, outcome=outcome, through=through
    )
