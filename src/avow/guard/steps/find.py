"""Find: the tool of this name, if this caller may know of it."""

from typing import TYPE_CHECKING

from avow.errors import UsageError
from avow.guard.call import Answer, Call, UnknownToolError, tool_error
from avow.policy import is_visible
from avow.schema import digest

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then


async def find(guard: "Guard", call: Call, then: "Then") -> Answer:
    """Raise the same `UnknownToolError` for a tool that is hidden as for one that is not there."""
    tool = await guard.find_tool(call.name)
    if tool is None or not is_visible(call.principal, tool.intent):
        await guard.audit.unknown_tool(call.id, call.principal, call.name)
        raise UnknownToolError(call.name)
    try:
        call.arguments_digest = digest(call.arguments)
    except UsageError as error:
        return tool_error(f"The arguments are not JSON that can be passed on: {error}.")
    call.tool = tool
    return await then(call)
