"""Answers: who may give them, how long they may hold, and what they may change."""

from dataclasses import replace
from typing import Any

import pytest
from tests.approvals.questions import Clock, no, of, only, question, yes
from tests.sample_tools import AMY, WRITE, tool

from sayso.approvals import Approvals, ApprovalState, Question, Strength, patched
from sayso.errors import UsageError
from sayso.intent import Span
from sayso.policy import Require
from sayso.schema import MASK

pytestmark = pytest.mark.anyio

WRITES = tool("customer_update", WRITE)


async def ask(approvals: Approvals, asked: Question) -> int:
    return (await approvals.ask(asked)).number


async def state(approvals: Approvals, number: int) -> ApprovalState:
    found = await approvals.find(number)
    assert found is not None
    return found.state


@pytest.mark.parametrize(
    ("reviewers", "answer", "may"),
    [
        (only("bo"), yes("bo"), True),
        (only("bo"), yes("al"), False),
        (only("bo"), no("al"), False),
        (only("bo"), yes("BO"), False),
        (only("bo"), yes("b\u043e"), False),
        (only(roles=("lead",)), yes("al", roles=frozenset({"lead", "staff"})), True),
        (only(roles=("lead",)), yes("al", roles=frozenset({"staff"})), False),
        (only("bo", roles=("lead",)), yes("bo"), True),
        (only("bo", AMY.subject), yes(AMY.subject), False),
        (only(count=2), yes("al"), True),
    ],
)
async def test_only_those_who_are_named_may_answer(
    approvals: Approvals,
    reviewers: Any,
    answer: Any,
    may: bool,  # noqa: FBT001 - a row of the table above
) -> None:
    number = await ask(approvals, of(WRITES, reviewers=reviewers))
    if may:
        assert await approvals.answer(number, answer)
        return
    with pytest.raises(UsageError):
        await approvals.answer(number, answer)
    assert await state(approvals, number) is ApprovalState.PENDING
    assert await approvals.answers(number) == []


async def test_who_may_answer_is_told(approvals: Approvals) -> None:
    number = await ask(approvals, of(WRITES, reviewers=only("bo", roles=("lead",))))
    with pytest.raises(
        UsageError, match="approval 1: only bo, the role lead may answer this question"
    ):
        await approvals.answer(number, yes("al"))


async def test_two_people_must_agree_and_one_person_counts_once(approvals: Approvals) -> None:
    number = await ask(approvals, of(WRITES, reviewers=only(count=2)))
    assert await approvals.answer(number, yes("al", message="fine"))
    assert not await approvals.answer(number, yes("al"))
    assert await state(approvals, number) is ApprovalState.PENDING
    assert await approvals.answer(number, yes("bo"))
    assert await state(approvals, number) is ApprovalState.APPROVED
    told = [(one.person, one.is_allowed, one.message) for one in await approvals.answers(number)]
    assert told == [("al", True, "fine"), ("bo", True, None)]
    assert not await approvals.answer(number, yes("cy"))


async def test_one_denial_ends_what_several_must_agree_to(approvals: Approvals) -> None:
    number = await ask(approvals, of(WRITES, reviewers=only(count=2)))
    await approvals.answer(number, yes("al"))
    assert await approvals.answer(number, no("bo"))
    assert await state(approvals, number) is ApprovalState.DENIED


async def test_an_answer_over_a_channel_that_policy_does_not_take_is_refused(
    approvals: Approvals,
) -> None:
    asked = replace(question(), channels=("link", "terminal"))
    number = await ask(approvals, asked)
    found = await approvals.find(number)
    assert found is not None
    assert found.question == asked
    with pytest.raises(UsageError, match="no answer over “console”, only over link, terminal"):
        await approvals.answer(number, yes())
    assert await approvals.answer(number, yes(channel="link"))


async def test_a_grant_over_a_channel_that_policy_takes_no_more_serves_nobody(
    approvals: Approvals,
) -> None:
    asked = of(WRITES)
    await approvals.answer(await ask(approvals, asked), yes(span=Span.ALWAYS))
    assert await approvals.granted(replace(asked, channels=("console",))) is not None
    assert await approvals.granted(replace(asked, channels=("link",))) is None


async def test_what_the_client_relays_is_too_weak_for_what_must_be_out_of_band(
    approvals: Approvals,
) -> None:
    number = await ask(approvals, of(WRITES, require=Require.OUT_OF_BAND))
    with pytest.raises(UsageError, match="must be answered out of band"):
        await approvals.answer(number, yes("al", strength=Strength.RELAYED))
    assert await approvals.answer(number, yes("al"))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (no(span=Span.SESSION), "only an approval can apply"),
        (
            yes(span=Span.SESSION, edit={"n": 1}),
            "an approval of edited arguments applies to one call",
        ),
        (
            yes(span=Span.SESSION, seen={"n": 1}),
            "an approval of edited arguments applies to one call",
        ),
        (
            yes(span=Span.SESSION, strength=Strength.RELAYED),
            "that the client relays applies to one",
        ),
        (yes(span=Span.ALWAYS), "answer to this question is “session”"),
        (no(edit={"n": 1}), "only an approval can edit"),
        (yes(edit={"n": float("nan")}), "nan is not a JSON number"),
        (yes(edit={"n": {1, 2}}), "set is not a JSON value"),
        (yes(message="m" * 2001), "longer than 2,000 characters"),
        (no(message="m" * 2001), "longer than 2,000 characters"),
    ],
)
async def test_an_answer_that_goes_too_far_is_refused_and_told_why(
    approvals: Approvals, answer: Any, why: str
) -> None:
    number = await ask(approvals, question())
    with pytest.raises(UsageError, match=why):
        await approvals.answer(number, answer)
    assert await state(approvals, number) is ApprovalState.PENDING


@pytest.mark.parametrize(
    "edit",
    [
        {"password": MASK},
        {"to": [{"header": f"Bearer {MASK}"}]},
        {MASK: 1},
    ],
)
async def test_an_edit_with_a_masked_value_is_refused(approvals: Approvals, edit: Any) -> None:
    number = await ask(approvals, question())
    with pytest.raises(UsageError, match="the edit contains a masked value"):
        await approvals.answer(number, yes(edit=edit))


async def test_an_edit_that_is_nested_too_deeply_is_refused(approvals: Approvals) -> None:
    edit: dict[str, Any] = {}
    for _ in range(100_000):
        edit = {"a": edit}
    number = await ask(approvals, question())
    with pytest.raises(UsageError, match="nested deeper than 200 levels"):
        await approvals.answer(number, yes(edit=edit))


async def test_an_edit_makes_what_others_agreed_to_void(approvals: Approvals) -> None:
    number = await ask(approvals, of(WRITES, reviewers=only(count=2)))
    await approvals.answer(number, yes("al"))
    assert await approvals.answer(number, yes("bo", edit={"n": 2}))
    assert await state(approvals, number) is ApprovalState.PENDING
    assert not await approvals.answer(number, yes("al"))
    assert not await approvals.answer(number, yes("al", seen={"n": 3}))
    assert await approvals.answer(number, yes("al", seen={"n": 2}))
    found = await approvals.find(number)
    assert found is not None
    assert (found.state, found.edit) == (ApprovalState.APPROVED, {"n": 2})


async def test_an_edit_may_be_edited_by_whoever_has_seen_it(approvals: Approvals) -> None:
    number = await ask(approvals, of(WRITES, reviewers=only(count=2)))
    await approvals.answer(number, yes("al", edit={"n": 2}))
    assert await approvals.answer(number, yes("bo", seen={"n": 2}, edit={"n": 3}))
    assert await approvals.answer(number, yes("al", seen={"n": 3}))
    found = await approvals.find(number)
    assert found is not None
    assert (found.state, found.edit) == (ApprovalState.APPROVED, {"n": 3})


async def test_an_edit_of_nothing_is_none(approvals: Approvals) -> None:
    number = await ask(approvals, question())
    await approvals.answer(number, yes(edit={}))
    found = await approvals.find(number)
    assert found is not None
    assert found.edit is None


async def test_a_denial_tells_the_agent_what_the_person_said(
    approvals: Approvals, clock: Clock
) -> None:
    number = await ask(approvals, question())
    await approvals.answer(number, no(message="use the archive instead"))
    (said,) = await approvals.answers(number)
    assert (said.message, said.at, said.strength) == (
        "use the archive instead",
        clock.now,
        "out_of_band",
    )


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        ({"a": None}, {"b": {"c": 1, "d": 2}}),
        ({"b": {"c": None}}, {"a": 1, "b": {"d": 2}}),
        ({"b": 3}, {"a": 1, "b": 3}),
        ({"a": {"x": {"y": None, "z": 1}}}, {"a": {"x": {"z": 1}}, "b": {"c": 1, "d": 2}}),
        ({"e": [None]}, {"a": 1, "b": {"c": 1, "d": 2}, "e": [None]}),
        ({"none": None}, {"a": 1, "b": {"c": 1, "d": 2}}),
        ({}, {"a": 1, "b": {"c": 1, "d": 2}}),
    ],
)
def test_an_edit_is_a_merge_patch(edit: dict[str, Any], found: dict[str, Any]) -> None:
    """RFC 7396, section 2."""
    arguments = {"a": 1, "b": {"c": 1, "d": 2}}
    assert patched(arguments, edit) == found
    assert arguments == {"a": 1, "b": {"c": 1, "d": 2}}
