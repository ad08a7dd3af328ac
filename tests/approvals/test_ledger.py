"""Questions: what they are bound to, who may answer them, and what wakes a waiting call."""

from dataclasses import replace

import anyio
import pytest
from tests.approvals.questions import DECISION, Clock, question
from tests.sample_tools import AMY, DELETE, tool

from sayso.approvals import (
    Answer,
    Approval,
    Approvals,
    ApprovalState,
    make_question,
)
from sayso.errors import UsageError
from sayso.policy import Principal
from sayso.schema import MASK, digest

pytestmark = pytest.mark.anyio


def test_a_question_is_bound_to_caller_client_tool_and_arguments() -> None:
    changed_tool = tool(annotations=DELETE, description="Now it deletes more.")
    others = [
        question(Principal("somebody", "chat")),
        question(Principal(AMY.subject, "another client")),
        question(customer_id=8),
        question(customer_id="7"),
        make_question(AMY, changed_tool, {"customer_id": 7}, DECISION, digest({"customer_id": 7})),
        make_question(
            AMY,
            tool("customer_destroy", DELETE),
            {"customer_id": 7},
            DECISION,
            digest({"customer_id": 7}),
        ),
    ]
    bindings = {one.binding for one in [question(), *others]}
    assert len(bindings) == 1 + len(others)
    assert question().binding == question().binding


async def test_what_a_person_reads_is_kept_and_secrets_are_not(approvals: Approvals) -> None:
    asked = question(customer_id=7, api_key="sk-live-0123456789abcdef")
    found = await approvals.find((await approvals.ask(asked)).number)
    assert found is not None
    assert found.question == asked
    assert found.question.arguments == {"customer_id": 7, "api_key": MASK}
    assert found.question.title == "Delete customer"
    assert found.question.hints["destructive"] == {"value": True, "source": "declared"}


async def test_an_answer_wakes_the_call_that_waits(approvals: Approvals) -> None:
    asked = await approvals.ask(question())
    found: Approval | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(_allow, approvals, asked.number)
        found = await approvals.wait(asked.number, 5)
    assert found is not None
    assert (found.state, found.answered_by) == (ApprovalState.APPROVED, "console")


async def test_an_answer_given_by_another_process_is_seen(approvals: Approvals) -> None:
    asked = await approvals.ask(question())
    elsewhere = replace(approvals)
    found: Approval | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(_allow, elsewhere, asked.number)
        found = await approvals.wait(asked.number, 5)
    assert found is not None
    assert found.state is ApprovalState.APPROVED


async def test_waiting_ends_with_its_time(approvals: Approvals) -> None:
    asked = await approvals.ask(question())
    found = await approvals.wait(asked.number, 0.01)
    assert found is not None
    assert found.state is ApprovalState.PENDING
    assert await approvals.wait(99, 0.01) is None


async def test_the_second_answer_does_not_count(approvals: Approvals) -> None:
    asked = await approvals.ask(question())
    assert await _allow(approvals, asked.number)
    assert not await approvals.answer(
        asked.number, Answer(is_allowed=False, by="bo", channel="console")
    )
    assert (await approvals.newest())[0].state is ApprovalState.APPROVED


async def test_nobody_answers_their_own_question(approvals: Approvals) -> None:
    asked = await approvals.ask(question())
    with pytest.raises(UsageError, match="another person must answer"):
        await approvals.answer(
            asked.number, Answer(is_allowed=True, by=AMY.subject, channel="console")
        )
    with pytest.raises(UsageError, match="no approval 99"):
        await _allow(approvals, 99)


async def test_an_approval_is_used_once_and_in_time(approvals: Approvals, clock: Clock) -> None:
    asked = await approvals.ask(question())
    await _allow(approvals, asked.number)
    other = replace(asked, question=question(customer_id=8))
    assert not await approvals.use(other, call="c")
    clock.now += 299
    assert await approvals.use(asked, call="c")
    assert not await approvals.use(asked, call="d")


async def test_an_approval_that_was_not_used_in_time_is_gone(
    approvals: Approvals, clock: Clock
) -> None:
    asked = await approvals.ask(question())
    await _allow(approvals, asked.number)
    clock.now += 301
    assert not await approvals.use(asked, call="c")


async def test_a_clock_that_was_set_back_does_not_give_an_approval_twice(
    approvals: Approvals, clock: Clock
) -> None:
    asked = await approvals.ask(question())
    await _allow(approvals, asked.number)
    assert await approvals.use(asked, call="c")
    clock.now -= 10_000
    assert not await approvals.use(asked, call="d")


async def _allow(approvals: Approvals, number: int) -> bool:
    return await approvals.answer(number, Answer(is_allowed=True, by="console", channel="console"))
