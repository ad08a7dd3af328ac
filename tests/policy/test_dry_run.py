"""Which parameter makes a call a dry run, as the operator says it."""

from dataclasses import replace
from typing import Any

import pytest
from tests.sample_tools import tool

from sayso.catalog import Tool
from sayso.policy import load_policy, seen_under
from sayso.policy.unmatched_rules import without_dry_run

NAMED = """
[dry_run]
"*" = "simulate"
demo = "dry_run"

[dry_run.other]
"note_*" = "dryRun"
note_wipe = "preview"
"""


def having(name: str, *switches: str, server: str = "demo") -> Tool:
    properties = {one: {"type": "boolean"} for one in switches}
    made = tool(name, inputSchema={"type": "object", "properties": properties})
    return replace(made, server=server)


@pytest.mark.parametrize(
    ("one", "parameter"),
    [
        (having("a", "dry_run", "simulate"), "dry_run"),
        (having("a", "simulate"), "simulate"),
        (having("a"), None),
        (having("note_add", "dryRun", server="other"), "dryRun"),
        (having("note_wipe", "dryRun", server="other"), "preview"),
        (having("x", "dryRun", server="other"), None),
    ],
)
def test_the_nearest_entry_counts_and_a_wide_one_where_there_is_the_parameter(
    one: Tool, parameter: str | None
) -> None:
    assert seen_under(load_policy(NAMED), one).intent.dry_run == parameter


def test_an_authors_plan_and_parameter_stay_where_the_policy_says_nothing() -> None:
    def plan(_: Any) -> list[str]:
        return []

    one = having("a", "dry_run", "mine")
    planned = replace(one, intent=replace(one.intent, plan=plan))
    assert seen_under(load_policy(NAMED), planned).intent.dry_run is None
    own = replace(having("b", "mine"), intent=replace(one.intent, dry_run="mine"))
    assert seen_under(load_policy(NAMED), own).intent.dry_run == "mine"
    assert seen_under(load_policy(""), own).intent.dry_run == "mine"


def test_a_parameter_that_is_not_there_is_told() -> None:
    policy = load_policy(NAMED, "p")
    tools = [having("a", "dry_run"), having("note_wipe", "dryRun", server="other")]
    assert without_dry_run(policy, tools) == [
        (
            "“dry_run.other” (p) names the parameter “preview”, but “note_wipe” has no boolean "
            "parameter of this name"
        ),
        (
            "“dry_run.*” (p) names the parameter “simulate”, but “*” has no boolean parameter of "
            "this name"
        ),
    ]
    assert without_dry_run(policy, []) == []
