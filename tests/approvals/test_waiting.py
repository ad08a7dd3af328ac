"""Waiting calls: one look at the store serves all of them, and none misses its answer."""

import asyncio
from collections.abc import AsyncIterator, Collection
from typing import Any

import anyio
import pytest
from tests.approvals.questions import question
from tests.databases import Place

from sayso.approvals import Answer, Approval, Approvals, ApprovalState, Waiters
from sayso.errors import StoreError
from sayso.store import Database, open_store
from sayso.store.executor import Executor

pytestmark = pytest.mark.anyio

MANY = 40
POLL = "sayso.approvals.ledger._POLL_SECONDS"
NO = Answer(is_allowed=False, by="bo", channel="console")


@pytest.fixture
async def other(place: Place) -> AsyncIterator[Approvals]:
    """The ledger of another process on the same database."""
    store = open_store(place.url)
    yield Approvals.of(store)
    await store.close()


async def until(condition: Any) -> None:
    with anyio.fail_after(30):
        while not condition():
            await anyio.sleep(0.005)


async def test_many_waiting_calls_cost_one_look_at_a_time(
    store: Database, other: Approvals, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = Approvals.of(store)
    numbers = [(await ours.ask(question(customer_id=n))).number for n in range(MANY)]
    reads: list[object] = []
    read = Executor.read

    async def counted(self: Executor, work: Any) -> Any:
        if self is vars(store)["_executor"]:
            reads.append(work)
        return await read(self, work)

    answers: dict[int, str] = {}

    async def wait(number: int) -> None:
        approval = await ours.wait(number, 60)
        answers[number] = approval.state if approval else "gone"

    async with anyio.create_task_group() as group:
        for number in numbers:
            group.start_soon(wait, number)
        # All are registered, and have been looked at once.
        await anyio.wait_all_tasks_blocked()
        monkeypatch.setattr(Executor, "read", counted)
        began = anyio.current_time()
        await other.answer(numbers[7], NO)
        await until(lambda: answers)
        periods = (anyio.current_time() - began) / 0.5 + 1
        assert answers == {numbers[7]: ApprovalState.DENIED}
        # One look per half second, and one by the call that woke: not one for each that waits.
        assert len(reads) <= periods + 2 < MANY
        group.cancel_scope.cancel()


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
async def test_an_answer_from_before_the_wait_is_seen_at_once(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(POLL, 3600.0)
    approvals = Approvals.of(store)
    first = await approvals.ask(question(customer_id=1))
    late = await approvals.ask(question(customer_id=2))
    await approvals.answer(late.number, NO)
    async with anyio.create_task_group() as group:
        group.start_soon(approvals.wait, first.number, 60)
        await until(lambda: len(approvals.waiters) == 1)
        with anyio.fail_after(30):
            found = await approvals.wait(late.number, 60)
        assert found is not None
        assert found.state is ApprovalState.DENIED
        group.cancel_scope.cancel()


async def test_a_question_that_expires_or_disappears_ends_its_wait(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(POLL, 0.02)
    now = [1000.0]
    approvals = Approvals.of(store, clock=lambda: now[0])
    expiring = await approvals.ask(question())
    found: list[Approval | None] = []

    async def wait(number: int) -> None:
        found.append(await approvals.wait(number, 60))

    async with anyio.create_task_group() as group:
        group.start_soon(wait, expiring.number)
        group.start_soon(wait, 99)
        await until(lambda: found == [None])
        now[0] += 1000.0
    assert found[1] is not None
    assert found[1].state is ApprovalState.EXPIRED


async def test_two_calls_that_wait_for_one_question_both_wake(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(POLL, 3600.0)
    approvals = Approvals.of(store)
    asked = await approvals.ask(question())
    states: list[str] = []

    async def wait() -> None:
        approval = await approvals.wait(asked.number, 60)
        states.append(approval.state if approval else "gone")

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            group.start_soon(wait)
            await until(lambda: len(approvals.waiters) == 1)
            await approvals.answer(asked.number, NO)
    assert states == ["denied", "denied"]


async def test_a_store_that_fails_ends_each_wait_with_its_error(store: Database) -> None:
    approvals = Approvals.of(store)
    asked = await approvals.ask(question())
    errors: list[StoreError] = []

    async def wait(number: int) -> None:
        try:
            await approvals.wait(number, 60)
        except StoreError as error:
            errors.append(error)

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            for number in (asked.number, asked.number, 99):
                group.start_soon(wait, number)
            await store.close()
    assert [str(error) for error in errors] != []
    assert len(approvals.waiters) == 0


async def test_the_last_waiter_ends_the_task_that_looks() -> None:
    looked: list[int] = []

    async def look(keys: Collection[int]) -> Collection[int]:
        looked.extend(keys)
        return ()

    waiters = Waiters(look, lambda: 3600.0)
    before = asyncio.all_tasks()
    async with anyio.create_task_group() as group:
        group.start_soon(waiters.wait, 1)
        group.start_soon(waiters.wait, 2)
        await until(lambda: sorted(looked) == [1, 2])
        group.cancel_scope.cancel()
    await until(lambda: asyncio.all_tasks() <= before)
    assert len(waiters) == 0


async def test_a_look_that_fails_lets_each_look_for_itself_and_goes_on() -> None:
    results: list[Any] = [OSError("gone"), OSError("gone"), [1]]

    async def look(keys: Collection[int]) -> Collection[int]:
        result = results.pop(0) if len(results) > 1 else results[0]
        if isinstance(result, OSError):
            raise result
        return [key for key in keys if key in result]

    waiters = Waiters(look, lambda: 0.001)
    with anyio.fail_after(30):
        for _ in range(3):
            await waiters.wait(1)
    assert len(waiters) == 0
