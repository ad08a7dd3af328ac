"""The history of calls: read for decisions and limits, and extended by each call."""

import json
from collections.abc import Iterator
from typing import Final

from sayso.guard.call import Call
from sayso.guard.context import GuardContext
from sayso.intent import Level
from sayso.once import Once
from sayso.policy import Mode, Past, Policy, Situation, ToolFacts
from sayso.store import Look, Quota, Tick, Usage, Use, storable

_NOTHING: Final = Usage()


async def situation_of(guard: GuardContext, call: Call) -> Situation:
    """Return the facts that the decision on a call depends on; read the store only if needed."""
    now = guard.clock()
    usage = await _look(guard, call, now)
    return Situation(
        principal=call.principal,
        facts=call.tool_facts,
        arguments=call.arguments,
        meta=call.forwarded,
        history=tuple(
            Past(use.last, ToolFacts.from_dict(json.loads(use.facts)), use.is_same_conversation)
            for use in usage.uses
        ),
        is_first_use=usage.is_first_use,
        recent=_by_level(usage.ticks),
        of_tool=tuple(tick.at for tick in usage.ticks if tick.tool == _key(call)),
        targets=call.plan and len(call.plan.changes),
        now=now,
    )


async def _look(guard: GuardContext, call: Call, now: float) -> Usage:
    policy = call.policy
    facts = call.tool_facts
    asks_first = policy.asks_first(facts.server, facts.tool)
    counts = policy.counts_calls
    if not (policy.window or asks_first or counts):
        return _NOTHING
    look = Look(
        subject=call.principal.account,
        client=call.principal.client,
        now=now,
        idle=guard.approvals.idle,
        since=now - policy.window if policy.window else None,
        first_use=_key(call) if asks_first else None,
        has_ticks=counts,
        is_claimed=not call.principal.is_known,
    )
    return await guard.audit.records.look(look)


def use_of(guard: GuardContext, call: Call) -> Use:
    """Return the entry that a call adds to the history."""
    return Use(
        subject=call.principal.account,
        client=call.principal.client,
        tool=_key(call),
        level=str(call.tool.level),
        facts=_texts.of(call.tool_facts),
        at=guard.clock(),
        idle=guard.approvals.idle,
        grant=call.grant and call.grant.number,
        claim=call.claim,
    )


def quotas_of(policy: Policy, situation: Situation, tool: str) -> Iterator[Quota]:
    """Yield the limits on calls per minute that apply to a call of `tool`."""
    limits = policy.limits
    level = situation.facts.intent.level
    if limits.calls is not None:
        yield Quota(limits.calls)
    if (limit := limits.by_level.get(level)) is not None:
        yield Quota(limit, level=str(level))
    for rule in policy.index.about(situation.principal, situation.facts):
        if rule.limits and rule.limits.calls is not None and rule.matches(situation):
            yield Quota(rule.limits.calls, tool=tool)


async def quotas_now(guard: GuardContext, call: Call) -> list[Quota]:
    """Return the limits that apply to a call now, just before it is sent."""
    if call.policy.mode is Mode.OBSERVE:
        return []
    return list(quotas_of(call.policy, await situation_of(guard, call), _key(call)))


_texts: Final = Once[ToolFacts, str](lambda facts: json.dumps(facts.to_dict()), most=1024)


def _key(call: Call) -> str:
    """Return the key of a tool in the history; a changed tool gets a new key."""
    tool = call.tool
    return storable(f"{tool.origin}/{tool.server}/{tool.name}/{tool.fingerprint}")


def _by_level(ticks: tuple[Tick, ...]) -> dict[Level, tuple[float, ...]]:
    return {
        level: tuple(tick.at for tick in ticks if tick.level == level)
        for level in {Level(tick.level) for tick in ticks}
    }
