"""Advice to authors: no more than the name and the texts of a tool say."""

import pytest

from sayso.catalog import Tool, make_tool
from sayso.serve.tool_registry import advise, suggest


def named(name: str, text: str = "") -> Tool:
    return make_tool("crm", {"name": name, "description": text, "inputSchema": {}})


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("customer_delete", "Delete a customer.", "sayso.DELETE.but(idempotent=True)"),
        ("create_user", "", "sayso.APPEND"),
        ("append_row", "", "sayso.APPEND"),
        ("update_config", "", "sayso.WRITE"),
        ("drop_table", "Idempotent.", "sayso.DELETE.but(idempotent=True)"),
        ("send_email", "", "sayso.SEND"),
        ("list_users", "", "sayso.READ_ONLY"),
        ("search_web", "Searches the web.", "sayso.FETCH"),
        ("url_open", "", None),
        ("zq_thing", "", None),
    ],
)
def test_a_suggestion_says_what_was_guessed_and_supposes_no_loss(
    name: str, text: str, code: str | None
) -> None:
    assert suggest(named(name, text)) == code


def test_the_advice_says_what_to_write_and_what_it_cannot_know() -> None:
    told = advise(named("fetch_page", "Fetches a page."), is_taken=False, how="sayso.declare")
    assert told == (
        "the tool 'fetch_page' declares nothing, so it counts as destructive; its "
        "name and texts suggest @sayso.declare(sayso.READ_ONLY), with .but(open_world=True) if it "
        "reaches the outside world"
    )
    told = advise(named("send_email"), is_taken=True, how="tools.tool")
    assert told.endswith(
        "inferred with certainty apply; its name and texts suggest @tools.tool(sayso.SEND)"
    )
    told = advise(named("url_open"), is_taken=False, how="tools.tool")
    assert told.endswith(
        "declare what it does: @tools.tool(…), with a preset such as sayso.READ_ONLY"
    )
