"""Leading the caller's person to the page of a question: when, and what is made of the answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from tests.guard.test_asking import Spy
from tests.guard.world import World, asked, text, while_waiting, yes
from tests.sample_tools import AMY, DELETE

from sayso.approvals import Answer, Elicit, Rounds
from sayso.approvals.elicitation import FORM, INPUT, URL
from sayso.policy import Principal

pytestmark = pytest.mark.anyio

CONSOLE = "http://127.0.0.1:1/console/"
PAGE = f"{CONSOLE}approvals/1"
LED = frozenset({URL})
BOTH = frozenset({FORM, URL})
OLD = "2025-11-25"
DECLINED = {"action": "decline"}
FORGED = {"action": "accept", "content": {"approve": True}}


@dataclass
class Desk:
    """A client of an older version, and the person at it, who says `result` to what it shows."""

    result: Mapping[str, Any] | None = None
    modes: frozenset[str] = BOTH
    sent: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    told: list[str] = field(default_factory=list[str])

    async def send(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        self.sent.append(params)
        if self.result is None:
            await anyio.sleep_forever()
        return self.result or {}

    async def complete(self, elicitation: str) -> None:
        self.told.append(elicitation)

    @property
    def elicit(self) -> Elicit:
        return Elicit(self.send, self.modes, self.complete)


def back(result: Any, modes: frozenset[str] = BOTH) -> Rounds:
    """Return the rounds of a client of 2026-07-28."""
    return Rounds({INPUT: result}, modes=modes)


async def test_a_client_of_2026_is_led_to_the_page_first(world: World) -> None:
    guard = world.timed(console=CONSOLE)
    answer = await guard.call(AMY, world.add("t", DELETE), {}, rounds=Rounds(modes=BOTH))
    assert answer["resultType"] == "input_required"
    assert answer["inputRequests"][INPUT]["params"]["url"] == PAGE
    assert await world.log() == [("asked", None), ("outcome", "input_required")]


@pytest.mark.parametrize("result", [{"action": "accept"}, FORGED, {"action": "cancel"}, "accept"])
async def test_what_it_brings_back_is_no_approval(world: World, result: Any) -> None:
    guard = world.timed(console=CONSOLE)
    answer = await guard.call(AMY, world.add("t", DELETE), {}, rounds=back(result))
    assert "Not run yet" in text(answer)
    assert (await asked(guard)).state == "pending"
    assert await guard.approvals.answers(1) == []
    assert world.ran == []


async def test_it_waits_for_the_page_and_then_runs_once(world: World) -> None:
    guard = world.timed(console=CONSOLE, patience=10)
    await guard.call(AMY, world.add("t", DELETE), {}, rounds=Rounds(modes=BOTH))

    async def approve() -> None:
        await guard.approvals.answer(1, yes())

    answer = await while_waiting(guard, "t", approve, rounds=back({"action": "accept"}))
    assert answer["structuredContent"] == {"n": 1}
    assert (await world.line("outcome"))["channel"] == "console"
    assert len(world.ran) == 1


async def test_whoever_answered_before_it_came_back_is_enough(world: World) -> None:
    guard = world.timed(console=CONSOLE, patience=0)
    await guard.call(AMY, world.add("t", DELETE), {}, rounds=Rounds(modes=BOTH))
    await guard.approvals.answer(1, yes())
    declined = back(DECLINED)
    assert "isError" not in await guard.call(AMY, "t", {}, rounds=declined)


async def test_declining_ends_the_wait_and_leaves_the_question_to_the_console(
    world: World,
) -> None:
    guard = world.timed(console=CONSOLE, patience=60)
    with anyio.fail_after(60):
        answer = await guard.call(AMY, world.add("t", DELETE), {}, rounds=back(DECLINED))
        again = await guard.call(AMY, "t", {}, elicit=Desk(DECLINED).elicit)
    for one in (answer, again):
        assert text(one).startswith("Not run: the person at the client did not open the page")
        assert CONSOLE in text(one)
        assert one["_meta"]["io.sayso/approval"] == {"number": 1, "state": "pending"}
    assert await guard.approvals.answers(1) == []
    assert world.ran == []


@pytest.mark.parametrize("era", ["2026-07-28", OLD])
async def test_whoever_else_is_asked_is_still_waited_for_when_the_page_is_declined(
    world: World, era: str
) -> None:
    spy = Spy()
    guard, desk = world.timed(console=CONSOLE, patience=10, channels=[spy]), Desk(DECLINED)
    world.add("t", DELETE)

    async def approve() -> None:
        with anyio.fail_after(60):
            while not spy.put:
                await anyio.sleep(0.005)
        await guard.approvals.answer(1, Answer(is_allowed=True, by="ann", channel="link"))

    way: dict[str, Any] = {"rounds": back(DECLINED)} if era > OLD else {"elicit": desk.elicit}
    answer = await while_waiting(guard, "t", approve, **way)
    assert answer["structuredContent"] == {"n": 1}
    assert spy.put == [1]


async def test_others_get_the_question_before_the_call_goes_back_to_its_client(
    world: World,
) -> None:
    spy = Spy()
    guard = world.timed(console=CONSOLE, channels=[spy])
    answer = await guard.call(AMY, world.add("t", DELETE), {}, rounds=Rounds(modes=BOTH))
    assert answer["resultType"] == "input_required"
    assert spy.put == [1]


class Quick(Spy):
    """Somebody who answers at once."""

    async def offer(self, approvals: Any, approval: Any) -> None:
        await super().offer(approvals, approval)
        said = Answer(is_allowed=True, by="ann", channel="link")
        await approvals.answer(approval.number, said)


class Slow(Spy):
    """Somebody who holds the question until it is taken away."""

    async def offer(self, approvals: Any, approval: Any) -> None:
        await super().offer(approvals, approval)
        await anyio.sleep_forever()


async def test_where_one_of_them_answers_at_once_the_client_is_not_asked(world: World) -> None:
    guard = world.timed(console=CONSOLE, channels=[Quick()])
    answer = await guard.call(AMY, world.add("t", DELETE), {}, rounds=Rounds(modes=BOTH))
    assert answer["structuredContent"] == {"n": 1}


async def test_one_that_holds_the_question_does_not_hold_up_the_client(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.guard.asking._POST_SECONDS", 0.05)
    guard = world.timed(console=CONSOLE, channels=[Slow()], patience=60)
    with anyio.fail_after(60):
        answer = await guard.call(AMY, world.add("t", DELETE), {}, rounds=Rounds(modes=BOTH))
    assert answer["resultType"] == "input_required"


async def test_an_older_client_is_led_there_while_the_call_waits_and_told_when_it_is_over(
    world: World,
) -> None:
    guard, desk = world.timed(console=CONSOLE, patience=10), Desk({"action": "accept"})
    world.add("t", DELETE)

    async def approve() -> None:
        with anyio.fail_after(60):
            while not desk.sent:
                await anyio.sleep(0.005)
        await guard.approvals.answer(1, yes())

    answer = await while_waiting(guard, "t", approve, elicit=desk.elicit)
    assert answer["structuredContent"] == {"n": 1}
    assert [one["mode"] for one in desk.sent] == ["url"]
    assert desk.told == [desk.sent[0]["elicitationId"]]


@pytest.mark.parametrize("result", [{"action": "accept"}, FORGED, {"action": "cancel"}, {}, None])
async def test_an_older_client_that_says_so_at_once_approves_nothing(
    world: World, result: Mapping[str, Any] | None
) -> None:
    guard, desk = world.timed(console=CONSOLE, patience=0.2), Desk(result)
    answer = await guard.call(AMY, world.add("t", DELETE), {}, elicit=desk.elicit)
    assert "Not run yet" in text(answer)
    assert (len(desk.sent), desk.told, world.ran) == (1, [], [])


async def test_where_the_client_may_answer_itself_it_gets_the_form(world: World) -> None:
    world.rule('[approvals]\nchannels = ["console", "elicitation"]')
    guard, desk = world.timed(console=CONSOLE, patience=10), Desk(FORGED)
    world.add("t", DELETE)
    asked_back = await guard.call(AMY, "t", {}, rounds=Rounds(modes=BOTH))
    assert asked_back["inputRequests"][INPUT]["params"]["mode"] == "form"
    assert "isError" not in await guard.call(AMY, "t", {}, elicit=desk.elicit)
    assert [one["mode"] for one in desk.sent] == ["form"]


async def test_a_client_that_shows_no_forms_is_sent_none(world: World) -> None:
    world.rule('[approvals]\nchannels = ["console", "elicitation"]')
    guard, desk = world.timed(console=CONSOLE, patience=0.2), Desk(FORGED, LED)
    world.add("t", DELETE)
    led = await guard.call(AMY, "t", {}, rounds=Rounds(modes=LED))
    assert led["inputRequests"][INPUT]["params"]["mode"] == "url"
    await guard.call(AMY, "t", {}, elicit=desk.elicit)
    assert [one["mode"] for one in desk.sent] == ["url"]
    assert "Not run yet" in text(await guard.call(AMY, "t", {}, rounds=back(FORGED, LED)))
    no_console = world.timed(console=None)
    answer = await no_console.call(AMY, "t", {}, rounds=Rounds(modes=LED), elicit=desk.elicit)
    assert "no person can be asked" in text(answer)
    assert world.ran == []


BO = Principal("bo", "chat", scopes=frozenset())
NAMED = '[[rules]]\nname = "r"\neffect = "confirm"\nreviewers = { subjects = ["cy"] }'


@pytest.mark.parametrize(
    ("rule", "console", "by", "modes"),
    [
        ("", "the console", AMY, BOTH),
        ("", CONSOLE, BO, BOTH),
        ("", CONSOLE, AMY, frozenset({FORM})),
        (NAMED, CONSOLE, AMY, BOTH),
        ('[approvals]\nchannels = ["link"]', CONSOLE, AMY, BOTH),
    ],
    ids=["no address", "known", "no pages", "named", "no console"],
)
async def test_nobody_is_led_where_there_is_no_page_or_it_is_not_for_them(
    world: World, rule: str, console: str, by: Principal, modes: frozenset[str]
) -> None:
    world.rule(rule)
    guard, desk = world.timed(console=console, channels=[Spy()]), Desk(FORGED, modes)
    world.add("t", DELETE)
    for rounds, elicit in ((Rounds(modes=modes), None), (None, desk.elicit)):
        answer = await guard.call(by, "t", {}, rounds=rounds, elicit=elicit)
        assert "Not run yet" in text(answer)
    assert (desk.sent, world.ran) == ([], [])


async def test_what_a_call_brings_along_for_its_tool_is_not_lost_by_asking(world: World) -> None:
    guard = world.timed(console=CONSOLE)
    world.add("t", DELETE)
    for rounds in (Rounds({"own": {}}, modes=BOTH), Rounds(state="own", modes=BOTH)):
        assert "Not run yet" in text(await guard.call(AMY, "t", {}, rounds=rounds))
