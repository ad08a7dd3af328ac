"""What would become of a call if it were made now: the same decision, and nothing is run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from avow.catalog import as_tool
from avow.guard.call import Call
from avow.guard.history import situation_of
from avow.guard.narrowing import narrowed
from avow.policy import Principal, facts_of
from avow.policy.explain import Explanation, explain

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard


async def explain_call(
    guard: "Guard", principal: Principal, tool: object, arguments: Mapping[str, Any]
) -> Explanation:
    """Why a call of `tool` would be decided as it would be; nothing of it is written down.

    What the tool's plan says is not known before a call is made, and another call may be made
    before this one. Raises `UsageError` where its author's `narrow` widens the call.
    """
    policy, known = guard.policy(), as_tool(tool)
    seen, about = guard.sight.of(policy, known)
    call = Call("", principal, known.qualified_name, arguments, guard.clock(), policy=policy)
    call.tool, call.about = seen, about
    whose = await narrowed(seen, arguments)
    if whose is not seen:
        call.tool, call.about = whose, facts_of(whose)
    return explain(policy, await situation_of(guard, call))
