"""The decisions that are possible for a tool before it is called."""

from dataclasses import replace

from sayso.policy.conditions import Condition
from sayso.policy.decision import Decision
from sayso.policy.document import Policy, Rule
from sayso.policy.engine import decide
from sayso.policy.principal import Principal
from sayso.policy.situation import Situation, ToolFacts


def foresee(policy: Policy, principal: Principal, facts: ToolFacts) -> frozenset[Decision]:
    """Return every decision that calls of a tool by `principal` can get, with any arguments.

    Conditions on the call itself (arguments, earlier calls, an expression) may match or not. Rate
    limits are ignored.

    >>> from sayso.intent import DELETE, Evidence, resolve
    >>> facts = ToolFacts("crm", "customer_delete", resolve(Evidence(DELETE.hints)))
    >>> [str(decision.effect) for decision in foresee(Policy(), Principal("amy"), facts)]
    ['confirm']
    """
    situation = Situation(principal, facts)
    situations = [situation]
    if policy.asks_first(facts.server, facts.tool):
        situations.append(replace(situation, is_first_use=True))
    sure: list[Rule] = []
    possible: list[Rule] = []
    for rule in policy.rules:
        rule_at_least = _bounded(rule, matches=False)
        rule_at_most = _bounded(rule, matches=True)
        if rule_at_least.matches(situation):
            sure.append(rule_at_least)
        elif rule_at_most.matches(situation):
            possible.append(rule_at_most)
    policies = [policy]
    if policy.rules:
        # The strictest rule decides, so adding one possible rule at a time gives every result.
        choices = [tuple(sure), *((*sure, rule) for rule in possible)]
        policies = [replace(policy, rules=rules) for rules in choices]
    return frozenset(decide(policy, situation) for policy in policies for situation in situations)


def _bounded(rule: Rule, *, matches: bool) -> Rule:
    if not any(condition.is_of_call for condition in (*rule.when, *rule.unless)):
        return rule
    return replace(
        rule,
        when=tuple(_answered(condition, answer=matches) for condition in rule.when),
        unless=tuple(_answered(condition, answer=not matches) for condition in rule.unless),
    )


def _answered(condition: Condition, *, answer: bool) -> Condition:
    if not condition.is_of_call:
        return condition

    def test(_: Situation) -> bool:
        return answer

    return replace(condition, test=test)
