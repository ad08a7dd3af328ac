"""Putting a question: over which channels, for how long, and what comes back over them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import pytest
from tests.guard.world import World, text, while_waiting, yes
from tests.sample_tools import AMY, DELETE

from sayso.approvals import Answer, Approval, Approvals, Elicit, Rounds, Strength
from sayso.approvals.elicitation import INPUT
from sayso.policy import Principal

pytestmark = pytest.mark.anyio

RELAYED = '[approvals]\nchannels = ["console", "elicitation"]\n'
APPROVE = {INPUT: {"action": "accept", "content": {"approve": True}}}


async def test_patience_is_not_lengthened_by_a_clock_that_is_set_back(world: World) -> None:
    guard = world.timed(patience=0.2)
    world.add("t", DELETE)

    async def set_back() -> None:
        world.clock.now -= 86_400

    answer = await while_waiting(guard, "t", set_back)
    assert answer["_meta"]["io.sayso/approval"]["state"] == "pending"


@dataclass
class Spy:
    """A way to people that only notes what is put over it, or fails."""

    name: str = "link"
    strength: Strength = Strength.OUT_OF_BAND
    fails: bool = False
    put: list[int] = field(default_factory=list[int])

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        del approvals
        self.put.append(approval.number)
        if self.fails:
            raise ValueError("it is down")


async def state_of(world: World, guard: Any, **more: Any) -> str:
    """The state with which a client of 2026-07-28 is sent to its person."""
    answer = await guard.call(AMY, "t", {}, rounds=Rounds(), **more)
    assert answer["resultType"] == "input_required"
    assert (await world.log())[-1] == ("outcome", "input_required")
    return answer["requestState"]


async def test_an_answer_that_a_client_brings_back_counts_at_once(world: World) -> None:
    world.rule(RELAYED.replace('"console"', '"console", "link"'))
    spy = Spy()
    guard = world.timed(patience=0.0, channels=[spy])
    world.add("t", DELETE)
    state = await state_of(world, guard)
    answer = await guard.call(AMY, "t", {}, rounds=Rounds(APPROVE, state))
    assert answer["structuredContent"] == {"n": 1}
    assert spy.put == []
    told = await world.line("outcome")
    assert (told["channel"], told["answered_by"]) == ("elicitation", "a person at “chat”")


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"action": "decline"}, "A person denied this call"),
        ({"action": "accept", "content": {"approve": False}}, "A person denied this call"),
        ({"action": "accept", "content": {"approve": "true"}}, "Not run yet"),
        ({"action": "accept"}, "Not run yet"),
        ({"action": "cancel"}, "Not run yet"),
        ("accept", "Not run yet"),
    ],
)
async def test_what_is_not_a_clear_yes_runs_nothing(world: World, result: Any, said: str) -> None:
    world.rule(RELAYED)
    guard = world.timed()
    world.add("t", DELETE)
    state = await state_of(world, guard)
    answer = await guard.call(AMY, "t", {}, rounds=Rounds({INPUT: result}, state))
    assert said in text(answer)
    assert world.ran == []


async def test_without_keys_a_state_is_not_looked_at_and_nobody_is_asked_in_rounds(
    world: World,
) -> None:
    world.rule(RELAYED)
    guard = world.timed(keys=None)
    world.add("t", DELETE)
    answer = await guard.call(AMY, "t", {}, rounds=Rounds(APPROVE, "made up"))
    assert "Not run yet" in text(answer)
    assert world.ran == []


def client(result: Any) -> Any:
    """A client of an older version, whose person answers so."""

    async def elicit(params: Mapping[str, Any]) -> Mapping[str, Any]:
        assert "May “chat” run “T” on “demo”?" in params["message"]
        if isinstance(result, Exception):
            raise result
        return result

    return Elicit(elicit)


async def test_a_client_that_waits_is_asked_while_the_call_does(world: World) -> None:
    world.rule(RELAYED)
    guard = world.timed(patience=10)
    world.add("t", DELETE)
    yes_said = client(APPROVE[INPUT])
    assert "isError" not in await guard.call(AMY, "t", {}, elicit=yes_said)
    answer = await guard.call(AMY, "t", {"a": 1}, elicit=client({"action": "decline"}))
    assert "A person denied this call" in text(answer)
    assert len(world.ran) == 1


@pytest.mark.parametrize("channels", ['["console"]', '["link", "terminal"]'])
async def test_a_client_is_not_asked_where_policy_has_not_said_so(
    world: World, channels: str
) -> None:
    world.rule(f"[approvals]\nchannels = {channels}")
    guard = world.timed(console=None)
    world.add("t", DELETE)
    answer = await guard.call(AMY, "t", {}, elicit=client(APPROVE[INPUT]), rounds=Rounds())
    assert "no person can be asked" in text(answer)
    assert (await world.log()) == [("outcome", "denied")]


async def test_where_callers_are_known_their_own_client_does_not_answer(world: World) -> None:
    world.rule(RELAYED)
    guard = world.timed(console=None)
    world.add("t", DELETE)
    bo = Principal("bo", "chat", scopes=frozenset())
    answer = await guard.call(bo, "t", {}, elicit=client(APPROVE[INPUT]), rounds=Rounds())
    assert "no person can be asked" in text(answer)
    assert world.ran == []


async def test_what_must_be_answered_out_of_band_is_put_over_no_weaker_channel(
    world: World,
) -> None:
    world.rule(
        '[approvals]\nchannels = ["link", "terminal", "elicitation"]\n'
        '[[rules]]\nname = "r"\neffect = "confirm"\nrequire = "out_of_band"'
    )
    strong, weak = Spy(), Spy("terminal", Strength.RELAYED)
    guard = world.timed(console=None, channels=[strong, weak])
    world.add("t", DELETE)
    await guard.call(AMY, "t", {}, elicit=client(APPROVE[INPUT]), rounds=Rounds())
    assert (strong.put, weak.put) == ([1], [])
    assert world.ran == []


async def test_a_channel_that_fails_does_not_keep_the_others_from_answering(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    guard = world.timed(patience=10, channels=[Spy(fails=True)])
    world.add("t", DELETE)

    async def approve() -> None:
        await guard.approvals.answer(1, yes())

    answer = await while_waiting(guard, "t", approve)
    assert answer["structuredContent"] == {"n": 1}
    assert "the channel link failed for approval 1" in caplog.text


async def test_a_question_that_names_who_may_answer_is_not_put_to_whoever_is_at_the_client(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.rule(
        RELAYED + '[[rules]]\nname = "r"\neffect = "confirm"\nreviewers = { subjects = ["bo"] }'
    )
    guard = world.timed()
    world.add("t", DELETE)
    answer = await guard.call(AMY, "t", {}, elicit=client(APPROVE[INPUT]), rounds=Rounds())
    assert "Not run yet" in text(answer)
    assert caplog.text == ""
    await guard.approvals.answer(1, Answer(is_allowed=True, by="bo", channel="console"))
    assert "isError" not in await guard.call(AMY, "t", {}, rounds=Rounds())
    assert (await world.line("outcome"))["answered_by"] == "bo"


async def test_while_it_waits_the_console_and_its_address_are_told(world: World) -> None:
    told: list[str] = []
    guard = world.timed(console="http://127.0.0.1:1/console/", announce=told.append)
    world.add("t", DELETE)
    await guard.call(AMY, "t", {})
    await guard.call(AMY, "t", {})
    assert (
        told
        == [
            "“T” waits for a person (approval 1) at http://127.0.0.1:1/console/",
        ]
        * 2
    )
    world.rule('[approvals]\nchannels = ["link"]')
    quiet = world.timed(console=None, channels=[Spy()])
    assert text(await quiet.call(AMY, "t", {})).startswith(
        "Not run yet: “T” waits for a person (approval 1). Only"
    )


async def test_progress_goes_on_as_long_as_the_call_waits(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.guard.asking._PROGRESS_SECONDS", 0.01)
    told: list[float] = []

    async def progress(done: float, _total: float | None, _message: str | None) -> None:
        told.append(done)
        if len(told) == 4:
            await guard.approvals.answer(1, yes())

    guard = world.timed(patience=60)
    with anyio.fail_after(60):
        await guard.call(AMY, world.add("t", DELETE), {}, progress=progress)
    # One more may be sent before the call hears of the answer.
    assert len(told) >= 4
    assert told == sorted(told)
    assert len(world.ran) == 1


async def test_a_call_beyond_the_questions_that_may_wait_asks_nobody_and_runs_nothing(
    world: World,
) -> None:
    world.rule("[approvals]\nopen_per_caller = 2\n")
    guard = world.timed(patience=0.0)
    world.add("t", DELETE)
    for index in range(2):
        assert "Not run yet" in text(await guard.call(AMY, "t", {"customer_id": index}))
    renamed = replace(AMY, client="another")
    answer = await guard.call(renamed, "t", {"customer_id": 2})
    assert "2 questions of this caller already wait for an answer" in text(answer)
    assert "Nothing was run" in text(answer)
    assert answer["isError"]
    assert (await world.log())[-1] == ("outcome", "denied")
    assert len(await guard.approvals.pending(9)) == 2
    assert "Not run yet" in text(await guard.call(AMY, "t", {"customer_id": 1}))
    assert "Not run yet" in text(await guard.call(replace(AMY, subject="bo"), "t", {}))
    assert world.ran == []
