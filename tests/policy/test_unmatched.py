"""Rules and entries of a policy that are about no tool."""

import pytest
from tests.policy.samples import facts

from sayso.policy import load_policy
from sayso.policy.unmatched_rules import unmatched

DELETE = facts("delete", "customer_delete", category="crm", tags=frozenset({"pii"}))
RULE = '[[rules]]\nname = "r"\neffect = "deny"\n'


@pytest.mark.parametrize(
    "text",
    [
        RULE + 'when = { tool = "delte_*" }',
        RULE + 'when = { server = "crn" }',
        RULE + 'when = { server = "crm", tool = "refund" }',
        RULE + 'when = { tool = "customer_delete", level = "read" }',
        RULE + 'when = { category = "mail" }',
        RULE + 'when = { tag = "secret" }',
        RULE + 'when = { after = { tool = "customer_dump" } }',
        RULE + 'when = { tool = "customer_delete", after = { server = "mail" } }',
        "[operator.crm]\ncustomer_remove = { destructive = true }",
        '[operator.mail]\n"*" = { destructive = true }',
        '[first_use.crm]\n"refund_*" = "confirm"',
        '[max_result_characters.crm]\n"refund_*" = 9000',
        '[dry_run.crm]\n"refund_*" = "dryRun"',
        '[trust]\ncrn = "trusted"',
        '[off]\nservers = ["crn"]',
    ],
)
def test_what_names_no_tool_is_told(text: str) -> None:
    assert len(unmatched(load_policy(text), [DELETE])) == 1


@pytest.mark.parametrize(
    "text",
    [
        RULE,
        RULE + 'when = { tool = "customer_*" }',
        RULE + 'when = { level = "read" }',
        RULE + 'when = { subject = "bo" }',
        RULE + 'when = { tag = "pii", arguments.id = { equals = 1 } }',
        RULE + 'when = { after = { level = "read" } }',
        RULE + 'unless = { tool = "nothing" }',
        '[operator."*"]\n"customer_*" = { destructive = true }',
        '[trust]\n"*" = "trusted"\ncrm = "trusted"',
    ],
)
def test_what_may_count_is_not_told(text: str) -> None:
    assert unmatched(load_policy(text), [DELETE]) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (RULE + 'when = { tool = "send" }', 0),
        (RULE + 'when = { server = "mail", tool = "send" }', 0),
        (RULE + 'when = { server = "crm", tool = "send" }', 1),
        ("[operator.mail]\nsend = { destructive = true }", 0),
        ('[operator."*"]\nsend = { destructive = true }', 0),
        ("[operator.crm]\nsend = { destructive = true }", 1),
        ('[off]\nservers = ["mail"]', 0),
    ],
)
def test_a_server_that_has_not_answered_may_have_any_tool(text: str, count: int) -> None:
    assert len(unmatched(load_policy(text), [DELETE], unknown=["mail"])) == count


def test_a_server_without_tools_is_a_server() -> None:
    policy = load_policy('[off]\nservers = ["empty"]')
    assert unmatched(policy, [DELETE], servers=["crm", "empty"]) == []
