"""The line of one agent's calls: who runs when, whatever they do while they are there."""

from dataclasses import dataclass, field

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.guard.ordering import CallQueue, Turn

LIMIT = 20

few = st.integers(0, 4)


@dataclass(frozen=True)
class Plan:
    """The pauses of one call: before its turn, during it, and each time away."""

    is_read: bool
    before: int
    inside: int
    away: tuple[int, ...]
    cancelled_after: int | None


plans = st.builds(
    Plan,
    is_read=st.booleans(),
    before=few,
    inside=few,
    away=st.lists(few, max_size=2).map(tuple),
    cancelled_after=st.none() | st.integers(0, 8),
)


@dataclass
class Line:
    """Calls that run as planned; says at each start whether it may be."""

    plans: list[Plan]
    turns: CallQueue = field(default_factory=CallQueue)
    place: dict[int, str] = field(default_factory=dict[int, str])
    wrong: list[str] = field(default_factory=list[str])
    done: set[int] = field(default_factory=set[int])

    async def run(self) -> None:
        drawn = [(number, self.turns.draw()) for number in range(len(self.plans))]
        with anyio.fail_after(LIMIT):
            async with anyio.create_task_group() as group:
                for number, turn in drawn:
                    group.start_soon(self._call, number, turn)

    async def _call(self, number: int, turn: Turn) -> None:
        plan = self.plans[number]
        scope = anyio.CancelScope()
        async with anyio.create_task_group() as group:
            if plan.cancelled_after is not None:
                group.start_soon(_cancel, scope, plan.cancelled_after)
            with scope:
                try:
                    await self._work(number, turn, plan)
                finally:
                    turn.leave()
                    self.place[number] = "gone"

    async def _work(self, number: int, turn: Turn, plan: Plan) -> None:
        await _rest(plan.before)
        if plan.is_read:
            turn.leave()
            # Out of line, nothing holds it up.
            with anyio.CancelScope(shield=True):
                await turn.take()
            await _rest(plan.inside)
            self.done.add(number)
            return
        await turn.take()
        self._begin(number)
        for times in plan.away:
            await _rest(plan.inside)
            self.place[number] = "away"
            async with turn.away():
                await _rest(times)
            self._begin(number)
        await _rest(plan.inside)
        self.done.add(number)

    def _begin(self, number: int) -> None:
        """Note that a write begins or goes on, and what was wrong with that."""
        running = [one for one, place in self.place.items() if place == "running"]
        self.wrong += [f"{number} runs beside {one}" for one in running if one != number]
        for one in range(number):
            place = self.place.get(one)
            if not self.plans[one].is_read and place not in {"away", "gone"}:
                self.wrong.append(f"{number} overtakes {one}, which is {place}")
        self.place[number] = "running"


async def _rest(times: int) -> None:
    for _ in range(times):
        await anyio.lowlevel.checkpoint()


async def _cancel(scope: anyio.CancelScope, after: int) -> None:
    await _rest(after)
    scope.cancel()


@given(st.lists(plans, max_size=8))
def test_writes_never_overlap_and_keep_their_order_unless_they_wait_for_a_person(
    wanted: list[Plan],
) -> None:
    line = Line(wanted)
    anyio.run(line.run)
    assert line.wrong == []
    kept = {number for number, plan in enumerate(wanted) if plan.cancelled_after is None}
    assert kept <= line.done


@pytest.mark.anyio
async def test_who_comes_back_from_a_person_waits_for_whoever_runs() -> None:
    turns = CallQueue()
    first, second = turns.draw(), turns.draw()
    await first.take()
    is_back = anyio.Event()
    answered = anyio.Event()

    async def wait() -> None:
        async with first.away():
            await answered.wait()
        is_back.set()

    with anyio.fail_after(LIMIT):
        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await second.take()
            answered.set()
            await anyio.wait_all_tasks_blocked()
            assert not is_back.is_set()
            second.leave()
            await is_back.wait()


@pytest.mark.anyio
async def test_who_is_cancelled_in_line_holds_nobody_up() -> None:
    turns = CallQueue()
    first, second, third = (turns.draw() for _ in range(3))
    await first.take()
    with anyio.fail_after(LIMIT):
        async with anyio.create_task_group() as group:
            group.start_soon(second.take)
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()
        second.leave()
        second.leave()
        first.leave()
        await third.take()
