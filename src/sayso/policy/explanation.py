"""The explanation of a decision: every rule, whether it matched, and why not."""

from dataclasses import dataclass
from typing import Any

from sayso.intent import HINT_NAMES
from sayso.policy.decision import Decision, Effect
from sayso.policy.document import Policy, Rule
from sayso.policy.engine import (
    OFF,
    by_mode,
    decide,
    find_limit,
    find_off,
    first_use_asks,
    is_visible,
)
from sayso.policy.situation import Situation


@dataclass(frozen=True, slots=True)
class RuleReport:
    """One rule's result. `why_not` is empty for a match; `unsure` has the unknown conditions."""

    name: str
    line: int
    effect: Effect
    is_match: bool
    why_not: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "name": self.name,
            "line": self.line,
            "effect": str(self.effect),
            "match": self.is_match,
        }
        if self.unsure:
            fields["unsure"] = list(self.unsure)
        if self.why_not:
            fields["why_not"] = list(self.why_not)
        return fields


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decision with everything that led to it.

    `off` is the denial by an off switch and `limit` the denial by a rate limit, or `None`.
    """

    where: str
    situation: Situation
    decision: Decision
    is_visible: bool
    mode: Decision
    rules: tuple[RuleReport, ...]
    off: Decision | None
    limit: Decision | None
    first_use: bool

    def to_dict(self) -> dict[str, Any]:
        facts = self.situation.facts
        return {
            "server": facts.server,
            "tool": facts.tool,
            "level": str(facts.intent.level),
            "hints": facts.intent.to_dict(),
            "policy": self.where,
            "visible": self.is_visible,
            "decision": self.decision.to_dict(),
            "mode": self.mode.to_dict(),
            "first_use": self.first_use,
            "rules": [report.to_dict() for report in self.rules],
            "off": self.off and self.off.to_dict(),
            "limit": self.limit and self.limit.to_dict(),
        }

    def lines(self) -> list[str]:
        facts = self.situation.facts
        decision = self.decision
        hints = ", ".join(f"{name} {_hint(self.situation, name)}" for name in HINT_NAMES)
        lines = [f"{facts.server} {facts.tool}: {self._verdict()}"]
        lines.append(f"  because {decision.reason} ({self._place(decision)})")
        if not self.is_visible and decision.rule != OFF:
            # A call of a hidden tool fails as unknown, so the first line must show that.
            hidden = f"  because the tool is hidden from this caller: {self._why()}"
            otherwise = f"if it were visible: {self._verdict()}, {lines[1].strip()}"
            lines = [f"{facts.server} {facts.tool}: unknown", hidden, otherwise]
        lines.append(f"level {facts.intent.level}: {hints}")
        lines += [f"{denial.reason} ({denial.rule})" for denial in (self.off, self.limit) if denial]
        lines += map(self._of_rule, self.rules)
        lines.append(f"{self.mode.rule} alone decides {self.mode.effect}: {self.mode.reason}")
        return lines

    def _why(self) -> str:
        if any(report.effect is Effect.HIDE and report.is_match for report in self.rules):
            return "a rule hides it"
        facts = self.situation.facts
        required: list[str] = []
        if facts.scopes:
            required.append(f"all of the scopes {', '.join(sorted(facts.scopes))}")
        if facts.roles:
            required.append(f"one of the roles {', '.join(sorted(facts.roles))}")
        return f"it requires {' and '.join(required)}"

    def _verdict(self) -> str:
        decision = self.decision
        if decision.would_be is not None:
            return f"{decision.effect}, observed only; if enforced: {decision.would_be}"
        words = [str(decision.effect)]
        if decision.require:
            words.append(str(decision.require))
        if decision.reviewers:
            words.append(f"{decision.reviewers.count} must approve")
        if decision.expires is not None:
            words.append(f"expires after {decision.expires:g} s")
        return ", ".join(words)

    def _place(self, decision: Decision) -> str:
        if not decision.line:
            return decision.rule
        return f"{decision.rule}, {self.where}:{decision.line}"

    def _of_rule(self, report: RuleReport) -> str:
        head = f"{self.where}:{report.line} {report.name} ({report.effect})"
        if not report.is_match:
            return f"{head} does not match: {'; '.join(report.why_not)}"
        if report.unsure:
            return f"{head} matches, because {' and '.join(report.unsure)} is unknown"
        return f"{head} matches"


def explain(policy: Policy, situation: Situation) -> Explanation:
    """Explain the decision that `decide` makes on a call."""
    return Explanation(
        where=policy.where,
        situation=situation,
        decision=decide(policy, situation),
        is_visible=is_visible(policy, situation.principal, situation.facts),
        mode=by_mode(policy, situation),
        rules=tuple(_report(rule, situation) for rule in policy.rules),
        off=find_off(policy, situation),
        limit=find_limit(policy, situation),
        first_use=first_use_asks(policy, situation),
    )


def _report(rule: Rule, situation: Situation) -> RuleReport:
    is_match = rule.matches(situation)
    why_not = () if is_match else tuple(_why_not(rule, situation))
    unsure = tuple(condition.key for condition in rule.when if condition.test(situation) is None)
    return RuleReport(rule.name, rule.line, rule.effect, is_match, why_not, unsure)


def _why_not(rule: Rule, situation: Situation) -> list[str]:
    refuting = (False, None) if rule.is_loosening else (False,)
    reasons = [
        condition.why_not(situation)
        for condition in rule.when
        if condition.test(situation) in refuting
    ]
    return reasons or ["the rule's “unless” conditions match"]


def _hint(situation: Situation, name: Any) -> str:
    hint = situation.facts.intent[name]
    return f"{'yes' if hint.value else 'no'} ({hint.source})"
