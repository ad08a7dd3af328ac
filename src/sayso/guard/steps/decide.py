"""The step `decide`: decide whether the call may run, must ask a person, or is refused."""

from collections.abc import Mapping
from typing import Any, Final

from sayso.catalog import as_tool
from sayso.guard.call import Call, CallRequest
from sayso.guard.context import GuardContext, Step, every_call
from sayso.guard.history import situation_of
from sayso.guard.steps.narrow import narrowed
from sayso.policy import Explanation, Principal, explain, facts_of
from sayso.policy import decide as decide_by_policy


async def decide(guard: GuardContext, call: Call) -> None:
    """Put the decision on the call; later steps carry it out."""
    standing = guard.standing.of(call.policy, call.principal, call.tool_facts)
    call.decision = standing or decide_by_policy(call.policy, await situation_of(guard, call))


async def explain_call(
    guard: GuardContext, principal: Principal, tool: object, arguments: Mapping[str, Any]
) -> Explanation:
    """Explain how a call of `tool` would be decided now; nothing runs or is recorded.

    The explanation does not include the call's plan. Raises `UsageError` if the author's `narrow`
    returns a wider intent.
    """
    policy = guard.policy()
    known = as_tool(tool)
    seen, facts = guard.sight.of(policy, known)
    request = CallRequest("", principal, known.qualified_name, arguments, guard.clock())
    call = Call(request, policy, seen, facts)
    narrow = await narrowed(seen, arguments)
    if narrow is not seen:
        call.tool = narrow
        call.tool_facts = facts_of(narrow)
    return explain(policy, await situation_of(guard, call))


DECIDE: Final = Step("decide", every_call, decide)
