"""The decision engine: one situation, one policy, one decision."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sayso.intent import Level, shortest
from sayso.policy.decision import Decision, Effect, Mode, Require, Reviewers, decide_by_mode
from sayso.policy.document import Policy
from sayso.policy.principal import Principal
from sayso.policy.rule import LIMIT_WINDOW_SECONDS, Limits, Rule
from sayso.policy.situation import Situation, ToolFacts

OFF: Final = "off"
QUARANTINE: Final = "quarantine"
LIMITS: Final = "limits"
FIRST_USE: Final = "first_use"


def decide(policy: Policy, situation: Situation) -> Decision:
    """Decide a call.

    First, in every mode, calls are denied if the server or caller is switched off or the tool is
    in quarantine. Mode `observe` allows all other calls. If another gateway asks people, calls that
    need approval are allowed too. For these, `would_be` is the policy's effect.
    """
    if off := find_off(policy, situation):
        return off
    judged = _with_default_strength(_judge(policy, situation), situation)
    is_asked_elsewhere = judged.effect is Effect.CONFIRM and policy.asks is False
    if policy.mode is not Mode.OBSERVE and not is_asked_elsewhere:
        return judged
    return replace(judged, effect=Effect.ALLOW, would_be=judged.effect)


def is_visible(policy: Policy, principal: Principal, facts: ToolFacts) -> bool:
    """Return whether `principal` may see a tool.

    A principal with scopes must have all scopes of the tool, and one of the roles that the tool
    names. A rule that hides it hides it, except in mode `observe`. If the server or the caller is
    switched off, no tool is visible.
    """
    if is_switched_off(policy, server=facts.server, subject=principal.subject):
        return False
    scopes = policy.scopes_of(principal)
    if scopes is not None and not (
        facts.scopes <= scopes and (not facts.roles or not facts.roles.isdisjoint(principal.roles))
    ):
        return False
    if policy.mode is Mode.OBSERVE:
        return True
    hiding = policy.hiding.about(principal, facts)
    if not hiding:
        return True
    situation = Situation(principal, facts)
    return not any(rule.matches(situation) for rule in hiding)


def is_switched_off(policy: Policy, *, server: str | None = None, subject: str = "") -> bool:
    """Return whether `policy` switches off this server or this caller, whatever the mode."""
    return server in policy.off_servers or subject in policy.off_subjects


def find_off(policy: Policy, situation: Situation) -> Decision | None:
    """Deny a call whose server or caller is switched off, or whose tool is in quarantine."""
    server = situation.facts.server
    subject = situation.principal.subject
    if server in policy.off_servers:
        return Decision(Effect.DENY, OFF, f"the server “{server}” is switched off")
    if subject in policy.off_subjects:
        return Decision(Effect.DENY, OFF, f"the caller “{subject}” is switched off")
    if why := situation.facts.quarantine:
        return Decision(Effect.DENY, QUARANTINE, why)
    return None


def find_limit(policy: Policy, situation: Situation) -> Decision | None:
    """Deny a call beyond the policy's own limits."""
    limits = policy.limits
    level = situation.facts.intent.level
    if limits.calls is not None:
        times = sorted(time for times in situation.recent.values() for time in times)
        if over := _over(times, limits.calls, situation, "calls"):
            return over
    if (limit := limits.by_level.get(level)) is not None:
        times = situation.recent.get(level, ())
        if over := _over(times, limit, situation, f"{level} calls"):
            return over
    return _too_many_targets(limits, situation)


def find_rule_limit(rule: Rule, situation: Situation) -> Decision | None:
    """Deny a call beyond the limits of a matching rule."""
    limits = rule.limits
    facts = situation.facts
    if limits is None:
        return None
    over = None
    if limits.calls is not None:
        over = _over(_times_of(facts, situation), limits.calls, situation, "calls of this tool")
    over = over or _too_many_targets(limits, situation)
    return over and replace(over, rule=rule.name, line=rule.line)


def _times_of(facts: ToolFacts, situation: Situation) -> Sequence[float]:
    if situation.of_tool is not None:
        return situation.of_tool
    return sorted(
        past.at
        for past in situation.history
        if past.facts.tool == facts.tool and past.facts.server == facts.server
    )


def first_use_asks(policy: Policy, situation: Situation) -> bool:
    """Return whether this is the tool's first call and the policy asks about first calls."""
    facts = situation.facts
    return situation.is_first_use and policy.asks_first(facts.server, facts.tool)


def by_mode(policy: Policy, situation: Situation) -> Decision:
    """Return the mode's own decision. For `observe`, return the decision of `guarded`."""
    intent = situation.facts.intent
    if policy.mode is not Mode.OBSERVE:
        return decide_by_mode(policy.mode, intent)
    return replace(decide_by_mode(Mode.GUARDED, intent), rule=f"mode:{policy.mode}")


@dataclass(slots=True)
class _Matching:
    """The matching rules that affect the decision."""

    denies: Rule | None = None
    over: Decision | None = None
    confirms: list[Rule] = field(default_factory=list[Rule])
    allows: Rule | None = None


def _judge(policy: Policy, situation: Situation) -> Decision:
    if not isinstance(policy.mode, Mode):  # pyright: ignore[reportUnnecessaryIsInstance] - a program may have set anything
        return by_mode(policy, situation)
    matching = _match(policy.index.about(situation.principal, situation.facts), situation)
    if matching.denies is not None:
        return _by_rule(matching.denies, Effect.DENY)
    if over := find_limit(policy, situation) or matching.over:
        return over
    if matching.confirms:
        decision = _ask(matching.confirms)
    elif matching.allows:
        decision = _by_rule(matching.allows, Effect.ALLOW)
    else:
        decision = by_mode(policy, situation)
    if decision.effect is Effect.ALLOW and first_use_asks(policy, situation):
        reason = "this tool is used for the first time"
        decision = Decision(Effect.CONFIRM, FIRST_USE, reason)
    if decision.effect is Effect.CONFIRM and policy.mode is Mode.UNATTENDED:
        reason = f"{decision.reason}, and no one is there to answer"
        return Decision(Effect.DENY, decision.rule, reason, decision.line)
    return decision


def _with_default_strength(decision: Decision, situation: Situation) -> Decision:
    """Require, by default, out-of-band answers for destructive calls of authenticated callers."""
    is_known = situation.principal.is_known
    destroys = situation.facts.intent.level not in (Level.READ, Level.WRITE)
    if decision.effect is Effect.CONFIRM and decision.require is None and is_known and destroys:
        return replace(decision, require=Require.OUT_OF_BAND)
    return decision


def _match(rules: Iterable[Rule], situation: Situation) -> _Matching:
    matching = _Matching()
    for rule in rules:
        if not rule.matches(situation):
            continue
        if rule.effect is not Effect.ALLOW and rule.effect is not Effect.CONFIRM:
            matching.denies = rule
            return matching
        if matching.over is None:
            matching.over = find_rule_limit(rule, situation)
        if rule.effect is Effect.CONFIRM:
            matching.confirms.append(rule)
        else:
            matching.allows = matching.allows or rule
    return matching


def _by_rule(rule: Rule, effect: Effect) -> Decision:
    return Decision(effect, rule.name, rule.reason, rule.line)


def _ask(rules: Sequence[Rule]) -> Decision:
    """Combine all rules that ask. The first gives the reason; each other value is the strictest."""
    first = rules[0]
    strengths = {rule.require for rule in rules}
    ends = [rule.expires for rule in rules if rule.expires is not None]
    return Decision(
        Effect.CONFIRM,
        first.name,
        first.reason,
        first.line,
        require=next((strength for strength in Require if strength in strengths), None),
        reviewers=_reviewers([rule.reviewers for rule in rules if rule.reviewers]),
        expires=min(ends, default=None),
        grant=shortest(*(rule.grant for rule in rules)),
    )


def _reviewers(reviewers: Sequence[Reviewers]) -> Reviewers | None:
    """Return the largest count, with the people of the first rule that names people."""
    if not reviewers:
        return None
    named = next((entry for entry in reviewers if entry.subjects or entry.roles), reviewers[0])
    return replace(named, count=max(entry.count for entry in reviewers))


def _over(times: Sequence[float], limit: int, situation: Situation, what: str) -> Decision | None:
    """Deny if at least `limit` calls were within the last minute; `times` is ascending."""
    start = bisect_right(times, situation.now - LIMIT_WINDOW_SECONDS)
    if len(times) - start < limit:
        return None
    # At limit a minute, because times in the future (a clock was set back) would block for longer.
    wait = min(max(times[-limit] + LIMIT_WINDOW_SECONDS - situation.now, 1.0), LIMIT_WINDOW_SECONDS)
    seconds = int(wait) + (wait > int(wait))
    reason = f"the limit of {limit} {what} per minute is reached; try again in {seconds} seconds"
    return Decision(Effect.DENY, LIMITS, reason, retry_after=wait)


def _too_many_targets(limits: Limits, situation: Situation) -> Decision | None:
    targets = situation.targets
    limit = limits.targets
    if targets is None or limit is None or targets <= limit:
        return None
    reason = f"it would change {targets} things, and at most {limit} may change at once"
    return Decision(Effect.DENY, LIMITS, f"{reason}; try again with fewer at a time")
