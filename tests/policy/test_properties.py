"""What holds of every policy."""

from dataclasses import replace
from itertools import count
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policy.samples import HINTS, call, policy

from sayso.policy import Effect, Mode, Policy, Rule, Situation, decide

STRICTNESS = {Effect.ALLOW: 0, Effect.CONFIRM: 1, Effect.DENY: 2}
WHEN = [
    "",
    'when = { level = "read" }',
    'when = { level = ["write", "destructive"] }',
    'when = { tool = "customer_*" }\nunless = { arguments = { id = { range = { max = 5 } } } }',
    'when = { arguments = { id = { glob = "x*" } } }',
    "when = { open_world = true }",
]
NUMBERS = count()


def make_rule(effect: str, when: str) -> Rule:
    if "arguments" in when and effect == "hide":
        effect = "deny"  # a rule that hides has no arguments to look at
    name = f"r{next(NUMBERS)}"
    (made,) = policy(f'[[rules]]\nname = "{name}"\neffect = "{effect}"\n{when}').rules
    return made


RULES = st.builds(
    make_rule, st.sampled_from(["allow", "confirm", "deny", "hide"]), st.sampled_from(WHEN)
)


def make_policy(mode: Mode, rules: list[Rule]) -> Policy:
    return Policy(mode=mode, rules=tuple(rules))


def make_call(kind: str, value: object) -> Situation:
    return call(kind, arguments={"id": value})


POLICIES = st.builds(make_policy, st.sampled_from(list(Mode)), st.lists(RULES, max_size=5))
CALLS = st.builds(
    make_call,
    st.sampled_from(sorted(HINTS)),
    st.sampled_from([1, 9, "x", True, None]),
)
TIGHTER = st.builds(make_rule, st.sampled_from(["deny", "hide"]), st.sampled_from(WHEN))


@settings(deadline=None)
@given(POLICIES, CALLS, TIGHTER, st.integers(0, 5))
def test_adding_a_rule_that_denies_never_loosens(
    found: Policy, situation: Situation, added: Rule, at: int
) -> None:
    rules = (*found.rules[:at], added, *found.rules[at:])
    before, after = decide(found, situation), decide(replace(found, rules=rules), situation)
    assert STRICTNESS[after.judged] >= STRICTNESS[before.judged]


@settings(deadline=None)
@given(POLICIES, CALLS, st.randoms(use_true_random=False))
def test_the_order_of_rules_does_not_change_the_effect(
    found: Policy, situation: Situation, random: Random
) -> None:
    rules = list(found.rules)
    random.shuffle(rules)
    other = replace(found, rules=tuple(rules))
    assert decide(found, situation).judged is decide(other, situation).judged


@settings(deadline=None)
@given(POLICIES, CALLS)
def test_where_one_rule_that_denies_matches_the_call_is_denied(
    found: Policy, situation: Situation
) -> None:
    denies = [one for one in found.rules if one.effect in (Effect.DENY, Effect.HIDE)]
    if any(one.matches(situation) for one in denies):
        assert decide(found, situation).judged is Effect.DENY


@settings(deadline=None)
@given(POLICIES, CALLS)
def test_observe_allows_everything_and_reports_what_guarded_would_do(
    found: Policy, situation: Situation
) -> None:
    observed = decide(replace(found, mode=Mode.OBSERVE), situation)
    guarded = decide(replace(found, mode=Mode.GUARDED), situation)
    assert observed.effect is Effect.ALLOW
    assert observed.would_be is guarded.effect


@settings(deadline=None)
@given(POLICIES, CALLS)
def test_unattended_never_asks(found: Policy, situation: Situation) -> None:
    assert decide(replace(found, mode=Mode.UNATTENDED), situation).effect is not Effect.CONFIRM
