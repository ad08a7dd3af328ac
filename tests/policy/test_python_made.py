"""Policies that a program makes: strings are converted, the rest is refused, doubt denies."""

import math
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policy.samples import AMY, NOW, call, facts, past

from sayso.approvals import Answer
from sayso.errors import UsageError
from sayso.intent import Evidence, Guess, Hints, Intent, Level, Trust, resolve
from sayso.policy import (
    Decision,
    Effect,
    Limits,
    Mode,
    Policy,
    Principal,
    Require,
    Reviewers,
    Rule,
    decide,
    decide_by_mode,
    foresee,
    is_visible,
    load_policy,
)
from sayso.policy.conditions import Condition
from sayso.policy.document import DryRun, FirstUse, Operator, ResultLimit
from sayso.policy.explanation import explain


def rule(**changes: Any) -> Rule:
    fields: dict[str, Any] = {"name": "r", "effect": "confirm", "reason": "why", "line": 1}
    return Rule(**(fields | changes))


@pytest.mark.parametrize(
    ("mode", "effect"),
    [("strict", "confirm"), ("plan", "deny"), ("guarded", "confirm"), ("unattended", "deny")],
)
def test_a_mode_given_as_a_text_holds(mode: str, effect: str) -> None:
    policy = Policy(mode=cast("Any", mode))
    assert policy.mode is Mode(mode)
    assert decide(policy, call("delete")).effect == effect


@pytest.mark.parametrize("effect", ["confirm", "deny", "hide"])
def test_an_effect_given_as_a_text_holds(effect: str) -> None:
    decision = decide(Policy(rules=(rule(effect=effect),)), call("write"))
    assert decision.effect == ("deny" if effect == "hide" else effect)


def test_all_other_texts_are_converted_too() -> None:
    made = Policy(
        trust=cast("Any", {"*": "untrusted"}),
        tools=cast("Any", "search"),
        off_servers=cast("Any", ["crm"]),
        channels=cast("Any", ["console"]),
        pin=cast("Any", ["crm__*"]),
        forward_meta=cast("Any", ["acme.com/a"]),
        rules=cast("Any", [rule(require="out_of_band", grant="once", reviewers=2)]),
        limits=Limits(by_level=cast("Any", {"destructive": 3})),
    )
    assert made.trust_of("crm") is Trust.UNTRUSTED
    assert made.off_servers == {"crm"}
    assert made.is_pinned("crm__customer_get")
    assert made.forward_meta == {"acme.com/a"}
    assert made.rules[0].require is Require.OUT_OF_BAND
    assert made.rules[0].reviewers == Reviewers(2)
    assert list(made.limits.by_level) == [Level.DESTRUCTIVE]


YES: Any = True
REFUSED: list[tuple[Any, str, str]] = [
    (lambda: Policy(mode=cast("Any", "nonsense")), "mode", "observe, plan, guarded"),
    (lambda: Policy(mode=cast("Any", None)), "mode", "observe, plan, guarded"),
    (lambda: Policy(mode=cast("Any", ["strict"])), "mode", "observe, plan, guarded"),
    (lambda: Policy(tools=cast("Any", "some")), "tools", "all, search"),
    (lambda: Policy(trust=cast("Any", {"a": "none"})), "trust", "untrusted, cautious"),
    (lambda: Policy(trust=cast("Any", "untrusted")), "trust", "mapping"),
    (lambda: Policy(threshold=math.nan), "threshold", "0.5 to 1"),
    (lambda: Policy(threshold=10**400), "threshold", "0.5 to 1"),
    (lambda: Policy(threshold=0.0), "threshold", "0.5 to 1"),
    (lambda: Policy(off_servers=cast("Any", "crm")), "off_servers", "set of texts"),
    (lambda: Policy(off_subjects=cast("Any", [1])), "off_subjects", "set of texts"),
    (lambda: Policy(channels=cast("Any", "console")), "channels", "console, link"),
    (lambda: Policy(channels=cast("Any", ["pigeon"])), "channels", "console, link"),
    (lambda: Policy(limits=cast("Any", {"calls": 1})), "limits", "Limits"),
    (lambda: Policy(rules=cast("Any", [{"effect": "deny"}])), "rules", "Rule"),
    (lambda: Policy(operator=cast("Any", [{}])), "operator", "Operator"),
    (lambda: Policy(first_use=cast("Any", "confirm")), "first_use", "FirstUse"),
    (lambda: Policy(receipt_keys=cast("Any", ["k"])), "receipt_keys", "ReceiptKey"),
    (lambda: Policy(roles=cast("Any", {"admin": "all"})), "roles", "sets of texts"),
    (lambda: Policy(asks=cast("Any", 0)), "asks", "True or False"),
    (lambda: Policy(window=-1), "window", "at least 0"),
    (lambda: Policy(pin=cast("Any", "crm__*")), "pin", "tuple of texts"),
    (
        lambda: Policy(forward_meta=cast("Any", ["a", "traceparent"])),
        "forward_meta",
        "cannot contain 'traceparent'",
    ),
    (lambda: Policy(forward_meta=cast("Any", "a")), "forward_meta", "set of texts"),
    (lambda: rule(effect="ask"), "effect", "allow, confirm, deny, hide"),
    (lambda: rule(effect=True), "effect", "allow, confirm, deny, hide"),
    (lambda: rule(require="strong"), "require", "out_of_band, any"),
    (lambda: rule(grant="forever"), "grant", "once, session, always"),
    (lambda: rule(when={"level": "destructive"}), "when", "conditions"),
    (lambda: rule(unless=["x"]), "unless", "conditions"),
    (lambda: rule(expires="30m"), "expires", "number"),
    (lambda: rule(reviewers="amy"), "reviewers", "Reviewers"),
    (lambda: rule(reviewers=0), "count", "at least 1"),
    (lambda: rule(limits=3), "limits", "Limits"),
    (lambda: Reviewers(subjects=cast("Any", "amy")), "subjects", "set of texts"),
    (lambda: Limits(calls=cast("Any", "5")), "calls", "whole number"),
    (lambda: Limits(calls=cast("Any", math.inf)), "calls", "whole number"),
    (lambda: Limits(calls=YES), "calls", "whole number"),
    (lambda: Limits(by_level=cast("Any", {"destroy": 1})), "by_level", "read, write"),
    (lambda: Limits(targets=0), "targets", "at least 1"),
    (lambda: FirstUse("*", "*", asks=cast("Any", "no")), "asks", "True or False"),
    (lambda: DryRun("*", "*", cast("Any", 7)), "parameter", "text"),
    (lambda: ResultLimit("*", "*", 0), "characters", "200 to 10000000"),
    (lambda: ResultLimit("*", "*", cast("Any", "9000")), "characters", "whole number"),
    (
        lambda: Policy(max_result_characters=cast("Any", 9_000)),
        "max_result_characters",
        "ResultLimit",
    ),
    (lambda: Operator("*", "*", cast("Any", {"read_only": True})), "hints", "Hints"),
    (lambda: Hints(read_only=cast("Any", "false")), "read_only", "True, False or None"),
    (lambda: Hints(destructive=cast("Any", 0)), "destructive", "True, False or None"),
    (lambda: Intent(scopes=cast("Any", "admin")), "scopes", "set of texts"),
    (lambda: Intent(grant=cast("Any", "forever")), "grant", "once, session, always"),
    (lambda: Guess(value=True, confidence=math.nan), "confidence", "0 to 1"),
    (lambda: Principal("amy", scopes=cast("Any", "admin")), "scopes", "set of texts"),
    (lambda: Principal("amy", tenant=cast("Any", 7)), "tenant", "text"),
    (lambda: Principal("amy", is_local=cast("Any", "no")), "is_local", "True or False"),
    (lambda: Condition("k", "w", YES, str), "test", "function"),
    (
        lambda: Answer(is_allowed=cast("Any", "no"), by="amy", channel="console"),
        "is_allowed",
        "True or False",
    ),
]


@pytest.mark.parametrize(
    ("make", "field", "allowed"),
    REFUSED,
    ids=[f"{field} {number}" for number, (_, field, _) in enumerate(REFUSED)],
)
def test_what_is_meant_otherwise_is_refused_with_its_field(
    make: Any, field: str, allowed: str
) -> None:
    with pytest.raises(UsageError) as caught:
        make()
    assert field in str(caught.value)
    assert allowed in str(caught.value)


def test_a_long_value_is_cut_in_the_error() -> None:
    with pytest.raises(UsageError) as caught:
        Policy(mode=cast("Any", "x" * 10_000))
    assert len(str(caught.value)) < 300


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(),
    st.sampled_from(["allow", "confirm", "deny", "hide", "observe", "strict", "ALLOW", "Allow"]),
    st.lists(st.text(), max_size=2),
    st.builds(object),
)


@given(mode=junk, kind=st.sampled_from(["read", "write", "delete", "send"]))
def test_an_engine_that_meets_a_mode_it_does_not_know_denies(mode: Any, kind: str) -> None:
    policy = Policy(rules=(rule(effect="allow"),))
    object.__setattr__(policy, "mode", mode)
    decision = decide(policy, call(kind))
    assert decision.effect is Effect.DENY
    assert decide_by_mode(mode, call(kind).facts.intent).effect is Effect.DENY
    assert explain(policy, call(kind)).decision == decision
    object.__setattr__(policy, "rules", ())
    assert {one.effect for one in foresee(policy, AMY, facts(kind))} == {Effect.DENY}


@given(effect=junk, kind=st.sampled_from(["read", "write", "delete", "send"]))
def test_an_engine_that_meets_an_effect_it_does_not_know_denies(effect: Any, kind: str) -> None:
    one = rule(effect="deny")
    object.__setattr__(one, "effect", effect)
    policy = Policy(rules=(one, rule(name="other", effect="allow")))
    assert decide(policy, call(kind)).effect is Effect.DENY
    assert not is_visible(policy, AMY, facts(kind))


@given(answer=junk)
def test_a_condition_with_a_strange_answer_never_loosens(answer: Any) -> None:
    condition = Condition("k", "w", lambda _: answer, lambda _: "a")
    tightens = rule(effect="deny", when=(condition,))
    loosens = rule(effect="allow", when=(condition,))
    excuses = rule(effect="deny", unless=(condition,))
    if answer is not False:
        assert decide(Policy(rules=(tightens,)), call("write")).effect is Effect.DENY
    if answer is not True:
        assert decide(Policy(rules=(loosens,)), call("delete")).effect is Effect.CONFIRM
        assert decide(Policy(rules=(excuses,)), call("write")).effect is Effect.DENY


@given(level=st.one_of(st.none(), st.text(), st.sampled_from(["read", "write"])))
def test_a_level_that_is_not_one_counts_as_destructive(level: Any) -> None:
    about = facts("write")
    object.__setattr__(about.intent, "level", level)
    situation = replace(call("write"), facts=about)
    for mode in (Mode.PLAN, Mode.GUARDED, Mode.STRICT, Mode.UNATTENDED):
        assert decide(Policy(mode=mode), situation).effect is not Effect.ALLOW
    only = 'when = { level = "destructive" }'
    text = f'[[rules]]\nname = "r"\neffect = "deny"\n{only}'
    assert decide(load_policy(text), situation).effect is Effect.DENY


@given(trust=junk)
def test_a_trust_level_that_is_not_one_trusts_nobody(trust: Any) -> None:
    evidence = Evidence(
        declared=Hints(read_only=True), inferred={"destructive": Guess(value=False, confidence=1.0)}
    )
    resolved = resolve(evidence, trust)
    assert resolved == resolve(evidence, Trust.UNTRUSTED)


@given(asks=junk.filter(lambda one: one is not False))
def test_only_false_lets_somebody_else_ask(asks: Any) -> None:
    policy = Policy()
    object.__setattr__(policy, "asks", asks)
    assert decide(policy, call("delete")).effect is Effect.CONFIRM


def test_a_rule_about_earlier_calls_brings_its_window_along() -> None:
    text = """
    [[rules]]
    name = "r"
    effect = "deny"
    when = { after = { level = "read", within = "2h" } }
    """
    made = Policy(rules=load_policy(text).rules)
    assert made.window == 7200
    assert Policy(rules=(rule(limits=Limits(calls=1)),)).window == 60
    assert decide(made, replace(call("write"), history=(past("read"),), now=NOW)) == Decision(
        Effect.DENY, "r", "the rule “r” matches", 2
    )
