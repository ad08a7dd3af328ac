"""The outlook of a tool: what may become of its calls, before there is one."""

from dataclasses import replace

from sayso.policy.conditions import Condition
from sayso.policy.decision import Decision
from sayso.policy.document import Policy, Rule
from sayso.policy.engine import decide
from sayso.policy.principal import Principal
from sayso.policy.situation import Situation, ToolFacts


def foresee(policy: Policy, principal: Principal, facts: ToolFacts) -> frozenset[Decision]:
    """Every decision that calls of a tool by `principal` may meet, whatever their arguments.

    What a rule asks of the call itself (arguments, earlier calls, an expression) is taken both
    ways. Limits are left out: they depend on how often is called, and hold for every tool.

    >>> from sayso.intent import DELETE, Evidence, resolve
    >>> facts = ToolFacts("crm", "customer_delete", resolve(Evidence(DELETE.hints)))
    >>> [str(one.effect) for one in foresee(Policy(), Principal("amy"), facts)]
    ['confirm']
    """
    firsts = (False, True) if policy.asks_first(facts.server, facts.tool) else (False,)
    situation = Situation(principal, facts)
    sure: list[Rule] = []
    possible: list[Rule] = []
    for rule in policy.rules:
        least = _bounded(rule, matches=False)
        most = _bounded(rule, matches=True)
        if least.matches(situation):
            sure.append(least)
        elif most.matches(situation):
            possible.append(most)
    situations = [replace(situation, is_first_use=True) if one else situation for one in firsts]
    # Of several rules the strictest decides: each alone with the sure ones shows every end.
    return frozenset(
        decide(replace(policy, rules=rules) if policy.rules else policy, one)
        for rules in [tuple(sure), *((*sure, one) for one in possible)]
        for one in situations
    )


def _bounded(rule: Rule, *, matches: bool) -> Rule:
    """The rule with what it asks of a call answered: so that it matches, or does not, if it can."""
    if not any(one.is_of_call for one in (*rule.when, *rule.unless)):
        return rule
    return replace(
        rule,
        when=tuple(_answered(one, answer=matches) for one in rule.when),
        unless=tuple(_answered(one, answer=not matches) for one in rule.unless),
    )


def _answered(condition: Condition, *, answer: bool) -> Condition:
    def test(_: Situation) -> bool:
        return answer

    return replace(condition, test=test) if condition.is_of_call else condition
