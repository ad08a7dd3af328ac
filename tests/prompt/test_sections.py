"""Callers' own sections and templates."""

from dataclasses import FrozenInstanceError

import pytest
from tests.prompt.samples import CRM

from sayso.errors import UsageError
from sayso.prompt import TEMPLATE, Section, Sections, build, estimate

HOUSE = Sections(identity="You work for a studio.", routing="Money goes first.")
TEAM = Sections(
    formatting="Answer in Markdown.",
    platform="This is a phone.",
    more=(Section("Words", "Say “client”."), Section("Nothing", " ")),
)


def test_sections_of_a_caller_stand_around_the_tools_in_a_fixed_order() -> None:
    text = build(CRM, sections=TEAM + HOUSE).text

    places = [
        text.index(item)
        for item in (
            "You work for a studio.\n\n# Tools",
            "\n\n# Routing\n\nMoney goes first.",
            "\n\n# Formatting\n\nAnswer in Markdown.",
            "\n\n# Platform\n\nThis is a phone.",
            "\n\n# Words\n\nSay “client”.",
        )
    ]
    assert places == sorted(places)
    assert "Nothing" not in text
    assert "\n\n\n" not in text


def test_sections_are_joined_and_leave_their_parts_as_they_are() -> None:
    both = HOUSE + Sections(identity="You are kind.", more=(Section("A", "b"),)) + TEAM

    assert both.identity == "You work for a studio.\n\nYou are kind."
    assert [item.title for item in both.more] == ["A", "Words", "Nothing"]
    assert HOUSE.identity == "You work for a studio."
    assert HOUSE + Sections() == HOUSE == Sections() + HOUSE
    with pytest.raises(FrozenInstanceError):
        HOUSE.identity = ""  # pyright: ignore[reportAttributeAccessIssue]


def test_a_budget_leaves_the_sections_of_the_caller() -> None:
    assert "You work for a studio." in build(CRM, sections=HOUSE, budget=1).text


def test_without_tools_the_sections_stand_alone_with_that() -> None:
    assert build([], sections=Sections(identity="Hi.")).text == (
        "Hi.\n\n# Tools\n\nYou have no tools."
    )


def test_a_template_of_ones_own_takes_the_place_of_the_words() -> None:
    template = "{{ count }}{% for one in levels %} {{ one.level }}{% endfor %}"

    assert build(CRM, template=template).text == "5 read write destructive"
    assert build(CRM, template=TEMPLATE) == build(CRM)


@pytest.mark.parametrize(
    ("template", "what"),
    [
        ("{{ colour }}", "template: 'colour' is undefined"),
        ("a\n{% if %}", "template, line 2: "),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ count + 'a' }}", "unsupported operand"),
        ("{{ levels.append(1) }}", "not safely callable|is unsafe"),
        ("{{ sections.__class__.__mro__ }}", "__class__"),
        ("{{ ''.__class__ }}", "__class__"),
        ("{% include 'other' %}", "no loader"),
        ("{{ range(10 ** 9) }}", "too big"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "recursion"),
    ],
)
def test_a_template_with_a_mistake_or_a_trick_is_told(template: str, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        build(CRM, template=template)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("call them freely", 3),
        ("extraordinarily", 3),
        ("customers_list", 4),
        ("a.\n\n\nb", 4),
        ("漢字", 2),
        ("12345", 2),
        ("getUserById", 4),
    ],
)
def test_tokens_are_estimated_by_words_and_signs(text: str, tokens: int) -> None:
    assert estimate(text) == tokens
