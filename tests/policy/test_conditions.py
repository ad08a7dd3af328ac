"""Typed matchers: what a rule may ask of a call."""

import time
from dataclasses import replace
from typing import Any

import pytest
from tests.policy.samples import AMY, NOW, call, facts, operated, past, policy, rule, says

from sayso.policy import Past, Principal, Situation, ToolFacts
from sayso.policy.conditions import make_glob

MATCHES = [
    ('level = "destructive"', True),
    ('level = ["read", "write"]', False),
    ("destructive = true", True),
    ("read_only = true", False),
    ("idempotent = false, open_world = false", True),
    ('source = { destructive = "declared" }', True),
    ('source = { destructive = ["default", "inferred"] }', False),
    ('server = "crm"', True),
    ('server = ["c?m", "x"]', True),
    ('server = "CRM"', False),
    ('tool = "customer_*"', True),
    ('tool = ["list", "customer_[a-d]*"]', True),
    ('tool = "delete"', False),
    ('category = "sales"', True),
    ('category = ["support", "ops"]', False),
    ('tag = ["pii", "money"]', True),
    ('tag = "money"', False),
    ('subject = "a*"', True),
    ('subject = "bo"', False),
    ('client = "chat"', True),
    ('client = "ide"', False),
    ('role = ["lead", "staff"]', True),
    ('role = "lead"', False),
    ('scope = "crm.read"', True),
    ('scope = "mail.send"', True),
    ('scope = "crm.write"', False),
    ('level = "destructive", role = "lead"', False),
]
ROLES = '\n[roles]\nstaff = ["mail.send"]\nlead = ["crm.write"]'


@pytest.mark.parametrize(("when", "is_match"), MATCHES)
def test_a_rule_matches_where_all_it_asks_holds(when: str, *, is_match: bool) -> None:
    about = call(category="sales", tags=frozenset({"pii"}))
    assert (says(rule("deny", when) + ROLES, about) == "r") is is_match


def test_a_tool_without_a_category_fits_none() -> None:
    assert says(rule("deny", 'category = "sales"'), call()) == "mode:guarded"


def test_a_caller_fits_by_its_tenant_and_one_without_fits_none() -> None:
    of_acme = call(principal=replace(AMY, tenant="acme"))
    assert says(rule("deny", 'tenant = ["acme", "x"]'), of_acme) == "r"
    assert says(rule("deny", 'tenant = "a*"'), of_acme) == "r"
    assert says(rule("deny", 'tenant = "other"'), of_acme) == "mode:guarded"
    assert says(rule("deny", 'tenant = "*"'), call()) == "mode:guarded"
    assert says(rule("deny", "expression = \"tenant == 'acme'\""), of_acme) == "r"
    assert says(rule("deny", "expression = \"tenant == ''\""), call()) == "r"


def test_a_caller_that_needs_no_scopes_holds_every_one() -> None:
    assert says(rule("allow", 'scope = "x"'), call(principal=Principal("local"))) == "r"


def test_the_operators_word_is_a_source() -> None:
    tool = ToolFacts("crm", "x", operated(read_only=True))
    text = rule("deny", 'source = { read_only = "operator" }')
    assert says(text, Situation(AMY, tool)) == "r"


def test_a_look_alike_of_a_tools_name_is_another_name() -> None:
    cyrillic = "customer_d\u0435lete"
    assert says(rule("allow", 'tool = "customer_delete"'), call(tool=cyrillic)) == "mode:guarded"
    assert (
        says(rule("allow", 'tool = "customer_delet?"'), call(tool="customer_delete\u202e")) != "r"
    )


AFTER = rule("confirm", 'level = "write", after = { open_world = true, within = "10m" }')


@pytest.mark.parametrize(
    ("history", "asks"),
    [
        ([], False),
        ([past("post", ago=599)], True),
        ([past("post", ago=601)], False),
        ([past("post", same=False)], False),
        ([past("delete")], False),
        ([past("post"), past("read")], True),
        ([Past(NOW + 500, facts("post"))], True),
    ],
)
def test_what_was_done_before_in_the_conversation_counts(
    history: list[Past], *, asks: bool
) -> None:
    assert (says(AFTER, call("write", history=tuple(history))) == "r") is asks


def test_whether_it_was_the_same_conversation_tightens_where_nobody_can_tell() -> None:
    unknown = Past(NOW - 9, facts("post"), None)
    allows = rule("allow", 'level = "write", after = { open_world = true }', mode="strict")
    for history in ((unknown, past("read")), (past("post", same=False), unknown)):
        assert says(AFTER, call("write", history=history)) == "r"
        assert says(allows, call("write", history=history)) == "mode:strict"
    sure = (past("post"), unknown)
    assert says(allows, call("write", history=sure)) == "r"


@pytest.mark.parametrize(
    ("after", "is_match"),
    [
        ('of = "principal"', True),
        ('of = "principal", level = "read", tool = "web_*", server = "web"', True),
        ('of = "principal", level = "write"', False),
        ('of = "principal", category = "net", tag = "x"', True),
        ('of = "principal", source = { open_world = "default" }', False),
        ('of = "conversation"', False),
    ],
)
def test_what_the_principal_did_elsewhere_counts_where_asked(after: str, *, is_match: bool) -> None:
    more: dict[str, Any] = {"category": "net", "tags": frozenset({"x"})}
    history = (past("read", tool="web_get", server="web", same=False, **more),)
    text = rule("deny", f"after = {{ {after} }}")
    assert (says(text, call(history=history)) == "r") is is_match


def test_a_policy_knows_how_far_back_it_looks() -> None:
    assert policy("").window == 0
    assert policy(AFTER).window == 600
    text = rule("deny", "", unless='after = { level = "read" }')
    assert policy(text).window == 1800


def test_a_glob_takes_no_longer_than_the_text_is_long() -> None:
    fits = make_glob(["*a*a*a*a*a*a*a*b", "*x*y*[!z]*x?y", "[z-a]*"])
    start = time.perf_counter()
    assert not fits("a" * 200_000)
    assert not fits("xy" * 1_000 + "z")
    assert time.perf_counter() - start < 5
    assert fits("aaaaaaa\nb")
