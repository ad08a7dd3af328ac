"""After an answer and before the call: what the person was asked about must still be so."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from avow.approvals import Approval, Plan, patched, take_plan
from avow.errors import DeniedError, UsageError
from avow.guard.call import Call
from avow.guard.history import situation_of
from avow.guard.narrowing import narrowed
from avow.policy import Decision, Effect, facts_of
from avow.policy import decide as decide_by_policy
from avow.schema import digest

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard


class Change(StrEnum):
    """What is not as it was."""

    TOOL = "tool"
    PLAN = "plan"
    POLICY = "policy"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class Found:
    """What is not as it was, and, where policy or an edit is the reason, why."""

    change: Change
    reason: str = ""


async def find_change(guard: "Guard", call: Call, approval: Approval) -> Found | None:
    """What has changed since the question was put; `None` where all is as it was.

    Puts on the call what it is to go on with: a reviewer's edit, today's policy, a new plan.
    """
    asked, plan = call.found, call.plan
    call.policy = guard.policy()
    if not await _is_same_tool(guard, call):
        return Found(Change.TOOL)
    if approval.edit is not None and (problem := await _edit(guard, call, approval)):
        return Found(Change.EDIT, problem)
    if asked.intent.plan is not None and plan is not None:
        try:
            call.plan = await take_plan(asked.intent.plan, call.arguments)
        except DeniedError as error:
            return Found(Change.POLICY, str(error).rstrip("."))
    decision = decide_by_policy(call.under, await situation_of(guard, call))
    if decision.effect is Effect.DENY:
        return Found(Change.POLICY, decision.reason)
    if decision.effect is Effect.CONFIRM and not _is_as_strict(call.decided, decision):
        return Found(Change.POLICY, "the policy asks for more than it did")
    if approval.edit is None and _digest(plan) != _digest(call.plan):
        return Found(Change.PLAN)
    return None


async def _is_same_tool(guard: "Guard", call: Call) -> bool:
    """The server is asked again, now. The call goes on with the tool as it was asked about."""
    asked = call.found
    now = await guard.find_tool(call.name, is_fresh=True)
    seen = None if now is None else guard.sees(call.principal, now, call.under)
    if seen is None:
        return False
    tool = await narrowed(seen[0], call.arguments)
    return tool.fingerprint == asked.fingerprint and tool.resolved == asked.resolved


async def _edit(guard: "Guard", call: Call, approval: Approval) -> str | None:
    """Put a reviewer's arguments in the place of the call's; what is wrong with them."""
    edited = patched(call.arguments, approval.edit or {})
    checker = guard.shapes.of(call.found).arguments
    problems = checker.problems(edited) if checker else ()
    if problems:
        return f"the reviewer's change does not fit the tool: {'; '.join(map(str, problems))}"
    whole = guard.sees(call.principal, call.found, call.under)
    if whole is None:
        return "the tool is hidden now"
    try:
        tool = await narrowed(whole[0], edited)
    except UsageError as error:
        return str(error)
    call.arguments, call.arguments_digest = edited, digest(edited)
    call.tool, call.about = tool, facts_of(tool)
    return None


def _is_as_strict(asked: Decision, now: Decision) -> bool:
    """Whether an answer to what was asked is enough for what would be asked now."""
    return (asked.require, asked.reviewers) == (now.require, now.reviewers)


def _digest(plan: Plan | None) -> str:
    return plan.digest if plan else ""
