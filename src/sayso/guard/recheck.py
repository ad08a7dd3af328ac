"""The check, after an approval, that tool, policy, condition and plan have not changed."""

import logging
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sayso.approvals import Approval, patched
from sayso.catalog import Tool
from sayso.errors import DeniedError, UsageError
from sayso.guard.call import Call
from sayso.guard.context import GuardContext
from sayso.guard.history import situation_of
from sayso.guard.large_arguments import take_arguments
from sayso.guard.steps.narrow import narrowed
from sayso.guard.steps.plan import has_plan, plan_of
from sayso.guard.steps.precondition import unmet
from sayso.policy import Decision, Effect, facts_of, is_switched_off
from sayso.policy import decide as decide_by_policy
from sayso.workers import UndecidedError

_log: Final = logging.getLogger(__name__)


class Change(StrEnum):
    """The part that has changed, `EDIT` (invalid edit by a reviewer) or `UNPLANNED` (no plan)."""

    TOOL = "tool"
    PLAN = "plan"
    POLICY = "policy"
    EDIT = "edit"
    UNPLANNED = "unplanned"
    CONDITION = "condition"


@dataclass(frozen=True, slots=True)
class DetectedChange:
    """A detected change, with its reason if there is one."""

    change: Change
    reason: str = ""


async def find_change(guard: GuardContext, call: Call, approval: Approval) -> DetectedChange | None:
    """Return the first change since the person was asked, or `None`.

    Updates the call with the reviewer's edit, the current policy and the new plan.
    """
    plan = call.plan
    call.policy = guard.policy()
    if approval.channel not in call.policy.channels:
        reason = f"the policy no longer accepts answers over “{approval.channel}”"
        return DetectedChange(Change.POLICY, reason)
    if is_switched_off(call.policy, server=call.tool.server, subject=call.principal.subject):
        return DetectedChange(Change.POLICY, "the policy switches the server or the caller off")
    if not await _is_same_tool(guard, call):
        return DetectedChange(Change.TOOL)
    if objection := await _objection(guard, call, approval):
        return objection
    decision = decide_by_policy(call.policy, await situation_of(guard, call))
    if decision.effect not in (Effect.ALLOW, Effect.CONFIRM):
        return DetectedChange(Change.POLICY, decision.reason)
    if decision.effect is Effect.CONFIRM and not _is_as_strict(call.decision, decision):
        reason = "the policy now has another requirement; make the call again to ask a person"
        return DetectedChange(Change.POLICY, reason)
    is_edited = call.arguments_digest != approval.question.arguments_digest
    if not is_edited and (plan and plan.digest) != (call.plan and call.plan.digest):
        return DetectedChange(Change.PLAN)
    return None


async def _is_same_tool(guard: GuardContext, call: Call) -> bool:
    asked = call.tool
    now = await guard.find_tool(call.name, call.principal, is_fresh=True)
    visible = None if now is None else guard.sees(call.principal, now, call.policy)
    if visible is None:
        return False
    try:
        tool = await narrowed(visible[0], call.arguments)
    except UsageError as error:
        _log.error("%s", error)
        return False
    return tool.fingerprint == asked.fingerprint and tool.resolved == asked.resolved


async def _objection(guard: GuardContext, call: Call, approval: Approval) -> DetectedChange | None:
    """Return the problem of a reviewer's edit, or the condition that the call no longer meets."""
    asked = call.tool
    if approval.edit is not None and (problem := await _edit(guard, call, approval)):
        return DetectedChange(Change.EDIT, problem)
    if reason := await unmet(asked, call.arguments):
        return DetectedChange(Change.CONDITION, reason)
    if call.plan is None or not has_plan(asked.intent):
        return None
    return await _plan(guard, call, asked)


async def _edit(guard: GuardContext, call: Call, approval: Approval) -> str | None:
    edited = patched(call.arguments, approval.edit or {})
    checker = guard.schemas.of(call.tool).arguments
    try:
        problems = await checker.problems(edited, call.principal.caller) if checker else ()
    except UndecidedError as error:
        return f"the reviewer's change cannot be checked, because {error}"
    if problems:
        return f"the reviewer's change does not fit the tool: {'; '.join(map(str, problems))}"
    whole, _ = guard.sight.of(call.policy, call.tool)
    try:
        tool = await narrowed(whole, edited)
        await take_arguments(call, edited)
    except UsageError as error:
        return str(error)
    call.tool = tool
    call.tool_facts = facts_of(tool)
    return None


async def _plan(guard: GuardContext, call: Call, asked: Tool) -> DetectedChange | None:
    try:
        call.plan = await plan_of(guard, call, asked.intent)
    except DeniedError as error:
        return DetectedChange(Change.UNPLANNED, str(error))
    except Exception:  # noqa: BLE001 - an author's function may raise anything
        _log.exception("the plan of a call of %s failed", call.name)
        return DetectedChange(Change.UNPLANNED)
    return None


def _is_as_strict(asked: Decision, now: Decision) -> bool:
    return (asked.require, asked.reviewers) == (now.require, now.reviewers)
