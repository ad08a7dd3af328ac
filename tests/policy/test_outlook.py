"""The outlook of a tool: all that may become of its calls."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policy.samples import AMY, HINTS, NOW, facts, past, policy, rule

from sayso.policy import Effect, Mode, Situation, decide, foresee

ANY_ARGUMENTS: list[dict[str, Any]] = [{}, {"id": 1}, {"id": 9}, {"id": 9, "vip": True}]
BIG = "arguments = { id = { range = { min = 5 } } }"


def ends(text: str, kind: str = "delete", tool: str = "customer_delete") -> list[str]:
    return sorted({str(one.judged) for one in foresee(policy(text), AMY, facts(kind, tool))})


def test_without_rules_the_mode_is_the_only_end() -> None:
    assert ends("") == ["confirm"]
    assert ends('mode = "unattended"') == ["deny"]
    assert ends("", "write") == ["allow"]


@pytest.mark.parametrize(
    ("effect", "when", "found"),
    [
        ("deny", 'tool = "customer_delete"', ["deny"]),
        ("deny", 'tool = "other"', ["confirm"]),
        ("deny", BIG, ["confirm", "deny"]),
        ("allow", BIG, ["allow", "confirm"]),
        ("allow", 'after = { level = "read" }', ["allow", "confirm"]),
        ("allow", f'tool = "other", {BIG}', ["confirm"]),
        ("deny", 'expression = "arguments.id > 5"', ["confirm", "deny"]),
        ("hide", "expression = \"tool == 'customer_delete'\"", ["deny"]),
    ],
)
def test_what_a_rule_asks_of_the_call_goes_both_ways(
    effect: str, when: str, found: list[str]
) -> None:
    assert ends(rule(effect, when)) == found


@pytest.mark.parametrize(
    ("unless", "found"),
    [(BIG, ["confirm", "deny"]), ('subject = "amy"', ["confirm"]), ('subject = "bob"', ["deny"])],
)
def test_so_does_what_a_rule_excepts(unless: str, found: list[str]) -> None:
    assert ends(rule("deny", 'tool = "customer_delete"', unless=unless)) == found


def test_an_exception_that_cannot_hold_leaves_the_rule_sure() -> None:
    assert ends(rule("deny", 'level = "destructive"', unless=f'subject = "bob", {BIG}')) == ["deny"]


def test_a_first_use_that_asks_is_one_of_the_ends() -> None:
    assert ends('first_use = "confirm"', "read", "get") == ["allow", "confirm"]
    assert ends('first_use = "confirm"\nmode = "unattended"', "read", "get") == ["allow", "deny"]


def test_what_is_switched_off_has_one_end() -> None:
    found = foresee(policy('mode = "observe"\n[off]\nservers = ["crm"]'), AMY, facts("read"))

    assert [one.effect for one in found] == [Effect.DENY]


CONDITIONS = [
    *[BIG, 'tool = "customer_*"', 'level = "destructive"', 'subject = "bob"'],
    *["arguments = { vip = { exists = true } }", 'after = { level = "read" }', 'role = "staff"'],
]
RULES = st.lists(
    st.tuples(
        st.sampled_from(["allow", "confirm", "deny"]),
        st.sampled_from(CONDITIONS),
        st.none() | st.sampled_from(CONDITIONS),
    ),
    max_size=4,
)


@given(
    RULES,
    st.sampled_from(Mode),
    st.sampled_from(sorted(HINTS)),
    st.sampled_from(ANY_ARGUMENTS),
    st.booleans(),
)
def test_every_decision_on_a_call_was_foreseen(
    rules: list[tuple[str, str, str | None]],
    mode: Mode,
    kind: str,
    arguments: dict[str, Any],
    has_past: bool,  # noqa: FBT001 - drawn
) -> None:
    text = f'mode = "{mode}"\n' + "\n".join(
        f'[[rules]]\nname = "r{index}"\neffect = "{effect}"\nwhen = {{ {when} }}\n'
        + (f"unless = {{ {unless} }}\n" if unless else "")
        for index, (effect, when, unless) in enumerate(rules)
    )
    rulebook, about = policy(text), facts(kind)
    history = (past("read"),) if has_past else ()
    decided = decide(rulebook, Situation(AMY, about, arguments, history=history, now=NOW))

    assert decided.judged in {one.judged for one in foresee(rulebook, AMY, about)}
