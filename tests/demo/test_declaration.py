"""What the tools declare on the wire, and that they run on nothing but what they declare."""

import re
from typing import Any

import pytest
from mcp import Client, MCPError

from sayso.demo import data
from sayso.demo.data import Database
from sayso.intent import (
    APPEND,
    DELETE,
    DESTRUCTIVE,
    FETCH,
    META_KEY,
    QUERY,
    SEND,
    UPSERT,
    Level,
    read_tool,
)

pytestmark = pytest.mark.anyio

DECLARED = {
    "customers_list": (QUERY, "customers.read"),
    "customers_get": (QUERY, "customers.read"),
    "customer_create": (UPSERT, "customers.write"),
    "customer_delete": (DELETE.but(idempotent=True), "customers.write"),
    "invoice_create_draft": (APPEND, "customers.write"),
    "invoice_send": (SEND, "customers.write"),
    "web_search": (FETCH.but(idempotent=False), None),
    "migrate_database": (DESTRUCTIVE, "customers.write"),
}


async def tools(client: Client) -> dict[str, dict[str, Any]]:
    listed = (await client.list_tools()).tools
    return {one.name: one.model_dump(by_alias=True, exclude_none=True) for one in listed}


async def test_the_tools_have_their_names(client: Client) -> None:
    assert list(await tools(client)) == list(DECLARED)


async def test_each_tool_declares_its_preset_and_scope(client: Client) -> None:
    for name, tool in (await tools(client)).items():
        preset, scope = DECLARED[name]
        intent = read_tool(tool).intent
        assert intent.hints == preset.hints, name
        assert intent.scopes == (frozenset({scope}) if scope else frozenset()), name


async def test_each_tool_has_title_category_and_all_hints_explicitly(client: Client) -> None:
    for name, tool in (await tools(client)).items():
        assert tool["annotations"]["title"] == tool["title"], name
        assert len(tool["annotations"]) == 5, name
        assert tool["_meta"][META_KEY]["category"], name
        assert tool["description"].splitlines()[0].endswith("."), name


async def test_the_levels_are_what_a_person_would_say(client: Client) -> None:
    levels = {name: read_tool(tool).intent.level for name, tool in (await tools(client)).items()}

    assert [name for name, level in levels.items() if level is Level.DESTRUCTIVE] == [
        "customer_delete",
        "invoice_send",
        "migrate_database",
    ]


async def test_no_declaration_is_at_odds_with_itself(client: Client) -> None:
    found = {
        name: [one.code for one in read_tool(tool).findings]
        for name, tool in (await tools(client)).items()
    }

    assert {name: codes for name, codes in found.items() if codes} == {}


async def test_what_goes_in_and_what_comes_out_is_closed(client: Client) -> None:
    for name, tool in (await tools(client)).items():
        assert tool["inputSchema"]["additionalProperties"] is False, name
        assert tool["outputSchema"]["additionalProperties"] is False, name
        for nested in tool["outputSchema"].get("$defs", {}).values():
            assert nested["additionalProperties"] is False, name


async def test_every_tool_refuses_an_argument_it_does_not_know(client: Client, said: Any) -> None:
    for name in DECLARED:
        text = said(await client.call_tool(name, {"colour": "green"}))
        assert text.startswith("Nothing was run: these arguments do not fit the tool.")
        assert "('colour' was unexpected)" in text


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("customers_list", {"status": "gone"}, 'status: "gone" is not valid'),
        ("customers_list", {"status": "null"}, 'status: "null" is not valid'),
        ("customers_list", {"limit": 51}, "limit: 51 is greater than the maximum of 50"),
        ("customers_list", {"limit": "5"}, 'limit: "5" is not of type "integer"'),
        ("customers_get", {"customer_id": True}, "customer_id: true is not of type"),
        ("customers_get", {"customer_id": 10**30}, "is greater than the maximum"),
        ("customers_get", {}, '"customer_id" is a required property'),
        ("customer_create", {"name": " \t "}, "name: "),
        ("customer_create", {"name": "A", "email": "nowhere"}, "email: "),
        ("migrate_database", {"dry_run": "true"}, 'dry_run: "true" is not of type'),
        ("migrate_database", {"dryRun": True}, "('dryRun' was unexpected)"),
    ],
)
async def test_a_wrong_argument_is_refused_in_clear_words(
    client: Client, said: Any, tool: str, arguments: dict[str, Any], expected: str
) -> None:
    text = said(await client.call_tool(tool, arguments))

    assert expected in text
    assert text.startswith("Nothing was run: these arguments do not fit the tool.")


async def test_a_text_that_looks_like_json_stays_a_text(client: Client) -> None:
    answer = await client.call_tool("customers_list", {"query": "null"})

    assert answer.structured_content == {"customers": [], "total": 0, "nextCursor": None}


async def test_a_busy_database_is_a_clear_tool_error(
    client: Client, database: Database, said: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "BUSY_SECONDS", 0.01)
    with database.writing():
        text = said(await client.call_tool("customer_create", {"name": "Nobody"}))

    assert text.startswith("studio.db: the database is busy")


async def test_a_crash_says_nothing_about_itself(
    client: Client, database: Database, said: Any
) -> None:
    with database.writing() as connection:
        connection.execute("ALTER TABLE customers RENAME TO secret_customers")

    text = said(await client.call_tool("customers_get", {"customer_id": 1}))

    assert re.fullmatch(r"“Get customer” failed \(incident [0-9a-f]{12}\)\.", text)


async def test_an_unknown_tool_is_an_error(client: Client) -> None:
    with pytest.raises(MCPError, match="Unknown tool: customers_burn"):
        await client.call_tool("customers_burn", {})
