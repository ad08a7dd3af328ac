"""The step `plan`: compute the changes that a call would make, for the question and for limits."""

import logging
from collections.abc import Mapping
from typing import Any, Final, cast

import anyio

from sayso.approvals import Plan, make_plan, take_plan
from sayso.audit import Outcome
from sayso.errors import DeniedError, UsageError
from sayso.guard.call import Answer, Call, CallRequest, new_id, unplanned
from sayso.guard.context import GuardContext, Step
from sayso.guard.history import situation_of
from sayso.guard.large_arguments import take_arguments
from sayso.guard.passthrough import opened
from sayso.guard.steps.execute import execute
from sayso.guard.steps.outcome import record_outcome
from sayso.intent import Intent, Level
from sayso.policy import Effect
from sayso.policy import decide as decide_by_policy
from sayso.schema import is_switch, size

DRY_RUN_SECONDS: Final = 10.0
MAX_PLAN_CHARACTERS: Final = 200_000
"""The size limit of a dry run's answer, as JSON."""
_MAX_ERROR_CHARACTERS: Final = 500

_log: Final = logging.getLogger(__name__)


def has_plan(intent: Intent) -> bool:
    """Return whether a tool can plan its calls."""
    return intent.plan is not None or intent.dry_run is not None


async def plan_of(guard: GuardContext, call: Call, intent: Intent) -> Plan:
    """Return the plan of a call of a tool with this intent.

    Raises `DeniedError` if the author's function or the tool's dry run refuses the call. Other
    errors mean that no plan could be made.
    """
    if intent.plan is not None:
        return await take_plan(intent.plan, call.arguments)
    return await _dry_run(guard, call, intent.dry_run or "")


async def _dry_run(guard: GuardContext, call: Call, parameter: str) -> Plan:
    """Call the tool with `parameter` set to true, and return its answer as the plan.

    The dry run is recorded as a separate call. A tool without this boolean parameter is not called,
    because it would ignore the parameter and make the changes.
    """
    if not is_switch(call.tool.input_schema, parameter):
        what = f"the tool has no boolean parameter {parameter!r} for a dry run"
        raise UsageError(what, where=call.name)
    dry = _copied(guard, call)
    await take_arguments(dry, {**call.arguments, parameter: True})
    checker = guard.schemas.of(call.tool).arguments
    if checker is not None and await checker.problems(dry.arguments, call.principal.caller):
        raise UsageError(f"the schema does not accept {parameter}: true here", where=call.name)

    async def run(_: Call) -> Answer:
        await guard.audit.attempt(dry.facts, None)
        return await execute(guard, dry)

    with anyio.fail_after(DRY_RUN_SECONDS):
        answer = opened(await record_outcome(guard, dry, run))
    if answer.get("isError") and dry.outcome is Outcome.TOOL_ERROR and dry.incident is None:
        text = " ".join(_texts(answer))[:_MAX_ERROR_CHARACTERS]
        raise DeniedError(f"the tool's dry run failed: {text}")
    if answer.get("isError") or answer.get("resultType", "complete") != "complete":
        raise UsageError("the tool's dry run gave no result", where=call.name)
    return _plan_in(answer, call.name)


def _copied(guard: GuardContext, call: Call) -> Call:
    request = CallRequest(
        id=new_id(),
        principal=call.principal,
        name=call.name,
        arguments={},
        started=guard.clock(),
        meta=call.meta,
        through=call.request.through,
        caller=call.request.caller,
        dry_run_of=call.id,
    )
    return Call(request, call.policy, call.tool, call.tool_facts, call.decision)


def _plan_in(answer: Answer, name: str) -> Plan:
    """Return the plan in a dry run's answer; a value other than a list becomes one change."""
    value = answer.get("structuredContent")
    if not isinstance(value, Mapping):
        value = _texts(answer)
    elif set(cast("Mapping[str, Any]", value)) == {"result"}:
        value = cast("Any", value["result"])
    if size(value) > MAX_PLAN_CHARACTERS:
        what = f"the dry run's answer is longer than {MAX_PLAN_CHARACTERS} characters"
        raise UsageError(what, where=name)
    if isinstance(value, list):
        return make_plan(value)
    if isinstance(value, Mapping):
        facts = cast("Mapping[str, Any]", value)
        if not isinstance(facts.get("changes"), list):
            facts = {**facts, "changes": [facts]}
        return make_plan(facts)
    return make_plan([value])


def _texts(answer: Answer) -> list[str]:
    content = answer.get("content")
    if not isinstance(content, list):
        return []
    blocks = cast("list[Any]", content)
    texts = (cast("Any", block).get("text") for block in blocks if isinstance(block, Mapping))
    return [text for text in texts if isinstance(text, str)]


async def add_plan(guard: GuardContext, call: Call) -> Answer | None:
    """Put the plan on the call; refuse a call that cannot be planned.

    The caller gets the text of the author's `DeniedError` or of the dry run's error. Other errors
    are only logged.
    """
    try:
        call.plan = await plan_of(guard, call, call.tool.intent)
    except DeniedError as error:
        return unplanned(call, str(error))
    except Exception:  # noqa: BLE001 - an author's function may raise anything
        _log.exception("the plan of a call of %s failed", call.name)
        return unplanned(call)
    call.decision = decide_by_policy(call.policy, await situation_of(guard, call))
    return None


def _needs_plan(call: Call) -> bool:
    if not has_plan(call.tool.intent) or call.tool.level is Level.READ:
        return False
    effect = call.decision.effect
    return effect is Effect.CONFIRM or (call.policy.counts_targets and effect is Effect.ALLOW)


PLAN: Final = Step("plan", _needs_plan, add_plan)
