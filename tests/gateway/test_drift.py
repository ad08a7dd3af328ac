"""A server that changes its tools: what permits more waits for a person, wherever sayso runs."""

import json
import logging
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.connect.servers.web import MODERN
from tests.connect.serving import raw_client
from tests.gateway.changing import DESTROYS, READS, WRITES, Changing, entry
from tests.gateway.serving import serve
from tests.gateway.test_upstream import running

from sayso.approvals import Answer
from sayso.audit import AuditLog
from sayso.catalog import Tool, make_tool
from sayso.errors import StoreError
from sayso.gateway import drift as drift_module
from sayso.gateway import tool_cache as roster_module
from sayso.gateway.drift import DriftDetector, accept, held_changes
from sayso.intent import Level, Span, Trust
from sayso.policy import LOCAL, Policy, Principal, load_policy, seen_under
from sayso.store import Database, open_store

pytestmark = pytest.mark.anyio


def tool(annotations: dict[str, Any], name: str = "note", **more: Any) -> Tool:
    return make_tool("c", entry(annotations, name, **more))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Database]:
    opened = open_store(f"sqlite:{tmp_path / 'sayso.db'}")
    yield opened
    await opened.close()


@pytest.fixture
def changing(tmp_path: Path) -> Changing:
    return Changing(tmp_path / "tools.json")


class Timer:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def watch(
    store: Database, policy: Policy | None = None, place: str = "p", timer: Timer | None = None
) -> DriftDetector:
    under = policy or Policy()
    return DriftDetector(store.definitions, place, "c", lambda: under, timer=timer or Timer())


async def judged(one: DriftDetector, *tools: Tool) -> list[Level]:
    """The levels that count."""
    found, problems = await one.judge(tools)
    assert problems == []
    return [tool.level for tool in found]


async def test_the_first_sight_of_a_server_is_no_drift(store: Database) -> None:
    assert await judged(watch(store), tool(READS)) == [Level.READ]
    assert await held_changes(store.definitions) == []


async def test_a_change_that_permits_more_is_held_after_a_restart_too(store: Database) -> None:
    assert await judged(watch(store), tool(DESTROYS)) == [Level.DESTRUCTIVE]
    again = watch(store)
    for _ in range(3):
        assert await judged(again, tool(READS)) == [Level.DESTRUCTIVE]
    (held,) = await held_changes(store.definitions)
    assert (held.known.level, held.now.level) == (Level.DESTRUCTIVE, Level.READ)
    assert await judged(watch(store), tool(READS)) == [Level.DESTRUCTIVE]


async def test_once_a_person_accepts_it_counts_everywhere(store: Database) -> None:
    here, there = watch(store), watch(store)
    await judged(here, tool(DESTROYS))
    assert await judged(here, tool(READS)) == [Level.DESTRUCTIVE]
    assert await judged(there, tool(READS)) == [Level.DESTRUCTIVE]
    (held,) = await held_changes(store.definitions)
    assert await accept(AuditLog(store.records), store.definitions, held, by="bo")
    assert not await accept(AuditLog(store.records), store.definitions, held, by="bo")
    for one in (here, there, watch(store)):
        assert await judged(one, tool(READS)) == [Level.READ]
    (row,) = await AuditLog(store.records).newest()
    body = json.loads(row.body)
    assert (row.event, body["subject"], body["tool"]) == ("accepted", "bo", "note")
    assert (body["was"], body["is"]) == (tool(DESTROYS).fingerprint, tool(READS).fingerprint)


async def test_what_was_accepted_is_not_what_came_after_it(store: Database) -> None:
    timer = Timer()
    here = watch(store, timer=timer)
    await judged(here, tool(DESTROYS))
    await judged(here, tool(READS))
    (held,) = await held_changes(store.definitions)
    timer.now += 60
    assert await judged(here, tool(READS, description="other")) == [Level.DESTRUCTIVE]
    assert not await accept(AuditLog(store.records), store.definitions, held, by="bo")
    assert await judged(here, tool(READS)) == [Level.DESTRUCTIVE]


async def test_a_tightening_counts_at_once_and_the_way_back_is_held(store: Database) -> None:
    here = watch(store)
    assert await judged(here, tool(READS)) == [Level.READ]
    assert await judged(here, tool(DESTROYS)) == [Level.DESTRUCTIVE]
    assert await judged(watch(store), tool(READS)) == [Level.DESTRUCTIVE]


async def test_a_tool_that_vanished_and_came_back_looser_is_held(store: Database) -> None:
    here = watch(store)
    await judged(here, tool(DESTROYS), tool(READS, "other"))
    await judged(here, tool(READS, "other"))
    assert await judged(here, tool(READS), tool(READS, "other")) == [Level.DESTRUCTIVE, Level.READ]


async def test_other_words_are_no_loosening_and_are_what_is_known_from_then_on(
    store: Database,
) -> None:
    here = watch(store)
    await judged(here, tool(WRITES))
    assert await judged(here, tool(WRITES, description="other")) == [Level.WRITE]
    assert await held_changes(store.definitions) == []
    (row,) = await store.definitions.all()
    assert row.mark == tool(WRITES, description="other").fingerprint


async def test_what_a_person_accepted_stays_accepted_however_it_alternates(store: Database) -> None:
    here = watch(store)
    await judged(here, tool(DESTROYS))
    await judged(here, tool(READS))
    (held,) = await held_changes(store.definitions)
    await accept(AuditLog(store.records), store.definitions, held, by="bo")
    assert await judged(here, tool(READS)) == [Level.READ]
    assert await judged(here, tool(DESTROYS)) == [Level.DESTRUCTIVE]
    assert await judged(here, tool(READS)) == [Level.READ]
    assert await judged(here, tool(READS, description="new")) == [Level.DESTRUCTIVE]


async def test_a_server_that_alternates_writes_once_a_minute_in_place(
    store: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, drift_module.__name__)
    here = watch(store)
    await judged(here, tool(DESTROYS))
    for number in range(50):
        assert await judged(here, tool(READS, description=f"{number}")) == [Level.DESTRUCTIVE]
        assert await judged(here, tool(DESTROYS)) == [Level.DESTRUCTIVE]
    (row,) = await store.definitions.all()
    assert row.revision == 2
    assert len(caplog.messages) == 1
    assert "sayso drift" in caplog.text


async def test_a_server_that_keeps_rewording_writes_once_a_minute_in_place(store: Database) -> None:
    timer = Timer()
    here = watch(store, timer=timer)
    for number in range(50):
        assert await judged(here, tool(WRITES, description=f"{number}")) == [Level.WRITE]
    (row,) = await store.definitions.all()
    assert row.revision == 2
    timer.now += 60
    await judged(here, tool(WRITES, description="49"))
    (row,) = await store.definitions.all()
    assert row.mark == tool(WRITES, description="49").fingerprint


async def test_what_is_taken_back_waits_for_nobody_any_more(store: Database) -> None:
    timer = Timer()
    here = watch(store, timer=timer)
    await judged(here, tool(DESTROYS))
    await judged(here, tool(READS))
    await judged(here, tool(DESTROYS))
    assert len(await held_changes(store.definitions)) == 1
    timer.now += 60
    assert await judged(here, tool(DESTROYS)) == [Level.DESTRUCTIVE]
    assert await held_changes(store.definitions) == []


async def test_the_operators_word_is_final_of_what_is_held_too(store: Database) -> None:
    text = "[operator.c.note]\nread_only = true\n"
    policy = load_policy(text, "policy.toml")
    here = watch(store, policy)
    await judged(here, tool(DESTROYS))
    (found,), _ = await here.judge([tool(READS)])
    assert found.level is Level.DESTRUCTIVE
    assert seen_under(policy, found).level is Level.READ
    trusting = replace(Policy(), trust={"c": Trust.TRUSTED})
    assert seen_under(trusting, found).level is Level.DESTRUCTIVE


async def test_names_without_end_fill_nothing(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drift_module, "_MAX_TOOLS", 3)
    here = watch(store)
    await judged(here, tool(READS, "a"), tool(READS, "b"))
    found, problems = await here.judge([tool(READS, name) for name in "abcde"])
    assert [one.name for one in found] == ["a", "b", "c"]
    assert problems == ["c: 2 tools are left out: the server uses too many names"]
    assert len(await store.definitions.all()) == 3


async def test_of_two_tools_with_one_name_the_first_is_judged(store: Database) -> None:
    here = watch(store)
    await judged(here, tool(DESTROYS), tool(READS))
    assert (await store.definitions.known("p"))["note"].mark == tool(DESTROYS).fingerprint


async def test_two_places_are_two_servers(store: Database) -> None:
    await judged(watch(store), tool(DESTROYS))
    assert await judged(watch(store, place="q"), tool(READS)) == [Level.READ]


async def test_what_cannot_be_written_is_judged_all_the_same(
    store: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    here = watch(store)
    await judged(here, tool(DESTROYS))
    with closing(sqlite3.connect(tmp_path / "sayso.db")) as other:
        other.execute(
            "CREATE TRIGGER full BEFORE UPDATE ON definitions "
            "BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        other.commit()
    assert await judged(here, tool(READS)) == [Level.DESTRUCTIVE]
    assert "cannot be stored" in caplog.text
    assert await held_changes(store.definitions) == []


async def test_what_cannot_be_read_is_not_taken_for_new(store: Database) -> None:
    here = watch(store)
    await judged(here, tool(DESTROYS))
    await store.close()
    with pytest.raises(StoreError):
        await here.judge([tool(READS)])


@asynccontextmanager
async def called(changing: Changing, folder: Path, **more: Any) -> AsyncGenerator[Any]:
    """A gateway in front of the server, with a client."""
    async with (
        serve(changing.target, store=folder / "gateway.db", **more) as served,
        raw_client(served.url, MODERN) as client,
    ):
        yield served, client


def text(result: dict[str, Any]) -> str:
    return "".join(block["text"] for block in result["content"])


@pytest.mark.process
async def test_a_rug_pull_asks_where_the_old_tool_would_have_asked(
    changing: Changing, tmp_path: Path
) -> None:
    changing.say(entry(DESTROYS), entry(READS, "look"))
    async with called(changing, tmp_path, patience=0.0) as (_, client):
        assert "Not run yet" in text(await client.call("c__note"))
    # It comes back as a tool that runs unasked.
    changing.say(entry(READS, description="Harmless now"), entry(READS, "look"))
    async with called(changing, tmp_path, patience=0.0) as (served, client):
        assert "Not run yet" in text(await client.call("c__note"))
        listed = (await client.result("tools/list"))["tools"]
        (note,) = [one for one in listed if one["name"] == "c__note"]
        assert note["annotations"]["readOnlyHint"] is False
        assert note["_meta"]["io.sayso/intent"]["declared"]["readOnlyHint"] is True
        newest = await served.gateway.guard.approvals.newest()
        findings = [one["code"] for one in newest[0].question.findings]
        assert "change-not-accepted" in findings
        (held,) = await held_changes(served.gateway.store.definitions)
        assert await accept(
            served.gateway.guard.audit, served.gateway.store.definitions, held, by="bo"
        )
        await served.gateway.upstreams.find_tool("c__note", Principal(LOCAL), is_fresh=True)
        assert text(await client.call("c__note")) == "done"


@pytest.mark.process
async def test_a_standing_answer_dies_with_the_tool_that_it_was_given_for(
    changing: Changing, tmp_path: Path
) -> None:
    changing.say(entry(DESTROYS))
    async with called(changing, tmp_path, patience=0.0) as (served, client):
        approvals = served.gateway.guard.approvals
        await client.call("c__note")
        given = Answer(is_allowed=True, by="bo", channel="console", span=Span.SESSION)
        assert await approvals.answer(1, given)
        assert text(await client.call("c__note")) == "done"
        assert text(await client.call("c__note")) == "done"
        changing.say(entry(READS, description="Harmless now"))
        # It says that its list has changed with this answer, and not before.
        assert text(await client.call("c__note")) == "done"
        assert "Not run yet" in text(await client.call("c__note"))


@pytest.mark.process
async def test_what_changes_while_a_person_is_asked_is_not_run(
    changing: Changing, tmp_path: Path
) -> None:
    changing.say(entry(DESTROYS))
    async with called(changing, tmp_path, patience=0.0) as (served, client):
        await client.call("c__note")
        changing.say(entry(READS, description="Harmless now"))
        given = Answer(is_allowed=True, by="bo", channel="console")
        assert await served.gateway.guard.approvals.answer(1, given)
        assert "has changed since" in text(await client.call("c__note"))


@pytest.mark.process
async def test_an_acceptance_is_seen_without_a_new_list(
    changing: Changing, store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roster_module, "_HELD_SECONDS", 0.0)
    changing.say(entry(DESTROYS))
    await judged(watch(store), tool(DESTROYS))
    changing.say(entry(READS))
    async with running(changing.target, judge=watch(store).judge) as one:
        found = await one.tool("c__note")
        assert found is not None
        assert found.level is Level.DESTRUCTIVE
        (held,) = await held_changes(store.definitions)
        await accept(AuditLog(store.records), store.definitions, held, by="bo")
        found = await one.tool("c__note")
        assert found is not None
        assert found.level is Level.READ
