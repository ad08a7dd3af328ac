"""The prompt as a whole: what it says of whom, in which order, and within which budget."""

import json
from dataclasses import FrozenInstanceError, replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.prompt.samples import CRM, DELETE, READ, TOOLS, WRITE, by_rule, tool

from sayso.errors import UsageError
from sayso.intent import Hints
from sayso.policy import Mode, Policy, Principal, load_policy
from sayso.prompt import Names, Variant, build, estimate

ADVISORY = Variant.ADVISORY
MODES = [Policy(mode=mode) for mode in Mode]
REFUNDS = by_rule("confirm", 'tool = "customer_create", arguments = { vip = { equals = true } }')


def lines(text: str, start: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(start)]


def rules_of(text: str) -> list[str]:
    """Return a prompt without its tools and examples."""
    before = text.split("\n## Examples", maxsplit=1)[0]
    return [line for line in before.splitlines() if line and not line.startswith('- "')]


# --- what it says


def test_it_says_how_many_tools_there_are_and_has_a_section_for_each_level() -> None:
    text = build(CRM).text

    assert "You have 5 tools (read: 2, write: 2, destructive: 1). " in text
    assert lines(text, "## ") == [
        "## Read (2)",
        "## Write (2)",
        "## Destructive (1)",
        "## Examples",
    ]


def test_a_level_that_is_not_there_has_no_section_no_rule_and_no_example() -> None:
    text = build([tool("customers_list", READ)]).text

    assert "You have 1 tool (read: 1). " in text
    assert lines(text, "## ") == ["## Read (1)", "## Examples"]
    assert "yes" not in text
    assert "write" not in text
    assert "open world" not in text
    assert "confirm" not in text.lower()


def test_without_tools_it_says_so_and_no_more() -> None:
    assert build([]).text == "# Tools\n\nYou have no tools."


def test_where_the_system_asks_the_model_is_told_not_to() -> None:
    text = build(CRM).text

    assert "the system itself asks the person" in text
    assert "A 'yes' in this chat approves nothing" in text
    assert "Confirm?" not in text
    assert (
        "it waits for approval"
        in lines(
            text, '- Asked for "Customer delete"'.replace("Customer delete", "Delete customer")
        )[0]
    )


def test_where_nothing_is_enforced_the_model_asks_and_waits() -> None:
    text = build(CRM, variant=ADVISORY).text

    assert "ask 'Confirm?', and wait" in text
    assert "never without the person's explicit confirmation" in text
    assert "the system" not in text
    assert "approval" not in text


def test_examples_are_of_real_tools_one_for_each_level() -> None:
    text = build(CRM, variant=ADVISORY).text

    reads, writes, destroys = (line.split(": ", 1)[1] for line in lines(text, "- Asked for"))
    assert reads == 'call "customers_list" at once, then answer from its result.'
    assert writes == ('say what it will do, call "customer_create", then report what it did.')
    assert destroys == (
        "say what it will do, ask 'Confirm?' and wait. After a clear 'yes', call "
        '"customer_delete" and report what it did.'
    )


def test_a_write_that_may_be_repeated_needs_no_word_on_unknown_outcomes() -> None:
    assert "unknown" in build(CRM).text
    assert "unknown" not in build([tool("customer_create", WRITE)]).text


@pytest.mark.parametrize("variant", Variant)
def test_the_rules_of_a_server_with_all_levels_are_below_400_tokens(variant: Variant) -> None:
    rules = rules_of(build(CRM, variant=variant).text)

    assert estimate("\n".join(rules)) < 400
    assert len(set(rules)) == len(rules)


# --- what the policy makes of it


def test_what_is_allowed_is_not_said_to_wait() -> None:
    text = build(CRM, policy=by_rule("allow", 'tool = "customer_delete"')).text

    assert "approval" not in text.replace("no approval needed", "")
    assert "and runs at once: only when the person has asked for exactly this" in text


def test_in_the_mode_observe_nothing_waits_but_an_adviser_says_what_should() -> None:
    observed = Policy(mode=Mode.OBSERVE)

    assert "the system itself asks" not in build(CRM, policy=observed).text
    assert "Confirm?" in build(CRM, policy=observed, variant=ADVISORY).text


@pytest.mark.parametrize("mode", [Mode.PLAN, Mode.UNATTENDED])
def test_what_is_always_denied_is_not_offered(mode: Mode) -> None:
    text = build(CRM, policy=Policy(mode=mode)).text

    assert "customers_list" in text
    assert "customer_delete" not in text


def test_what_asks_for_some_arguments_only_is_said_to_wait() -> None:
    text = build(CRM, policy=REFUNDS).text
    section = text.split("## Write (2)")[1].split("##")[0]

    loses_nothing, needs = section.split("Changes something, and needs approval.")
    assert "note_add" in loses_nothing
    assert "customer_create" in needs


def test_in_the_mode_strict_every_write_waits() -> None:
    text = build(CRM, policy=Policy(mode=Mode.STRICT)).text

    assert "loses nothing" not in text
    assert '"Create customer": say what it will do and call' in text


def test_a_read_that_asks_is_said_to_wait() -> None:
    text = build(CRM, policy=by_rule("confirm", 'tool = "customers_*"')).text

    assert "Changes nothing, but needs approval." in text
    assert '- Asked for "Web search": call "crm__web_search" at once' in text


def test_only_what_the_principal_may_see_is_there() -> None:
    hidden = tool("audit_list", READ, _meta={"io.sayso/intent": {"scopes": ["audit"]}})
    amy = Principal("amy", scopes=frozenset())

    assert "audit_list" in build([hidden, *CRM]).text
    assert build([hidden, *CRM], principal=amy).text == build(CRM, principal=amy).text


def test_what_is_switched_off_is_not_there() -> None:
    off = load_policy('[off]\nservers = ["crm"]')

    assert build(CRM, policy=off).count == 0


def test_the_operators_word_decides_the_section() -> None:
    policy = load_policy("[operator.crm.customers_list]\nread_only = false\ndestructive = true")

    assert "## Destructive (2)" in build(CRM, policy=policy).text


# --- whose names


def test_the_names_are_those_that_the_model_calls_the_tools_by() -> None:
    other = replace(CRM[0], server="erp")

    assert '"crm__customer_delete"' in build(CRM).text
    assert '"customer_delete"' in build(CRM, variant=ADVISORY).text
    assert '"customer_delete"' in build(CRM, names=Names.SERVER).text
    assert '"crm__customer_delete"' in build(CRM, variant=ADVISORY, names=Names.GATEWAY).text
    assert '"erp__customer_delete"' in build([*CRM, other], variant=ADVISORY).text


# --- always the same


def test_in_whatever_order_the_tools_come_it_is_the_same_to_the_byte() -> None:
    assert len({build(order).text.encode() for order in permutations(CRM)}) == 1


@given(st.data(), TOOLS, st.sampled_from(MODES), st.sampled_from(Variant))
def test_any_tools_in_any_order_make_the_same_prompt(
    data: Any, tools: list[Any], policy: Policy, variant: Variant
) -> None:
    shuffled = data.draw(st.permutations(tools))
    budget = data.draw(st.none() | st.integers(1, 600))

    one = build(tools, policy=policy, variant=variant, budget=budget)
    other = build(shuffled, policy=policy, variant=variant, budget=budget)

    assert one == other
    assert "\n\n\n" not in one.text
    one.text.encode()


def test_a_tool_that_is_given_twice_is_there_once() -> None:
    assert build([*CRM, *CRM]) == build(CRM)


# --- budget


def test_a_budget_drops_examples_then_descriptions_and_what_destroys_last() -> None:
    whole = build(CRM)
    order: list[str] = []
    for budget in range(whole.tokens, 1, -1):
        for what in build(CRM, budget=budget).dropped:
            order += [what] if what not in order else []

    assert order == [
        *(f"examples: {level}" for level in ("read", "write", "destructive")),
        *(f"descriptions: {level}" for level in ("read", "write", "destructive")),
    ]


@given(TOOLS, st.integers(1, 700), st.sampled_from(MODES), st.sampled_from(Variant))
def test_a_budget_never_drops_a_rule_or_a_name(
    tools: list[Any], budget: int, policy: Policy, variant: Variant
) -> None:
    whole = build(tools, policy=policy, variant=variant)
    cut = build(tools, policy=policy, variant=variant, budget=budget)

    assert rules_of(cut.text) == rules_of(whole.text)
    assert len(lines(cut.text, '- "')) == cut.count == whole.count
    assert cut.tokens <= whole.tokens
    assert cut.fits or len(cut.dropped) == len(build(tools, policy=policy, budget=1).dropped)


def test_a_budget_that_is_kept_drops_nothing() -> None:
    whole = build(CRM)

    assert build(CRM, budget=whole.tokens).text == whole.text
    assert whole.fits
    assert whole.dropped == ()
    assert not build(CRM, budget=1).fits


def test_a_counter_of_ones_own_counts() -> None:
    assert build(CRM, count=len).tokens == len(build(CRM).text)
    assert build(CRM, count=len, budget=10**6).dropped == ()


@pytest.mark.parametrize("budget", [0, -1])
def test_a_budget_below_one_is_a_mistake(budget: int) -> None:
    with pytest.raises(UsageError, match="budget must be at least 1"):
        build(CRM, budget=budget)


def test_a_prompt_is_a_value() -> None:
    made = build(CRM)

    assert str(made) == made.text
    with pytest.raises(FrozenInstanceError):
        made.text = ""  # pyright: ignore[reportAttributeAccessIssue]


def test_a_description_that_is_none_is_told_by_the_title() -> None:
    for nothing in (None, 7, " \n"):
        text = build([tool("customers_list", Hints(read_only=True), nothing)]).text
        assert '"crm__customers_list" (open world): "List customers"' in text


def test_every_quoted_text_is_json() -> None:
    for line in lines(build(CRM, policy=Policy(mode=Mode.STRICT)).text, '- "'):
        name, _, description = line[2:].partition(": ")
        assert json.loads(name.removesuffix(" (repeatable)").removesuffix(" (open world)"))
        assert json.loads(description)


def test_a_destroyer_whose_name_says_delete_is_the_example() -> None:
    tools = [tool("account_close", DELETE), tool("user_delete", DELETE)]

    assert '- Asked for "Delete user"' in build(tools).text


@pytest.mark.parametrize(
    ("description", "shown"),
    [
        ("Delete it. Takes a minute. Cannot be undone.", "Delete it. Cannot be undone."),
        (
            "Create a note. Idempotent by name: will not create a duplicate.",
            "Create a note. Idempotent by name: will not create a duplicate.",
        ),
        ("Send it. Not safe to retry: it would arrive twice.", None),
        ("Add it. Fast. Nice. Do not repeat this call.", "Add it. Do not repeat this call."),
    ],
)
def test_a_sentence_about_safety_is_kept_whole(description: str, shown: str | None) -> None:
    raw = {"name": "note_write", "description": description}
    assert f'"{shown or description}"' in build([raw]).text


def test_the_prompt_says_which_calls_may_be_repeated() -> None:
    put = {"name": "note_put", "annotations": {"destructiveHint": False, "idempotentHint": True}}
    add = {"name": "note_add", "annotations": {"destructiveHint": False, "idempotentHint": False}}
    text = build([put, add]).text

    assert '"note_put" (open world) (repeatable)' in text
    assert '"note_add" (open world):' in text
    assert "Repeat no other call unless the person asks for it again." in text


def test_a_program_may_name_the_tools_itself() -> None:
    text = build(CRM, names=lambda item: f"{item.server}-{item.name.upper()}").text

    assert "crm-CUSTOMERS_LIST" in text
    assert "customers_list" not in text
