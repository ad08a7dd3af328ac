"""The prompt where tools are found by a search: how to find them, and what holds of each level."""

import pytest
from tests.prompt.samples import CRM

from sayso.policy import load_policy
from sayso.prompt import Names, Variant, build

SEARCH = load_policy('tools = "search"')
PINNED = load_policy('tools = "search"\npin = ["crm__customers_list"]')


def test_it_says_how_many_tools_there_are_and_how_to_find_them() -> None:
    made = build(CRM, policy=SEARCH)

    assert made.count == 5
    assert "You have 5 tools (read: 2, write: 2, destructive: 1)." in made.text
    assert "None of them are in your list of tools. Find them with search_tools" in made.text
    assert "with call_read_tool, call_write_tool or call_destructive_tool, as" in made.text


def test_only_pinned_tools_are_named_beside_the_examples() -> None:
    text = build(CRM, policy=PINNED).text
    levels, examples = text.split("## Examples")

    assert "1 of them is in your list of tools. Find the others with" in levels
    assert '- "crm__customers_list"' in levels
    assert '"crm__customer_delete"' not in levels
    assert 'call "crm__customers_list" at once' in examples
    assert 'call "crm__customer_delete" by call_destructive_tool; it waits' in examples


def test_what_is_said_of_a_level_holds_for_the_tools_that_are_not_named() -> None:
    some = '[[rules]]\nname = "r"\neffect = "confirm"\nwhen = { tool = "note_add" }'
    text = build(CRM, policy=load_policy(f'tools = "search"\n{some}')).text

    assert "1 of them: Changes something, but loses nothing: no approval needed." in text
    assert "1 of them: Changes something, and needs approval." in text
    assert "May delete, overwrite or send for good: never without" in text


@pytest.mark.parametrize(
    ("variant", "names"), [(Variant.ADVISORY, Names.GATEWAY), (Variant.ENFORCED, Names.SERVER)]
)
def test_without_the_gateway_nothing_is_searched(variant: Variant, names: Names) -> None:
    made = build(CRM, policy=SEARCH, variant=variant, names=names)

    assert made == build(CRM, variant=variant, names=names)
