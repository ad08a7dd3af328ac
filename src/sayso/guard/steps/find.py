"""The step `find`: find the tool of this name, if this caller may see it."""

import logging
from typing import Final

from sayso.audit import Outcome
from sayso.catalog import as_tool
from sayso.errors import AuthenticationError, UnknownToolError, UnreachableError, UsageError
from sayso.guard.call import Answer, Call, tool_error
from sayso.guard.context import GuardContext, Step, every_call
from sayso.guard.large_arguments import TooLargeError, take_arguments
from sayso.policy import is_switched_off

_log: Final = logging.getLogger(__name__)


async def find(guard: GuardContext, call: Call) -> Answer | None:
    """Put the tool on the call. Raises `UnknownToolError` for a missing and for a hidden tool."""
    policy = call.policy = guard.policy()
    if is_switched_off(policy, subject=call.principal.subject):
        await refuse(guard, call, Outcome.DENIED)
        return tool_error("Nothing was run: the policy switches this caller off.")
    try:
        tool = call.request.tool
        if tool is None:
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
        return tool_error(f"Nothing was run: {error}. Send less at a time.")
    except UsageError as error:
        await refuse(guard, call, Outcome.BAD_ARGUMENTS)
        return tool_error(f"Nothing was run: the arguments cannot be sent as JSON ({error}).")
    call.tool, call.tool_facts = seen
    return None


async def refuse(guard: GuardContext, call: Call, outcome: Outcome) -> None:
    """Record a call that ends before a decision."""
    call.outcome = outcome
    through = call.request.through
    await guard.audit.refused(
        call.id, call.principal, name=call.name, outcome=outcome, through=through and through.tool
    )


FIND: Final = Step("find", every_call, find)
