"""The registry: tools are found, paged through and grouped, whatever comes and goes meanwhile."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.catalog import Registry, Tool, make_tool
from sayso.catalog.words import words_of
from sayso.errors import UsageError
from sayso.intent import APPEND, DELETE, FETCH, META_KEY, QUERY, SEND, Intent, declare


def tool(name: str, intent: Intent = QUERY, server: str = "crm", **more: Any) -> Tool:
    return make_tool(server, declare({"name": name, **more}, intent))


CRM = [
    tool("customers_list", QUERY.but(category="customers", tags={"page"})),
    tool("customer_delete", DELETE.but(category="customers", scopes={"crm.write"})),
    tool("noteAdd", APPEND.but(title="Add a note")),
    tool("web_search", FETCH, description="Search the web for customers."),
]
MAIL = [
    tool("send", SEND.but(category="mail"), "mail"),
    tool("list", QUERY.but(category="mail", tags={"page"}), "mail"),
]
ALL = Registry([*MAIL, *CRM])


def names(query: str | None = None, **filters: Any) -> list[str]:
    return [f"{tool.server}/{tool.name}" for tool in ALL.search(query, **filters).tools]


def test_without_a_query_all_come_by_server_and_name() -> None:
    assert names() == [
        *["crm/customer_delete", "crm/customers_list", "crm/noteAdd", "crm/web_search"],
        *["mail/list", "mail/send"],
    ]
    assert names(" ") == names()
    assert [tool.name for tool in ALL] == [name.split("/")[1] for name in names()]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"read_only": True, "open_world": False}, ["crm/customers_list", "mail/list"]),
        ({"read_only": False}, ["crm/customer_delete", "crm/noteAdd", "mail/send"]),
        ({"destructive": True, "open_world": True}, ["mail/send"]),
        ({"idempotent": False, "destructive": False}, ["crm/noteAdd"]),
        ({"level": "write"}, ["crm/noteAdd"]),
        ({"category": "customers"}, ["crm/customer_delete", "crm/customers_list"]),
        ({"tag": "page"}, ["crm/customers_list", "mail/list"]),
        ({"scope": "crm.write"}, ["crm/customer_delete"]),
        ({"server": "mail"}, ["mail/list", "mail/send"]),
        ({"server": "mail", "category": "customers"}, []),
    ],
)
def test_all_that_is_said_must_hold(filters: dict[str, Any], found: list[str]) -> None:
    assert names(**filters) == found
    assert ALL.search(**filters).total == len(found)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("customers", ["crm/customer_delete", "crm/customers_list", "crm/web_search"]),
        ("delete customer", ["crm/customer_delete", "crm/customers_list", "crm/web_search"]),
        ("list", ["mail/list", "crm/customers_list"]),
        ("add", ["crm/noteAdd"]),
        ("cust", ["crm/customer_delete", "crm/customers_list", "crm/web_search"]),
        ("cu", []),
        ("pages", ["mail/list", "crm/customers_list"]),
        ("mail", ["mail/send", "mail/list"]),
        ("?!", []),
        ("nothing", []),
    ],
)
def test_a_query_finds_words_and_their_beginnings_the_nearest_to_the_name_first(
    query: str, found: list[str]
) -> None:
    assert names(query) == found
    assert names(query) == found


def test_words_are_those_of_identifiers_in_the_singular() -> None:
    assert words_of("getHTTPHeaders_v2 Änderungen class gas") == {
        *["get", "http", "header", "v2", "änderungen", "class", "gas"]
    }


def test_a_description_that_is_no_text_has_no_words() -> None:
    assert Registry([make_tool("x", {"name": "y", "description": 7})]).search("seven").total == 0


# --- pages


def pages(registry: Registry, limit: int, **more: Any) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = registry.search(limit=limit, cursor=cursor, **more)
        found += [tool.name for tool in page.tools]
        if page.next_cursor is None:
            return found
        cursor = page.next_cursor


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 50])
def test_pages_together_are_the_whole(limit: int) -> None:
    assert pages(ALL, limit) == [tool.name for tool in ALL]
    assert pages(ALL, limit, text="customers") == [
        tool.name for tool in ALL.search("customers").tools
    ]


def test_every_page_says_how_many_there_are_and_the_last_has_no_cursor() -> None:
    first = ALL.search(limit=5)
    last = ALL.search(limit=5, cursor=first.next_cursor)

    assert (first.total, last.total) == (6, 6)
    assert (len(first.tools), len(last.tools)) == (5, 1)
    assert last.next_cursor is None


NAMES = st.lists(st.sampled_from("abcdefghij"), unique=True)


@given(NAMES.filter(lambda some: len(some) > 1), NAMES)
def test_what_stays_is_seen_once_whatever_comes_and_goes_between_two_pages(
    before: list[str], after: list[str]
) -> None:
    first = Registry(tool(f"item_{entry}") for entry in before).search(limit=1)
    rest = Registry(tool(f"item_{item}") for item in after)

    seen = [tool.name for tool in first.tools]
    seen += [tool.name for tool in rest.search(cursor=first.next_cursor).tools]

    assert len(seen) == len(set(seen))
    assert {f"item_{item}" for item in {*before} & {*after}} <= set(seen)


def test_a_querys_cursor_is_good_as_long_as_the_tools_are_the_same() -> None:
    first = ALL.search("customers", limit=1)
    again = Registry([*CRM, *MAIL]).search("customers", cursor=first.next_cursor)

    assert [tool.name for tool in again.tools] == ["customers_list", "web_search"]
    with pytest.raises(UsageError, match="or the tools have changed"):
        Registry(CRM).search("customers", cursor=first.next_cursor)


def test_a_tool_whose_cursor_it_was_may_be_gone() -> None:
    first = Registry(CRM).search(limit=2)
    rest = Registry(CRM[2:]).search(cursor=first.next_cursor)

    assert [tool.name for tool in rest.tools] == ["noteAdd", "web_search"]


def written(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        *["", "x", "ö", "e30", "!!!!", "a b c", "7" * 9, written([1, 2]), written("x")],
        written(["x", True, "a", "b", "c", "d"]),
        written(["x", 1.5, "a", "b", "c", "d"]),
        written(["x", 1, "a", "b", "c", None]),
    ],
)
def test_a_cursor_that_no_search_gave_is_refused(cursor: str) -> None:
    with pytest.raises(UsageError, match="invalid cursor"):
        ALL.search(cursor=cursor)


def test_a_cursor_with_something_added_is_refused() -> None:
    cursor = ALL.search(limit=1).next_cursor
    assert cursor is not None

    for wrong in (f"{cursor}!", cursor[:-3], "[" * 9000):
        with pytest.raises(UsageError, match="cursor"):
            ALL.search(cursor=wrong)


@pytest.mark.parametrize("other", [{"text": "list"}, {"level": "read"}, {"server": "crm"}])
def test_a_cursor_of_another_search_is_refused(other: dict[str, Any]) -> None:
    cursor = ALL.search(limit=1).next_cursor

    with pytest.raises(UsageError, match="another search"):
        ALL.search(**other, cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(UsageError, match="limit"):
        ALL.search(limit=limit)


# --- groups


def test_tools_are_grouped_by_server_category_and_level() -> None:
    assert {key: len(found) for key, found in ALL.groups("server").items()} == {"crm": 4, "mail": 2}
    assert list(ALL.groups("category")) == ["customers", "mail", None]
    assert list(ALL.groups("level")) == ["read", "write", "destructive"]
    assert [group.name for group in ALL.groups("level")["destructive"]] == [
        "customer_delete",
        "send",
    ]


def test_a_part_of_the_tools_can_be_grouped_too() -> None:
    assert Registry().groups("level") == {}
    found = Registry(ALL.search("list").tools).groups("server")
    assert {key: [tool.name for tool in tools] for key, tools in found.items()} == {
        "crm": ["customers_list"],
        "mail": ["list"],
    }


# --- one of each


def test_a_tool_that_is_given_twice_is_there_once_and_another_origin_makes_another() -> None:
    twin = make_tool("crm", CRM[0].raw, origin="elsewhere")

    assert len(Registry([*CRM, *CRM])) == 4
    assert len(Registry([*CRM, twin])) == 5


def test_the_order_in_which_tools_came_is_of_no_matter() -> None:
    assert list(Registry([*CRM, *MAIL])) == list(Registry([*MAIL, *reversed(CRM)]))


def test_what_a_server_says_of_categories_is_read_as_declared() -> None:
    raw = {"name": "x", "_meta": {META_KEY: {"category": "a", "tags": ["b"]}}}

    assert Registry([make_tool("s", raw)]).search(category="a", tag="b").total == 1


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, float("nan"), "7", None])
def test_a_limit_that_is_no_number_of_tools_is_a_mistake(limit: Any) -> None:
    with pytest.raises(UsageError, match="limit must be"):
        ALL.search(limit=limit)
