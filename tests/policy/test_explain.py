"""The explanation: every rule, whether it matched, and why not."""

from dataclasses import replace

from tests.policy.samples import AMY, call, policy, rule

from sayso.intent import Level
from sayso.policy import Effect, Principal, decide
from sayso.policy.explanation import Explanation, explain

TEXT = """
mode = "strict"
first_use = "confirm"
[[rules]]
name = "no-deletes"
effect = "deny"
when = { tool = "customer_delete*", level = "destructive", role = "lead" }
unless = { subject = "amy" }
[[rules]]
name = "ask"
effect = "confirm"
reason = "look at it"
require = "out_of_band"
reviewers = 2
expires = "5m"
when = { server = "crm" }
[[rules]]
name = "staff-may"
effect = "allow"
when = { arguments = { "id" = { range = { min = 1 } }, "long" = { equals = 1 } }, \
expression = "arguments.id > 1", after = { level = "read", tag = "x" }, tag = "pii", \
source = { destructive = "operator" }, destructive = false, category = "sales", \
scope = "crm.write", client = "ide" }
[[rules]]
name = "not-amy"
effect = "deny"
unless = { subject = "amy" }
"""


def explained(**more: object) -> Explanation:
    arguments = {"id": 0, "long": "x" * 99, **({"to": [1]} if more.get("list") else {})}
    return explain(policy(TEXT), call(arguments=arguments))


def test_it_names_the_rule_that_decides_with_its_line() -> None:
    found = explained()
    assert found.decision == decide(policy(TEXT), call())
    lines = found.lines()
    assert lines[0] == (
        "crm customer_delete: confirm, out_of_band, 2 must approve, expires after 300 s"
    )
    assert lines[1] == "  because look at it (ask, policy.toml:9)"
    assert "mode:strict alone decides confirm: it may destroy or overwrite something" in lines


def test_it_says_of_each_rule_why_it_does_not_match() -> None:
    reports = {one.name: one for one in explained().rules}
    assert reports["ask"].is_match
    assert reports["no-deletes"].why_not == ("role is staff, not lead",)
    read = {one.name: one for one in explain(policy(TEXT), call("read")).rules}
    assert read["no-deletes"].why_not[0] == "level is read, not destructive"
    assert reports["not-amy"].why_not == ("the rule's “unless” conditions match",)
    assert reports["staff-may"].why_not == (
        "tag is none, not pii",
        "destructive is true, not false",
        "category is none, not sales",
        "source.destructive is declared, not operator",
        "client is chat, not ide",
        "scope is crm.read, not crm.write",
        "arguments.id is 0, not at least 1",
        f"arguments.long is '{'x' * 58}…, not 1",
        (
            "after is no such call, not an earlier call (level read, tag x) of this "
            "conversation within 30m"
        ),
        "expression is false, not true: arguments.id > 1",
    )


def test_it_is_data_too() -> None:
    data = explained().to_dict()
    assert data["decision"]["rule"] == "ask"
    assert data["mode"]["rule"] == "mode:strict"
    assert data["rules"][1] == {"name": "ask", "line": 9, "effect": "confirm", "match": True}
    assert data["off"] is data["limit"] is None


def test_it_says_what_is_only_observed_and_what_is_hidden() -> None:
    observed = explain(policy(rule("deny", "", mode="observe")), call())
    assert observed.lines()[0].endswith("allow, observed only; if enforced: deny")
    hidden = explain(policy(rule("hide", 'level = "destructive"')), call())
    assert hidden.lines()[0].endswith("customer_delete: unknown")
    assert hidden.lines()[1].endswith("the tool is hidden from this caller: a rule hides it")
    assert hidden.lines()[2].startswith("if it were visible: deny, because ")
    assert hidden.rules[0].effect is Effect.HIDE


def test_it_says_which_scopes_and_roles_a_caller_would_need_to_see_the_tool() -> None:
    amy = Principal("amy", scopes=frozenset())
    wanting = {"scopes": frozenset({"crm.write", "crm.read"}), "roles": frozenset({"staff"})}
    for names, said in (
        (["scopes"], "all of the scopes crm.read, crm.write"),
        (["roles"], "one of the roles staff"),
        (["scopes", "roles"], "all of the scopes crm.read, crm.write and one of the roles staff"),
    ):
        asked = call(principal=amy)
        facts = replace(asked.facts, **{name: wanting[name] for name in names})
        found = explain(policy(""), replace(asked, facts=facts))
        assert found.lines()[1].endswith(f"hidden from this caller: it requires {said}")


def test_it_says_what_is_switched_off_and_which_limit_is_reached() -> None:
    text = '[off]\nservers = ["crm"]\n[limits]\ncalls_per_minute = 1'
    found = explain(policy(text), call(recent={Level.READ: (10_000.0,)}))
    assert "the server “crm” is switched off (off)" in found.lines()
    assert any("limit of 1 calls per minute" in line for line in found.lines())
    assert found.to_dict()["limit"]["rule"] == "limits"


def test_a_condition_that_cannot_be_told_counts_against_what_permits() -> None:
    text = rule("allow", 'arguments = { id = { glob = "x" }, list = { equals = 1 } }')
    situation = call(arguments={"id": 7, "list": [1]}, principal=AMY)
    assert explain(policy(text), situation).rules[0].why_not == (
        "arguments.id is 7, not x",
        "arguments.list is a table or an array, not 1",
    )
    missing = explain(policy(rule("deny", "arguments = { x = { exists = true } }")), call())
    assert missing.rules[0].why_not == ("arguments.x is not there, not there",)
    present = explain(policy(rule("deny", "arguments = { id = { exists = false } }")), situation)
    assert present.rules[0].why_not == ("arguments.id is 7, not absent",)
    most = rule("deny", "arguments = { id = { range = { max = 3 } } }")
    (report,) = explain(policy(most), situation).rules
    assert report.why_not == ("arguments.id is 7, not at most 3",)


def test_it_says_when_a_rule_matches_only_because_a_condition_cannot_be_told() -> None:
    text = rule("deny", 'expression = "arguments.id > 5"')
    found = explain(policy(text), call())
    assert "policy.toml:2 r (deny) matches, because expression is unknown" in found.lines()
    assert found.to_dict()["rules"][0]["unsure"] == ["expression"]
