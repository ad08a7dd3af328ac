"""Tools, their names, their fingerprints, and what does not become a tool."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from tests.intent.strategies import SAID, TOOLS, hints

from sayso.catalog import (
    SEPARATOR,
    Catalog,
    Tool,
    fingerprint,
    make_catalog,
    make_tool,
    read_tools,
)
from sayso.errors import UsageError
from sayso.infer import guess
from sayso.intent import (
    DEFAULTS,
    META_KEY,
    Finding,
    Hints,
    Level,
    Resolved,
    Source,
    Trust,
    read_tool,
)
from sayso.schema import digest

RAW: dict[str, Any] = {
    "name": "customer_delete",
    "title": "Remove a customer",
    "description": "Removes one customer.",
    "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}},
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": False, "destructiveHint": True},
}
IDENTITY = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"]


def named(name: str, *, server: str = "shop") -> Tool:
    return make_tool(server, {"name": name})


# --- what a tool is


def test_a_tool_is_what_was_received_declared_inferred_and_resolved() -> None:
    tool = make_tool("shop", RAW)

    assert (tool.server, tool.name) == ("shop", "customer_delete")
    assert tool.raw is RAW
    assert tool.intent == read_tool(RAW).intent
    assert tool.inferred == guess(RAW)
    assert tool.fingerprint == fingerprint(RAW)
    assert tool.resolved.destructive == Resolved(value=True, source=Source.DECLARED)
    assert tool.level is Level.DESTRUCTIVE
    assert tool.findings == ()


def test_the_trust_and_the_operator_decide_what_a_declaration_is_worth() -> None:
    raw = {"name": "thing", "annotations": {"readOnlyHint": True}}
    writes = Hints(read_only=False, destructive=False)

    assert make_tool("shop", raw).level is Level.READ
    assert make_tool("shop", raw, trust=Trust.UNTRUSTED).level is Level.DESTRUCTIVE
    assert make_tool("shop", raw, operator=writes).level is Level.WRITE
    operator = make_tool("shop", {"name": "x"}, trust=Trust.UNTRUSTED, operator=hints("T---"))
    assert operator.level is Level.READ
    assert operator.resolved.read_only.source is Source.OPERATOR


def test_the_name_is_heard_where_nothing_is_declared() -> None:
    raw = {"name": "customers_list", "description": "Lists all customers, 50 at a time."}

    assert make_tool("shop", raw).resolved.read_only == Resolved(value=True, source=Source.INFERRED)
    assert make_tool("shop", raw, trust=Trust.UNTRUSTED).level is Level.DESTRUCTIVE


def test_the_name_is_heard_against_what_is_declared() -> None:
    raw = {"name": "customer_delete", "annotations": {"readOnlyHint": True}}

    assert make_tool("shop", raw).resolved.read_only == Resolved(
        value=False, source=Source.INFERRED
    )
    assert make_tool("shop", raw, trust=Trust.TRUSTED).level is Level.READ


def test_a_name_that_sounds_harmless_does_not_outweigh_what_is_declared() -> None:
    raw = {"name": "get_rid_of_file", "annotations": {"destructiveHint": True}}

    assert all(make_tool("shop", raw, trust=trust).level is Level.DESTRUCTIVE for trust in Trust)


def test_findings_come_with_the_tool() -> None:
    raw = {"name": "thing", "annotations": {"readOnlyHint": "true"}}
    message = 'readOnlyHint must be true or false, not "true"; it counts as unset'

    assert make_tool("shop", raw).findings == (Finding("hint-not-a-boolean", message, "read_only"),)


@given(TOOLS, SAID)
def test_an_untrusted_server_can_never_make_a_tool_looser(raw: dict[str, Any], name: str) -> None:
    tool = make_tool("shop", {**raw, "name": name}, trust=Trust.UNTRUSTED)

    assert tool.resolved.hints == Hints(**DEFAULTS)
    assert tool.level is Level.DESTRUCTIVE


@given(TOOLS)
def test_whatever_an_entry_holds_it_is_a_tool_or_a_problem(raw: dict[str, Any]) -> None:
    before = deepcopy(raw)
    tools, problems = read_tools("shop", [raw])

    assert len(tools) + len(problems) == 1
    assert raw == before
    if not isinstance(raw.get("name"), str):
        assert problems == ["shop: tool without a name"]


def test_a_tool_shows_neither_its_raw_entry_nor_what_stands_in_it() -> None:
    assert "Removes one customer" not in repr(make_tool("shop", RAW))


# --- the schema of its arguments


@pytest.mark.parametrize(
    ("raw", "schema"),
    [
        (RAW, RAW["inputSchema"]),
        ({"name": "a", "inputSchema": {}}, {}),
        ({"name": "a"}, None),
    ],
)
def test_the_schema_of_the_arguments_is_an_object_where_there_is_one(
    raw: dict[str, Any], schema: dict[str, Any] | None
) -> None:
    assert make_tool("shop", raw).input_schema == schema


# --- names


def test_behind_the_gateway_a_name_begins_with_its_server() -> None:
    assert SEPARATOR == "__"
    assert named("customer_delete").qualified_name == "shop__customer_delete"


@pytest.mark.parametrize("name", ["memory.show", "a-b", "A_B.c-1", "x__y", "."])
def test_a_name_is_taken_as_it_is(name: str) -> None:
    assert named(name).qualified_name == f"shop__{name}"
    assert named(name).name == name


def test_a_name_of_the_longest_length_is_kept_whole() -> None:
    name = "n" * (128 - len("shop__"))

    assert named(name).qualified_name == f"shop__{name}"
    assert len(named(name).qualified_name) == 128


def test_a_longer_name_is_cut_and_ends_in_its_digest() -> None:
    whole = "shop__" + "n" * 123
    qualified = named("n" * 123).qualified_name

    assert qualified == f"{whole[:119]}-{digest(whole)[:8]}"
    assert len(qualified) == 128


def test_two_long_names_that_differ_at_their_end_stay_two() -> None:
    first, second = named("n" * 200 + "a"), named("n" * 200 + "b")

    assert first.qualified_name[:119] == second.qualified_name[:119]
    assert first.qualified_name != second.qualified_name
    assert len(make_catalog([first, second]).tools) == 2


def test_one_long_name_of_two_servers_stays_two() -> None:
    name = "n" * 200

    assert named(name, server="a").qualified_name != named(name, server="b").qualified_name


@pytest.mark.parametrize("name", [None, 5, "", [], {}, True])
def test_a_tool_needs_a_name(name: object) -> None:
    with pytest.raises(UsageError) as caught:
        make_tool("shop", {"name": name})
    assert str(caught.value) == "shop: tool without a name"


def test_the_title_is_the_declared_one_or_made_of_the_name() -> None:
    assert make_tool("shop", RAW).title == "Remove a customer"
    assert named("customer_delete").title == "Delete customer"


# --- fingerprints


def test_the_fingerprint_is_that_of_the_canonical_form() -> None:
    assert fingerprint(RAW) == digest(RAW)
    assert fingerprint(dict(reversed(RAW.items()))) == fingerprint(RAW)


@pytest.mark.parametrize("key", IDENTITY)
def test_the_fingerprint_changes_with_what_makes_a_tool_what_it_is(key: str) -> None:
    changed = {**RAW, key: {"changed": True}}
    missing = {name: value for name, value in RAW.items() if name != key}
    null = {**RAW, key: None}

    assert len({fingerprint(item) for item in (RAW, changed, missing, null)}) == 4


@pytest.mark.parametrize("key", ["_meta", "icons", "execution", "x-unknown", "Name"])
def test_the_fingerprint_changes_with_nothing_else(key: str) -> None:
    assert fingerprint({**RAW, key: {"changed": True}}) == fingerprint(RAW)


def test_the_fingerprint_changes_with_the_smallest_thing_inside() -> None:
    def annotated(value: object) -> str:
        return fingerprint({**RAW, "annotations": {"readOnlyHint": value}})

    assert len({annotated(value) for value in (True, "true", 1, None, [])}) == 5


# --- entries that are not tools


def test_entries_that_are_no_tools_become_problems_and_the_rest_are_tools() -> None:
    deep: object = 0
    for _ in range(300):
        deep = [deep]
    entries = [
        {"name": "first"},
        "second",
        None,
        {"title": "no name"},
        {"name": "half", "description": "\ud800"},
        {"name": "deep", "inputSchema": {"x": deep}},
        {"name": "flat", "inputSchema": True},
        [{"name": "inside"}],
        {"name": "last"},
    ]

    tools, problems = read_tools("shop", entries)

    assert [tool.name for tool in tools] == ["first", "last"]
    assert problems == [
        "shop: entry 1 of tools/list is not an object",
        "shop: entry 2 of tools/list is not an object",
        "shop: tool without a name",
        "shop, tool 'half': string with a lone surrogate",
        "shop, tool 'deep': nested deeper than 200 levels",
        "shop, tool 'flat': inputSchema is not an object",
        "shop: entry 7 of tools/list is not an object",
    ]


def test_all_tools_of_a_list_are_trusted_alike() -> None:
    raws = [{"name": "customers_list", "annotations": {"readOnlyHint": True}}]

    assert read_tools("shop", raws)[0][0].level is Level.READ
    assert read_tools("shop", raws, trust=Trust.UNTRUSTED)[0][0].level is Level.DESTRUCTIVE


# --- catalogs


def test_a_catalog_finds_a_tool_by_its_qualified_name_only() -> None:
    tool = named("customer_delete")
    catalog = make_catalog([tool], ["a problem"])

    assert catalog.find("shop__customer_delete") is tool
    assert catalog.find("customer_delete") is None
    assert catalog.problems == ("a problem",)


def test_of_two_tools_with_one_name_the_first_counts() -> None:
    first = make_tool("shop", RAW)
    second = replace(first, fingerprint="other")
    third = named("customers_list")

    assert make_catalog([first, second, third], ["before"]) == Catalog(
        {"shop__customer_delete": first, "shop__customers_list": third},
        ("before", "shop: two tools are called 'customer_delete'; the first counts"),
    )


def test_two_servers_may_each_have_a_tool_of_one_name() -> None:
    catalog = make_catalog([named("list", server="a"), named("list", server="b")])

    assert list(catalog.tools) == ["a__list", "b__list"]
    assert catalog.problems == ()


# --- listings


def test_a_listing_is_the_entry_with_what_was_resolved_and_what_was_declared() -> None:
    raw = {
        "name": "customers.list",
        "description": "Lists.",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True, "destructiveHint": "no", "x-cost": 3},
        "_meta": {"vendor/key": [1], META_KEY: {"tags": ["crm"], "level": "write"}},
        "x-unknown": {"kept": True},
    }
    tool = make_tool("shop", raw)

    assert tool.listing("2026-07-28") == {
        "name": "shop__customers.list",
        "title": "List customers",
        "description": "Lists.",
        "inputSchema": {"type": "object"},
        "annotations": {
            "title": "List customers",
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": True,
            "x-cost": 3,
        },
        "_meta": {
            "vendor/key": [1],
            META_KEY: {
                "tags": ["crm"],
                "level": "read",
                "hints": tool.resolved.to_dict(),
                "declared": {"readOnlyHint": True, "destructiveHint": "no", "x-cost": 3},
            },
        },
        "x-unknown": {"kept": True},
    }


def test_a_listing_of_an_untrusted_server_shows_the_strict_hints_to_the_client() -> None:
    raw = {"name": "list", "annotations": {"readOnlyHint": True, "openWorldHint": False}}
    tool = make_tool("shop", raw, trust=Trust.UNTRUSTED)

    assert tool.listing("2025-11-25")["annotations"] == {
        "title": "List",
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    }


def test_a_listing_suits_the_version_of_the_client() -> None:
    tool = named("customer_delete")

    assert "annotations" not in tool.listing("2024-11-05")
    assert "title" not in tool.listing("2025-03-26")
    assert tool.listing("2025-03-26")["annotations"]["title"] == "Delete customer"
    assert tool.listing("2025-06-18")["title"] == "Delete customer"


def test_a_listing_leaves_the_entry_as_it_was_received() -> None:
    before = deepcopy(RAW)
    make_tool("shop", RAW).listing("2026-07-28")

    assert before == RAW


def test_what_was_guessed_is_forgotten_where_there_is_too_much_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sayso.catalog.tool._MAX_CACHED", 2)
    raws = [{"name": f"list_{n}"} for n in range(4)]

    assert [make_tool("shop", raw).inferred for raw in raws * 2] == [guess(raw) for raw in raws * 2]
