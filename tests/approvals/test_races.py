"""64 at once over 2 processes: what may happen once happens once."""

import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.approvals.racers import KEYS, RUNNERS, Race, guard_of, line_of
from tests.databases import Place
from tests.sample_tools import AMY

from sayso.approvals import Answer, ApprovalState, Rounds
from sayso.audit import open_audit
from sayso.audit.verifier import verify
from sayso.guard import Guard
from sayso.intent import Span
from sayso.store import open_store

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[2]
ALL = 2 * RUNNERS
Racers = list["subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def racers() -> Iterator[Racers]:
    """Two processes that race whenever they are told to."""
    found = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.approvals.racers", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )
        for name in "ab"
    ]
    yield found
    for one in found:
        one.communicate(timeout=30)
        assert one.returncode == 0


def start(racers: Racers, race: Race) -> None:
    for words in (line_of(race), "go\n"):
        for one in racers:
            assert one.stdin is not None
            one.stdin.write(words)
            one.stdin.flush()
        if words != "go\n":
            assert [hear(one) for one in racers] == ["ready"] * 2


def hear(racer: "subprocess.Popen[str]") -> Any:
    assert racer.stdout is not None
    return json.loads(racer.stdout.readline())


def results(racers: Racers) -> list[Any]:
    got: list[Any] = []
    for one in racers:
        while not isinstance(told := hear(one), dict):
            assert told == "running"
        got += told["got"]
    assert len(got) == ALL
    return got


def ran(race: Race) -> list[Any]:
    journal = Path(race.journal)
    lines = journal.read_text().splitlines() if journal.exists() else []
    return [json.loads(line) for line in lines]


@pytest.fixture
def race(place: Place, tmp_path: Path) -> Race:
    return Race(place.url, str(tmp_path / "journal"), "")


def of_kind(race: Race, kind: str, **more: Any) -> Race:
    return Race(race.url, race.journal, kind, **more)


@asynccontextmanager
async def guarding(race: Race) -> AsyncGenerator[Guard]:
    """A guard here, beside the racers; at the end the log is as it was written."""
    store = open_store(race.url)
    async with open_audit(store, KEYS) as log:
        yield guard_of(race, store, log)
    assert (await verify(store.records, KEYS)).problems == []
    await store.close()


async def test_of_64_people_who_answer_one_question_one_does(racers: Racers, race: Race) -> None:
    async with guarding(race) as guard:
        await guard.call(AMY, "delete", {"n": 1})
        start(racers, of_kind(race, "answer", number=1))
        assert sum(results(racers)) == 1
        found = await guard.approvals.find(1)
        assert found is not None
        assert found.state is ApprovalState.APPROVED
        said = await guard.approvals.answers(1)
        assert [one.person for one in said] == [found.answered_by]
        start(racers, of_kind(race, "delete"))
        assert sum(one.startswith("done") for one in results(racers)) == 1
        assert len(ran(race)) == 1


async def test_of_64_replays_of_one_state_one_runs(racers: Racers, race: Race) -> None:
    async with guarding(race) as guard:
        asked = await guard.call(AMY, "delete", {"n": 1}, rounds=Rounds())
        assert asked["resultType"] == "input_required"
        start(racers, of_kind(race, "replay", state=asked["requestState"]))
        got = results(racers)
        assert sum(one.startswith("done") for one in got) == 1
        assert sum("the state " in one for one in got) == ALL - 1
        assert len(ran(race)) == 1
        states = [one.state for one in await guard.approvals.newest()]
        assert states.count(ApprovalState.USED) == 1
        assert ApprovalState.APPROVED not in states


async def test_of_64_replays_of_a_state_that_was_dismissed_none_runs(
    racers: Racers, race: Race
) -> None:
    async with guarding(race) as guard:
        asked = await guard.call(AMY, "delete", {"n": 1}, rounds=Rounds())
        state = asked["requestState"]
        dismissed = Rounds({"io.sayso/approval": {"action": "cancel"}}, state)
        await guard.call(AMY, "delete", {"n": 1}, rounds=dismissed)
        start(racers, of_kind(race, "replay", state=state))
        assert all("the state was already used" in one for one in results(racers))
        assert ran(race) == []


async def test_of_64_calls_under_a_limit_of_5_a_minute_5_run(racers: Racers, race: Race) -> None:
    start(racers, of_kind(race, "write", policy="five"))
    got = results(racers)
    assert sum(one.startswith("done") for one in got) == 5
    assert sum("the limit of 5" in one for one in got) == ALL - 5
    assert len(ran(race)) == 5


async def test_of_64_calls_with_one_key_one_runs_and_all_get_its_answer(
    racers: Racers, race: Race
) -> None:
    start(racers, of_kind(race, "keyed"))
    got = results(racers)
    ((call, _),) = ran(race)
    assert set(got) == {f"done by {call}"}


async def test_nothing_is_sent_on_a_grant_once_it_is_taken_back(racers: Racers, race: Race) -> None:
    async with guarding(race) as guard:
        await guard.call(AMY, "delete", {"n": 0})
        said = Answer(is_allowed=True, by="bob", channel="console", span=Span.SESSION)
        assert await guard.approvals.answer(1, said)
        start(racers, of_kind(race, "clear"))
        for one in racers:
            assert hear(one) == "running"
        assert await guard.approvals.revoke(1, by="bob")
        sent_before = await _sent_on_the_grant(guard)
        assert sum(results(racers)) == len(ran(race))
        assert await _sent_on_the_grant(guard) == sent_before
        assert {call for call, _ in ran(race)} == sent_before
        assert len(sent_before) > 2


async def _sent_on_the_grant(guard: Guard) -> set[str]:
    rows = await guard.audit.newest(limit=1_000_000)
    return {row.call for row in rows if row.event == "attempt" and json.loads(row.body)["grant"]}


async def test_where_two_must_agree_two_of_64_do_and_one_call_runs(
    racers: Racers, race: Race
) -> None:
    race = of_kind(race, "", reviewers=2)
    async with guarding(race) as guard:
        await guard.call(AMY, "delete", {"n": 1})
        start(racers, of_kind(race, "answer", number=1, reviewers=2))
        assert sum(results(racers)) == 2
        assert len({one.person for one in await guard.approvals.answers(1)}) == 2
        start(racers, of_kind(race, "delete", reviewers=2))
        assert sum(one.startswith("done") for one in results(racers)) == 1
        assert len(ran(race)) == 1
        found = await guard.approvals.find(1)
        assert found is not None
        assert found.state is ApprovalState.USED


async def test_an_edit_voids_what_was_agreed_to_before_it_whoever_agrees_meanwhile(
    racers: Racers, race: Race
) -> None:
    race = of_kind(race, "", reviewers=ALL)
    async with guarding(race) as guard:
        await guard.call(AMY, "delete", {"n": 1})
        start(racers, of_kind(race, "edit", number=1, reviewers=ALL))
        assert results(racers).count(True) >= 1
        found = await guard.approvals.find(1)
        assert found is not None
        assert (found.state, found.edit) == (ApprovalState.PENDING, {"n": 2})
        assert [one.person for one in await guard.approvals.answers(1)] == ["a0"]


async def test_an_edit_needs_the_word_of_those_who_agreed_before_it_and_then_runs(
    race: Race,
) -> None:
    race = of_kind(race, "", reviewers=2)
    async with guarding(race) as guard:
        await guard.call(AMY, "delete", {"n": 1})

        async def say(by: str, **more: Any) -> bool:
            said = Answer(is_allowed=True, by=by, channel="console", **more)
            return await guard.approvals.answer(1, said)

        assert await say("bob")
        assert await say("eve", edit={"n": 2})
        assert not await say("bob")
        assert "Not run yet" in (await guard.call(AMY, "delete", {"n": 1}))["content"][0]["text"]
        assert await say("bob", seen={"n": 2})
        answer = await guard.call(AMY, "delete", {"n": 1})
        assert answer["content"][0]["text"].startswith("done")
        ((_, arguments),) = ran(race)
        assert arguments == {"n": 2}
