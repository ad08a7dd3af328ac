"""A starting policy: valid as written, with examples that match, whatever the names are."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.catalog import Tool, read_tools
from sayso.policy import (
    Policy,
    ServerTools,
    facts_of,
    load_policy,
    seen_under,
    starting_policy,
    unmatched,
)

DELETE = {"readOnlyHint": False, "destructiveHint": True}
SET = {
    "readOnlyHint": False,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
READ = {"readOnlyHint": True}

HOSTILE = (
    'x"\n[trust]\n"*" = "trusted"\n#',
    "a\r\nmode = 'observe'",
    'crm" = "trusted" #',
    "back\\slash\\",
    "''' \"\"\"",
    "\x00\x07\x1b[31m\x7f",
    "\u2028line\u2029paragraph\x85next",
    "\u202eright-to-left\U000e0041",
    "glob*?[a-z]",
    "x" * 100_000,
    "\ud800 lone",
    " ",
    "",
    "*",
    "receipt_keys",
    "__proto__",
    "дом.日本",
)


def tools_of(server: str, **hints: dict[str, Any]) -> list[Tool]:
    return named(server, hints)


def named(server: str, hints: dict[str, dict[str, Any]]) -> list[Tool]:
    entries = [
        {"name": name, "inputSchema": {}, "annotations": annotations}
        for name, annotations in hints.items()
    ]
    return read_tools(server, entries)[0]


def written(*servers: ServerTools) -> str:
    return starting_policy(servers, schema="./policy.schema.json", guide="docs/guides/policy.md")


def uncommented(text: str) -> str:
    """The text with every example rule in force, as a person would put it there by an editor."""
    lines = text.splitlines()
    first = lines.index("# [[rules]]")
    return "\n".join([*lines[:first], *(line.removeprefix("# ") for line in lines[first:])])


def unmatched_in(text: str, *servers: ServerTools) -> list[str]:
    policy = load_policy(text)
    tools = [facts_of(seen_under(policy, tool)) for server in servers for tool in server.tools]
    return unmatched(policy, tools, servers=[server.name for server in servers])


CRM = ServerTools(
    "crm",
    tools_of("crm", customer_list=READ, customer_delete=DELETE, tag_set=SET, invoice_send={}),
)
DOWN = ServerTools("down", problem="command-not-found")


def test_it_is_the_default_policy_until_somebody_changes_it() -> None:
    text = written(CRM, DOWN)

    assert text.splitlines()[0] == "#:schema ./policy.schema.json"
    assert tomllib.loads(text) == {
        "mode": "guarded",
        "trust": {"crm": "cautious", "down": "cautious"},
    }
    assert load_policy(text).rules == Policy().rules
    assert unmatched_in(text, CRM, DOWN) == []


def test_a_section_lists_the_tools_strictest_first_with_what_guarded_mode_does() -> None:
    section = written(CRM, DOWN).partition("[trust]\n")[2].partition("\n# Rules")[0]

    assert section.splitlines() == [
        "",
        "# crm: 4 tools",
        "#   level        source    guarded  tool",
        "#   destructive  declared  asks     customer_delete",
        "#   destructive  default   asks     invoice_send",
        "#   write        declared  runs     tag_set",
        "#   read         declared  runs     customer_list",
        'crm = "cautious"',
        "",
        "# down: its tools are unknown (command-not-found)",
        'down = "cautious"',
    ]


def test_the_examples_match_real_tools_once_they_are_uncommented() -> None:
    text = uncommented(written(CRM, DOWN))

    rules = {rule["effect"]: rule["when"]["tool"] for rule in tomllib.loads(text)["rules"]}
    assert rules == {
        "deny": "customer_delete",
        "allow": "invoice_send",
        "confirm": "tag_set",
        "hide": "customer_list",
    }
    assert unmatched_in(text, CRM, DOWN) == []


def test_an_example_that_matches_nothing_would_be_found() -> None:
    text = uncommented(written(CRM)).replace("tag_set", "tag_sett")

    assert len(unmatched_in(text, CRM)) == 1


def test_without_servers_it_still_says_what_to_write() -> None:
    text = written()

    assert tomllib.loads(text) == {"mode": "guarded", "trust": {}}
    assert '# crm = "trusted"' in text
    (rule,) = load_policy(uncommented(text)).rules
    assert rule.effect == "confirm"


def test_many_tools_are_cut_at_the_least_dangerous() -> None:
    hints = {f"get_{number}": READ for number in range(300)} | {"zap": DELETE}
    text = written(ServerTools("big", named("big", hints)))

    assert "# big: 301 tools" in text
    assert "asks     zap" in text
    assert "#   … and 101 more" in text


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_breaks_out_of_its_comment_or_string(name: str) -> None:
    """A server and a tool of this name, as a list that a stranger wrote would have it."""
    tools = [*named(name, {name: DELETE}), *named(name, {"plain": SET})]
    server = ServerTools(name, tools, problem="" if tools else name)
    text = written(server, CRM)

    document = tomllib.loads(text)
    assert document["mode"] == "guarded"
    assert set(document) == {"mode", "trust"}
    assert set(document["trust"]) <= {name, "crm"}
    assert set(document["trust"].values()) == {"cautious"}
    assert load_policy(text).trust_of(name) == "cautious"
    assert len(text) < 10_000
    rules = load_policy(uncommented(text)).rules
    assert rules
    assert unmatched_in(uncommented(text), server, CRM) == []


@given(
    server=st.text(st.characters(), max_size=300),
    tool=st.text(st.characters(), max_size=300),
    problem=st.text(st.characters(), max_size=300),
    hints=st.sampled_from([DELETE, SET, READ]),
)
def test_nor_does_any_other_text(
    server: str, tool: str, problem: str, hints: dict[str, Any]
) -> None:
    servers = (
        ServerTools(server, named(server, {tool: hints})),
        ServerTools("down", problem=problem),
    )
    text = written(*servers)

    document = tomllib.loads(text)
    assert set(document) == {"mode", "trust"}
    assert set(document["trust"]) <= {server, "down"}
    assert load_policy(text).mode == "guarded"
    assert unmatched_in(uncommented(text), *servers) == []


def test_names_that_a_policy_cannot_hold_say_so() -> None:
    for name in ("*", "a[b]", "receipt_keys", "x" * 201, "\ud800"):
        text = written(ServerTools(name))
        assert tomllib.loads(text)["trust"] == {}
        assert "A policy cannot set the trust of this name" in text
