"""The selector: the right few, levels respected, pinned ones in, each with its reasons."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from mcp.types import Tool as SdkTool
from tests.catalog.select.samples import CRM, DESTROYS, tool

from sayso import Level, Selector
from sayso.catalog import make_tool
from sayso.errors import UsageError


def test_the_tools_that_fit_come_in_the_order_of_their_fit() -> None:
    found = Selector(CRM).select("Export the report, then list the customers.", 2, least=0)

    assert set(found.names) == {"crm__report_export", "crm__customer_list"}
    assert found.total == 5
    assert [tool.name for tool in found.tools] == [tool.tool.name for tool in found.chosen]
    assert found.chosen[0].score >= found.chosen[1].score > 0
    assert sum(found.left_out.values()) == 3


def test_an_excluded_level_is_not_there_at_all() -> None:
    selector = Selector(CRM)
    reads = Selector([tool for tool in CRM if tool.level is Level.READ])

    found = selector.select("delete the customer", least=0, exclude=["destructive"])

    assert found.names == ("crm__customer_list",)
    assert found.left_out == {"excluded": 3, "no word in common": 1}
    assert [tool.score for tool in found.chosen] == [
        tool.score for tool in reads.select("delete the customer", least=0).chosen
    ]
    assert selector.select("x", exclude=list(Level)).names == ()


ASKED = {
    "delete the customer Ann": {"crm__customer_delete"},
    "Please remove customer 7": {"crm__customer_delete"},
    "list customers": set[str](),
    "find the customer Ann and delete her": {"crm__customer_delete"},
    "delete the temp file and list customers": {"crm__file_delete"},
    "don't delete the customer": set[str](),
    "list the customers without deleting any file": set[str](),
    "list deleted customers": set[str](),
    "mail the invoice to Ann": {"crm__mail_send"},
    "look at /tmp/a.txt": set[str](),
    "delete /tmp/a.txt": {"crm__file_delete"},
}


@pytest.mark.parametrize("message", ASKED)
def test_what_destroys_is_there_only_where_the_message_asks_for_it(message: str) -> None:
    found = Selector(CRM).select(message, unless_asked=[Level.DESTRUCTIVE])

    assert {tool.name for tool in found.chosen if tool.tool.level is Level.DESTRUCTIVE} == ASKED[
        message
    ]
    assert found.left_out.get("not asked for", 0) == 3 - len(ASKED[message])


def test_a_tool_whose_name_names_nothing_beside_is_asked_for_by_its_verb() -> None:
    wipe = tool("wipe", destroys=True)
    odd = tool("zorp_lamp", destroys=True)

    assert Selector([wipe]).select("wipe the lamp", unless_asked=["destructive"]).names
    assert Selector([odd]).select("zorp the lamp", unless_asked=["destructive"]).names
    assert not Selector([odd]).select("buy a lamp", unless_asked=["destructive"]).names


def test_pinned_tools_are_in_whatever_their_level_and_count_within_k() -> None:
    found = Selector(CRM).select(
        "report", 2, least=0, always=["mail_send", "crm__customer_list"], exclude=["destructive"]
    )

    assert found.names == ("crm__mail_send", "crm__customer_list")
    assert all(tool.is_pinned and tool.reasons[0] == "pinned" for tool in found.chosen)
    assert found.left_out == {"excluded": 2, "fits less": 1}


def test_a_pinned_tool_that_was_not_asked_for_is_in_and_not_left_out() -> None:
    found = Selector(CRM).select("report", always=["file_delete"], unless_asked=["destructive"])

    assert found.names[0] == "crm__file_delete"
    assert found.left_out == {"not asked for": 2}


def test_an_unknown_pinned_name_is_an_error_that_names_near_ones() -> None:
    with pytest.raises(UsageError, match=r"no tool is called 'customer_lst'.*customer_list"):
        Selector(CRM).select("x", always=["customer_lst"])
    with pytest.raises(UsageError, match=r"no tool is called 'ZZZ'$"):
        Selector(CRM).select("x", always=["ZZZ"])


def test_a_name_on_two_servers_must_say_which() -> None:
    selector = Selector([tool("list", server="a"), tool("list", server="b")])

    assert selector.select("x", always=["b__list"]).names[0] == "b__list"
    with pytest.raises(
        UsageError, match=r"2 tools are called 'list'\. Use the full name: a__list, b__list"
    ):
        selector.select("x", always=["list"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"k": 0}, "k must be at least 1, got 0"),
        ({"k": True}, "k must be at least 1, got True"),
        ({"tokens": 0}, "tokens must be at least 1, got 0"),
        ({"k": None}, "nothing limits the selection"),
        ({"exclude": ["mad"]}, "unknown level 'mad'"),
        ({"k": 1, "always": ["mail_send", "file_delete"]}, "2 tools are pinned, but k is 1"),
        ({"tokens": 1, "always": ["mail_send"]}, "the pinned tools need more than 1 tokens"),
    ],
)
def test_what_cannot_be_is_said(words: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Selector(CRM).select("x", **words)


def test_nothing_is_selected_away_where_there_are_few() -> None:
    many = [tool(f"lamp_{number}") for number in range(20)]

    assert len(Selector(many[:19]).select("desk", 3).chosen) == 19
    assert len(Selector(many).select("lamp", 3).chosen) == 3
    assert len(Selector(many).select("desk", 3).chosen) == 0


def test_a_budget_of_tokens_holds_and_lets_smaller_tools_by() -> None:
    large = tool("lamp_lamp", "Lamp. " * 400)
    selector = Selector([large, tool("lamp"), tool("lamp_shade")], count=len)

    found = selector.select("lamp", None, tokens=300)

    assert set(found.names) == {"crm__lamp", "crm__lamp_shade"}
    assert found.left_out == {"over the budget": 1}
    assert selector.select("lamp", None, tokens=300).names == found.names


def test_reasons_say_which_words_stand_where() -> None:
    selector = Selector(
        [tool("note_save", inputSchema={"properties": {"colour": {"description": "Of the note."}}})]
    )

    (said,) = selector.select("Write the notes into /srv/a.md, in a colour.").chosen
    (cued,) = selector.select("Read /srv/a.md", always=["note_save"]).chosen
    (blind,) = Selector([tool("file_read")]).select("/srv/a.md").chosen

    assert said.reasons[0].startswith("for “Write the notes into")
    assert "“notes” is in its name" in said.reasons
    assert cued.reasons == ("pinned",)
    assert blind.reasons == (
        "for “file markdown”",
        "“file”, implied by a path or link, is in its name",
    )


def test_a_long_need_is_cut_in_the_reasons() -> None:
    (found,) = Selector([tool("lamp")]).select("lamp " * 60).chosen

    assert len(found.reasons[0]) < 100


def test_entries_of_a_list_and_the_tools_of_the_sdk_are_taken() -> None:
    raw = {"name": "customer_list", "annotations": DESTROYS, "title": "Customers"}
    sdk = SdkTool(name="mail_send", description="Send a mail.", input_schema={"type": "object"})

    selector = Selector([raw, sdk])

    assert selector.select("mail", 1, least=0).names == ("mail_send",)
    assert selector.select("customers", 1, least=0).tools[0].level is Level.DESTRUCTIVE
    assert selector.select("x", exclude=["destructive"]).total == 2


@pytest.mark.parametrize(
    "odd",
    [7, {"name": ""}, {}, {"name": "x", "inputSchema": []}, {"name": "x", "description": object()}],
)
def test_what_is_no_tool_is_told_and_the_others_are_there(odd: object) -> None:
    selector = Selector([odd, *CRM])

    assert len(selector) == 5
    assert len(selector.problems) == 1
    with pytest.raises(UsageError):
        selector.add(odd)


class Dumped:
    """Something that dumps what is no tool."""

    def model_dump(self, **_: object) -> object:
        return 7


def test_a_model_that_is_no_tool_is_none() -> None:
    (problem,) = Selector([Dumped()]).problems
    assert problem.startswith("Dumped is not a tool.")


def test_of_two_tools_with_one_name_the_first_counts_and_it_is_told() -> None:
    selector = Selector([tool("lamp", "First."), tool("lamp", "Second.")])

    assert len(selector) == 1
    assert selector.problems == ("two tools are called 'crm__lamp'; the first counts",)


def test_tools_come_and_go_and_change() -> None:
    selector = Selector(CRM)
    selector.select("x", exclude=["destructive"])

    selector.add(tool("lamp_light", "Light a lamp."))
    selector.add(tool("lamp_break", "Break a lamp.", destroys=True))
    assert len(selector.select("lamp", least=0).chosen) == 2
    assert len(selector.select("lamp", least=0, exclude=["destructive"]).chosen) == 1
    selector.add(tool("lamp_light", "Light a lantern."))
    assert len(selector) == 7
    assert selector.select("lantern", least=0).names == ("crm__lamp_light",)
    selector.remove("lamp_light")
    selector.remove("lamp_break")
    assert selector.select("lamp", least=0).names == ()

    selector.update([*CRM[1:], make_tool("crm", {"name": "report_export"})])
    assert len(selector) == 4


def test_a_tool_is_the_same_only_where_all_that_counts_is() -> None:
    raw = {"name": "lamp", "_meta": {"io.sayso/intent": {"tags": ["desk"]}}}
    selector = Selector([raw])
    index = selector.select("desk", least=0).names

    selector.add({**raw, "_meta": {}})
    assert index == ("lamp",)
    assert selector.select("desk", least=0).names == ()
    selector.add(dict(raw) | {"_meta": {}})
    assert len(selector) == 1
    selector.add(make_tool("", {"name": "lamp"}))
    assert len(selector) == 1
    selector.add(make_tool("", {"name": "lamp"}))
    selector.add(make_tool("", {"name": "lamp", "inputSchema": {"type": "object"}}))
    assert len(selector) == 1


def test_hostile_texts_cost_little_and_find_what_they_say() -> None:
    hostile: list[dict[str, Any]] = [
        {"name": "huge", "description": "lamp " * 200_000},
        {"name": "x" * 100_000},
        {"name": "odd", "description": 7, "title": ["a"], "inputSchema": {"properties": 3}},
        {"name": "odd2", "inputSchema": {"properties": {"a": 7, "b": {"description": []}}}},
        {"name": "\x00\x1b[31m", "description": "\ud7ff \u202e \U0001d518\u0130"},
        {"name": "me", "inputSchema": {"properties": {f"p{n}": {} for n in range(10_000)}}},
    ]

    selector = Selector(hostile)

    assert selector.select("a lamp", least=0).names == ("huge",)
    assert len(selector.select("lamp " * 100_000).chosen) == 6


def test_a_name_of_words_that_say_nothing_can_be_pinned_and_chosen() -> None:
    assert Selector([tool("me")]).select("who", always=["me"]).names == ("crm__me",)


def test_the_order_does_not_depend_on_the_order_in_which_tools_came() -> None:
    tools = [tool(f"lamp_{number}", "A lamp.") for number in range(100)]

    one = Selector(tools).select("lamp")
    other = Selector(reversed(tools)).select("lamp")

    assert [(a.name, a.score) for a in one.chosen] == [(a.name, a.score) for a in other.chosen]


def test_it_may_be_shared_by_threads() -> None:
    selector = Selector(CRM)

    def work(number: int) -> int:
        selector.add(tool(f"lamp_{number}"))
        return len(selector.select("lamp", 50, least=0).chosen)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(40)))

    assert len(selector.select("lamp", 50, least=0).chosen) >= 32


def test_tokens_are_counted_of_what_a_model_is_sent() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return 1

    Selector([tool("lamp", "Light.", inputSchema={"type": "object"})], count=count).select(
        "lamp", tokens=5
    )

    assert [json.loads(text) for text in counted] == [
        {"name": "crm__lamp", "description": "Light.", "inputSchema": {"type": "object"}}
    ]


def test_a_few_that_are_left_of_many_are_still_bounded() -> None:
    reads = [{"name": f"lamp_{n}_list", "annotations": {"readOnlyHint": True}} for n in range(12)]
    wipes = [{"name": f"lamp_{n}_delete", "description": "Wipes it."} for n in range(12)]
    selector = Selector([*reads, *wipes])

    assert len(selector.select("list the lamps", 5, exclude=["destructive"]).chosen) == 5
    assert len(Selector(reads).select("list the lamps", 5).chosen) == 12
