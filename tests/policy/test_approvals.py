"""What a policy says of answers: over which channels, by whom, how strong, for how long."""

from dataclasses import replace

import pytest
from tests.policy.samples import call, judge, policy, rule

from sayso.errors import PolicyError
from sayso.intent import Span
from sayso.policy import Principal, Require

LONE = Principal("local")


def test_left_out_all_channels_are_offered_but_the_callers_own_client() -> None:
    assert policy("").channels == {"console", "link", "program", "terminal"}
    assert policy("[approvals.people]\nbo = []").channels == {
        "console",
        "link",
        "program",
        "terminal",
    }
    assert policy('[approvals]\nchannels = ["elicitation"]').channels == {"elicitation"}


def test_people_are_named_with_their_roles() -> None:
    found = policy('[approvals.people]\nal = ["lead", "finance"]\nbo = []')
    assert found.people == {"al": frozenset({"lead", "finance"}), "bo": frozenset()}
    assert policy("").people == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[approvals]", "this table is empty"),
        ("[approvals]\nchannels = []", "this array must not be empty"),
        ('[approvals]\nchannels = ["consol"]', "Did you mean “console”?"),
        ('[approvals]\nchannels = "console"', "this must be an array, not a text"),
        ('[approvals.people]\nbo = "lead"', "this must be an array, not a text"),
        ('[approvals.people]\nbo = [""]', "not empty"),
        (rule("confirm", "", more='grant = "forever"'), "“forever” is not one of once, session"),
        (rule("confirm", "", more='require = "none"'), "“none” is not one of out_of_band, any"),
        (rule("allow", "", more='grant = "once"'), "this rule asks no question"),
        (rule("deny", "", more='require = "any"'), "this rule asks no question"),
    ],
)
def test_what_cannot_be_meant_is_told(text: str, told: str) -> None:
    with pytest.raises(PolicyError, match=told):
        policy(text)


@pytest.mark.parametrize("span", list(Span))
def test_a_rule_says_how_long_an_answer_may_hold(span: Span) -> None:
    decision = judge(rule("confirm", "", more=f'grant = "{span}"'), call())
    assert decision.grant is span
    assert decision.to_dict()["grant"] == str(span)


def test_of_several_rules_the_shortest_grant_counts() -> None:
    rules = [
        f'[[rules]]\nname = "{at}"\neffect = "confirm"\n{one}'
        for at, one in enumerate(["", 'grant = "always"', 'grant = "session"'])
    ]
    assert judge("\n".join(rules), call()).grant is Span.SESSION
    assert judge(rules[0], call()).grant is None


@pytest.mark.parametrize(
    ("text", "principal", "kind", "require"),
    [
        ("", None, "delete", Require.OUT_OF_BAND),
        ("", LONE, "delete", None),
        ('mode = "strict"', None, "write", None),
        (rule("confirm", "", more='require = "any"'), None, "delete", Require.ANY),
        (rule("confirm", "", more='require = "out_of_band"'), LONE, "read", Require.OUT_OF_BAND),
    ],
)
def test_what_is_destroyed_by_known_callers_is_approved_out_of_band_unless_a_rule_says_any(
    text: str, principal: Principal | None, kind: str, require: Require | None
) -> None:
    situation = call(kind)
    if principal:
        situation = replace(situation, principal=principal)
    assert judge(text, situation).require is require


def test_of_several_rules_the_stronger_channel_counts() -> None:
    both = "\n".join(
        f'[[rules]]\nname = "{one}"\neffect = "confirm"\nrequire = "{one}"'
        for one in ("any", "out_of_band")
    )
    assert judge(both, call()).require is Require.OUT_OF_BAND


def test_a_place_to_mask_that_cannot_be_followed_is_a_mistake_with_its_line() -> None:
    assert len(policy('[audit]\nhidden = ["$.customer.iban"]').hidden) == 1
    with pytest.raises(PolicyError, match=r"policy.toml:2: "):
        policy('[audit]\nhidden = ["$.a[?(@.b)]"]')


def test_how_many_questions_of_one_caller_may_wait_is_said_by_the_policy() -> None:
    assert policy("").open_per_caller == 50
    assert policy("[approvals]\nopen_per_caller = 3").open_per_caller == 3
    for wrong in ("0", "-1", "2.5", "true"):
        with pytest.raises(PolicyError, match="this must be"):
            policy(f"[approvals]\nopen_per_caller = {wrong}")
