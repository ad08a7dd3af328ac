"""The engine: which rule wins, what the mode, limits, first use and switches do."""

from dataclasses import replace

import pytest
from tests.policy.samples import AMY, NOW, call, facts, judge, past, policy, rule, says

from sayso.intent import Evidence, Level
from sayso.policy import (
    Decision,
    Effect,
    Mode,
    Policy,
    Principal,
    Require,
    Reviewers,
    ToolFacts,
    decide,
    is_visible,
)

THREE = """
[[rules]]
name = "a"
effect = "allow"
[[rules]]
name = "c"
effect = "confirm"
reason = "look at it first"
[[rules]]
name = "d"
effect = "deny"
reason = "it is closed"
when = { tool = "customer_*" }
"""


def test_deny_wins_over_confirm_and_confirm_over_allow() -> None:
    assert judge(THREE, call()) == Decision(Effect.DENY, "d", "it is closed", 9)
    asked = judge(THREE, call(tool="invoice_send"))
    bound = Require.OUT_OF_BAND  # it destroys, and its caller is known
    assert asked == Decision(Effect.CONFIRM, "c", "look at it first", 5, require=bound)


def test_among_rules_of_one_effect_the_first_in_the_file_is_named() -> None:
    two = '[[rules]]\nname = "one"\neffect = "allow"\n[[rules]]\nname = "two"\neffect = "allow"'
    decision = judge(two, call())
    assert (decision.rule, decision.reason) == ("one", "the rule “one” matches")


def test_where_no_rule_matches_the_mode_decides() -> None:
    assert says(rule("deny", 'tool = "x"'), call()) == "mode:guarded"


def test_a_rule_does_not_count_where_all_of_unless_holds() -> None:
    text = rule("deny", "", unless='subject = "amy", level = "read"')
    assert says(text, call("read")) == "mode:guarded"
    assert says(text, call("delete")) == "r"


def test_observe_allows_and_says_what_would_have_become_of_the_call() -> None:
    decision = judge(rule("deny", "", mode="observe"), call())
    assert (decision.effect, decision.would_be, decision.rule) == (Effect.ALLOW, Effect.DENY, "r")
    assert decision.judged is Effect.DENY
    assert judge("", call("read")).judged is Effect.ALLOW


def test_unattended_turns_every_question_into_a_denial() -> None:
    decision = judge(rule("confirm", "", mode="unattended"), call("read"))
    assert (decision.effect, decision.rule) == (Effect.DENY, "r")
    assert decision.reason.endswith("and no one is there to answer")
    assert judge('mode = "unattended"', call("post")).effect is Effect.DENY


def test_what_is_switched_off_is_denied_before_everything_even_in_observe() -> None:
    servers = 'mode = "observe"\n[off]\nservers = ["crm"]'
    assert judge(servers, call("read")).to_dict() == {
        "effect": "deny",
        "rule": "off",
        "reason": "the server “crm” is switched off",
    }
    subjects = '[off]\nsubjects = ["amy"]\n[[rules]]\nname = "r"\neffect = "allow"'
    assert judge(subjects, call()).reason == "the caller “amy” is switched off"
    assert judge(subjects, call(principal=Principal("bo"))).effect is Effect.ALLOW


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ('first_use = "confirm"', True),
        ('first_use = "allow"', False),
        ('first_use = { crm = "confirm" }', True),
        ('first_use = { "*" = "confirm", crm = "allow" }', False),
        ('first_use = { other = "confirm" }', False),
        ('first_use = { crm = { "customer_*" = "confirm", customer_list = "allow" } }', False),
        ('first_use = { crm = { "customer_*" = "confirm" } }', True),
        ('first_use = { crm = { "invoice_*" = "confirm" } }', False),
    ],
)
def test_the_first_use_asks_by_the_entry_that_is_nearest(text: str, *, asks: bool) -> None:
    first = call("read", "customer_list", is_first_use=True)
    assert (judge(text, first).rule == "first_use") is asks
    assert judge(text, replace(first, is_first_use=False)).rule == "mode:guarded"


def test_the_first_use_asks_even_where_a_rule_allows_but_not_where_one_denies() -> None:
    text = 'first_use = "confirm"\n' + rule("allow", "")
    assert judge(text, call(is_first_use=True)).effect is Effect.CONFIRM
    text = 'first_use = "confirm"\n' + rule("deny", "")
    assert says(text, call(is_first_use=True)) == "r"


def test_a_call_beyond_the_limit_is_denied_with_when_to_try_again() -> None:
    text = "[limits]\ncalls_per_minute = 3"
    recent = {Level.READ: (NOW - 61, NOW - 50, NOW - 20), Level.WRITE: (NOW - 30,)}
    decision = judge(text, call("read", recent=recent))
    assert decision.reason == (
        "the limit of 3 calls per minute is reached; try again in 10 seconds"
    )
    assert (decision.rule, decision.retry_after) == ("limits", 10.0)
    recent = {Level.READ: (NOW - 61, NOW - 50, NOW - 20)}
    assert says(text, call("read", recent=recent)) == "mode:guarded"


def test_a_limit_may_be_of_one_level() -> None:
    text = "[limits]\ncalls_per_minute = { write = 1 }"
    recent = {Level.WRITE: (NOW - 0.5,), Level.READ: (NOW,) * 9}
    assert says(text, call("read", recent=recent)) == "mode:guarded"
    assert "1 write calls per minute" in judge(text, call("write", recent=recent)).reason
    assert "in 60 seconds" in judge(text, call("write", recent=recent)).reason
    assert says(text, call("write")) == "mode:guarded"


def test_a_clock_set_back_locks_nobody_out_for_longer_than_a_minute() -> None:
    recent = {Level.READ: (NOW + 5000,)}
    decision = judge("[limits]\ncalls_per_minute = 1", call("read", recent=recent))
    assert decision.retry_after == 60.0


def test_a_plan_with_too_many_targets_is_denied() -> None:
    text = rule("allow", "") + "\n[limits]\ntargets = 100"
    assert judge(text, call(targets=212)).reason == (
        "it would change 212 things, and at most 100 may change at once; "
        "try again with fewer at a time"
    )
    assert says(text, call(targets=100)) == says(text, call()) == "r"


def test_a_rule_has_limits_of_its_own_for_each_tool() -> None:
    text = rule("allow", "", more="limits = { calls_per_minute = 2, targets = 5 }")
    history = (past("send", ago=50, tool="mail"), past("send", ago=9, tool="mail"))
    over = judge(text, call("send", "mail", history=history))
    assert (over.effect, over.rule, over.line, over.retry_after) == (Effect.DENY, "r", 2, 10.0)
    others = (past("send", tool="other"), past("send", tool="mail", server="b"), *history[:1])
    assert judge(text, call("send", "mail", history=others)).effect is Effect.ALLOW
    assert judge(text, call("send", "mail", targets=6)).effect is Effect.DENY
    assert judge(text, call("send", "mail", of_tool=(NOW - 50, NOW - 9))) == over
    assert policy(text).window == 60.0


def test_what_later_calls_look_back_on_is_read_as_it_was_written() -> None:
    about = facts("send", category="mail", tags=frozenset({"b", "a"}))

    assert ToolFacts.from_dict(about.to_dict()) == about


def test_the_first_limit_that_is_reached_is_named_and_denials_come_before_limits() -> None:
    limited = 'name = "{}"\neffect = "confirm"\nlimits = {{ targets = {} }}'
    text = "".join(f"[[rules]]\n{limited.format(*one)}\n" for one in [("a", 3), ("b", 2)])
    assert judge(text, call(targets=9)).reason.startswith("it would change 9 things, and at most 3")
    closed = text + '[[rules]]\nname = "c"\neffect = "deny"'
    assert says(closed, call(targets=9)) == "c"
    only = "[[rules]]\n" + limited.format("a", 3).replace("targets", "calls_per_minute")
    assert says(only, call(targets=9)) == "a"


def test_of_several_rules_that_ask_the_strictest_bounds_hold() -> None:
    text = """
    [[rules]]
    name = "a"
    effect = "confirm"
    reviewers = 2
    expires = "1h"
    [[rules]]
    name = "b"
    effect = "confirm"
    require = "out_of_band"
    reviewers = { subjects = ["bo"], roles = ["lead"] }
    expires = "5m"
    """
    decision = judge(text, call())
    assert decision == Decision(
        Effect.CONFIRM,
        "a",
        "the rule “a” matches",
        2,
        require=Require.OUT_OF_BAND,
        reviewers=Reviewers(2, frozenset({"bo"}), frozenset({"lead"})),
        expires=300.0,
    )
    assert decision.to_dict()["reviewers"] == {"count": 2, "subjects": ["bo"], "roles": ["lead"]}
    assert decision.to_dict()["require"] == "out_of_band"
    plain = judge(rule("confirm", "", more="reviewers = 3"), call())
    assert plain.reviewers == Reviewers(3)


def test_a_hidden_tool_is_not_visible_and_a_call_of_it_is_denied() -> None:
    text = rule("hide", 'tool = "customer_*"', unless='subject = "root"')
    hidden = policy(text)
    assert not is_visible(hidden, AMY, facts())
    assert is_visible(hidden, Principal("root"), facts())
    assert is_visible(hidden, AMY, facts(tool="invoice_list"))
    assert decide(hidden, call()).effect is Effect.DENY
    assert is_visible(replace(hidden, mode=Mode.OBSERVE), AMY, facts())


def test_a_tool_is_visible_to_whoever_holds_its_scopes_and_one_of_its_roles() -> None:
    asks = facts(scopes=frozenset({"crm.write"}), roles=frozenset({"lead", "staff"}))
    assert not is_visible(Policy(), AMY, asks)
    assert is_visible(Policy(), Principal("local"), asks)
    assert is_visible(policy('[roles]\nstaff = ["crm.write"]'), AMY, asks)
    assert not is_visible(Policy(), AMY, facts(roles=frozenset({"lead"})))
    assert is_visible(Policy(), AMY, facts(scopes=frozenset({"crm.read"})))
    assert Policy().scopes_of(Principal("local")) is None


def test_the_operators_nearest_word_counts_for_each_hint() -> None:
    found = policy("""
    [operator."*"."*"]
    read_only = true
    open_world = false
    [operator.crm."customer_*"]
    destructive = true
    read_only = false
    [operator.crm.customer_list]
    read_only = true
    """)
    hints = found.operator_hints("crm", "customer_list")
    assert (hints.read_only, hints.destructive, hints.open_world) == (True, True, False)
    assert hints.idempotent is None
    assert found.operator_hints("crm", "customer_drop").read_only is False
    assert found.operator_hints("other", "x").read_only is True
    assert found.resolve("other", "x", Evidence()).level is Level.READ


def test_trust_is_by_server_and_otherwise_that_of_the_rest() -> None:
    found = policy('[trust]\n"*" = "untrusted"\ncrm = "trusted"')
    assert (found.trust_of("crm"), found.trust_of("x")) == ("trusted", "untrusted")
    assert Policy().trust_of("x") == "cautious"


def test_the_threshold_is_the_operators() -> None:
    assert policy("threshold = 0.9").threshold == 0.9


@pytest.mark.parametrize("mode", list(Mode))
def test_a_tool_in_quarantine_is_denied_whatever_the_policy_says(mode: Mode) -> None:
    held = call("read")
    held = replace(held, facts=replace(held.facts, quarantine="it wrote a file"))
    decision = judge(rule("allow", "", mode=mode), held)
    assert decision == Decision(Effect.DENY, "quarantine", "it wrote a file")


def test_the_nearest_entry_says_how_long_a_result_may_be() -> None:
    found = policy("""
    [max_result_characters]
    "*" = 9000
    mail = { "get_*" = 700, get_all = 500 }
    """)
    assert found.result_characters("mail", "get_all") == 500
    assert found.result_characters("mail", "get_one") == 700
    assert found.result_characters("mail", "send") == 9000
    assert found.result_characters("crm", "get_all") == 9000
    only = policy("[max_result_characters.mail]\nget_all = 500")
    assert only.result_characters("mail", "send") is None
    assert only.result_characters("crm", "get_all") is None
    assert Policy().result_characters("mail", "send") is None
