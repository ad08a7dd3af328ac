"""What would become of a call if it were made now: the same decision, and nothing is run."""

from collections.abc import Mapping
from typing import Any

from sayso.catalog import as_tool
from sayso.guard.call import Call, CallRequest
from sayso.guard.context import GuardContext
from sayso.guard.history import situation_of
from sayso.guard.narrowing import narrowed
from sayso.policy import Explanation, Principal, explain, facts_of


async def explain_call(
    guard: GuardContext, principal: Principal, tool: object, arguments: Mapping[str, Any]
) -> Explanation:
    """Why a call of `tool` would be decided as it would be; nothing of it is written down.

    What the tool's plan says is not known before a call is made, and another call may be made
    before this one. Raises `UsageError` where its author's `narrow` widens the call.
    """
    policy = guard.policy()
    known = as_tool(tool)
    seen, about = guard.sight.of(policy, known)
    request = CallRequest("", principal, known.qualified_name, arguments, guard.clock())
    call = Call(request, policy, seen, about)
    whose = await narrowed(seen, arguments)
    if whose is not seen:
        call.tool, call.tool_facts = whose, facts_of(whose)
    return explain(policy, await situation_of(guard, call))
