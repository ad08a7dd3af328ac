"""Contract mode: read-only tools run where they can change nothing, and breaches are reported."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.connect.serving import SERVERS

from sayso.audit import AuditLog
from sayso.connect import CommandTarget
from sayso.connect.kinds import Contract
from sayso.contract.ready import check_ready
from sayso.errors import UncontainedError
from sayso.gateway import Gateway, open_gateway
from sayso.gateway.quarantine import evidence_of, lift
from sayso.guard import opened
from sayso.policy import LOCAL, Principal
from sayso.sandbox.programs import Programs, find_programs
from sayso.store import Database, open_store

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        not (shutil.which("bwrap") and shutil.which("strace")),
        reason="bubblewrap or strace is not installed",
    ),
]

READS: dict[str, Any] = {"readOnlyHint": True, "openWorldHint": False}
FETCHES: dict[str, Any] = {"readOnlyHint": True, "openWorldHint": True}
WRITES: dict[str, Any] = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
ME = Principal(LOCAL)


class World:
    """A folder, a server over it that is held to its contract, and the gateway in front of it."""

    program = "contracted.py"

    def __init__(self, folder: Path, own: tuple[str, ...] = ()) -> None:
        self.folder = folder / "world"
        self.folder.mkdir()
        self.notes = self.folder / "notes.txt"
        self.notes.write_text("mine")
        self.hints = folder / "hints.json"
        self.own = own
        self.gateway: Gateway
        self.store: Database

    @property
    def target(self) -> CommandTarget:
        words = (str(SERVERS / self.program), str(self.hints), str(self.folder))
        contract = Contract(tuple(str(self.folder / one) for one in self.own))
        return CommandTarget("c", sys.executable, words, cwd=str(self.folder), contract=contract)

    @asynccontextmanager
    async def open(self, **hints: dict[str, Any]) -> AsyncGenerator["World"]:
        self.hints.write_text(json.dumps(hints))
        self.store = open_store(f"sqlite:{self.hints.parent / 'sayso.db'}")
        async with open_gateway([self.target], self.store, timeout=20) as self.gateway:
            yield self
        await self.store.close()

    async def call(self, name: str) -> tuple[str, bool]:
        """Return the answer of a call, and whether it is an error."""
        answer = opened(await self.gateway.guard.call(ME, f"c__{name}", {}))
        return answer["content"][0]["text"], bool(answer.get("isError"))

    async def log(self) -> list[dict[str, Any]]:
        """The lines of the log, oldest first."""
        rows = await AuditLog(self.store.records).newest()
        return [{"event": one.event, **json.loads(one.body)} for one in reversed(rows)]


@pytest.fixture(autouse=True)
def _short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the wait for ended processes, which a container reaps late."""
    monkeypatch.setattr("sayso.connect.process._GRACE_SECONDS", 0.4)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_an_honest_read_passes_and_leaves_no_mark(world: World) -> None:
    async with world.open(read=READS, scratch=READS, loopback=READS):
        assert await world.call("read") == ("mine", False)
        assert await world.call("scratch") == ("fine", False)
        assert await world.call("loopback") == ("reached", False)
        assert await world.store.quarantines.all() == []
        assert {one.get("severity") for one in await world.log()} <= {"info", None}


async def test_a_lying_read_fails_and_changes_nothing_and_is_critical(world: World) -> None:
    async with world.open(read=READS, rewrite=READS):
        told, is_error = await world.call("rewrite")
        assert (is_error, "quarantine" in told) == (True, True)
        assert world.notes.read_text() == "mine"
        (row,) = await world.store.quarantines.all()
        assert (row.server, row.tool) == ("c", "rewrite")
        assert evidence_of(row) == [f"write {world.notes}"]
        lines = await world.log()
        assert [one["event"] for one in lines] == ["attempt", "quarantined", "outcome"]
        assert [one.get("severity") for one in lines] == [None, "critical", "critical"]
        assert lines[-1]["outcome"] == "broke_contract"
        assert lines[-1]["evidence"] == [f"write {world.notes}"]
        assert await world.call("read") == ("mine", False)


async def test_a_tool_in_quarantine_is_denied_until_a_person_lifts_that(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.gateway.tool_cache._HELD_SECONDS", 0.0)
    async with world.open(rewrite=READS):
        await world.call("rewrite")
        told, is_error = await world.call("rewrite")
        assert is_error
        assert "sayso quarantine" in told
        last = (await world.log())[-1]
        assert (last["outcome"], last["rule"]) == ("denied", "quarantine")
        (row,) = await world.store.quarantines.all()
        assert await lift(AuditLog(world.store.records), world.store.quarantines, row, by="bo")
        assert not await lift(AuditLog(world.store.records), world.store.quarantines, row, by="bo")
        assert "tried to change" in (await world.call("rewrite"))[0]
        events = [one["event"] for one in await world.log()]
        assert events.count("quarantined") == 2
        assert events.count("lifted") == 1


async def test_a_quarantine_outlasts_the_gateway_and_the_contract(world: World) -> None:
    async with world.open(rewrite=READS):
        await world.call("rewrite")
    async with world.open(rewrite=WRITES):
        told, is_error = await world.call("rewrite")
        assert (is_error, "quarantine" in told) == (True, True)
        assert world.notes.read_text() == "mine"


async def test_what_a_server_keeps_to_itself_is_told_all_the_same(world: World) -> None:
    async with world.open(swallow=READS):
        assert (await world.call("swallow"))[1]
        assert world.notes.read_text() == "mine"
        assert [one.name for one in world.folder.iterdir()] == ["notes.txt"]
        (row,) = await world.store.quarantines.all()
        kinds = {one.partition(" ")[0] for one in evidence_of(row)}
        assert kinds == {"delete", "rename", "metadata", "create", "write"}


async def test_of_calls_at_the_same_time_only_the_one_that_tried_is_held(world: World) -> None:
    async with world.open(read=READS, rewrite=READS, scratch=READS):
        async with anyio.create_task_group() as group:
            for name in ("read", "scratch", "rewrite", "read", "rewrite", "scratch") * 2:
                group.start_soon(world.call, name)
        assert [row.tool for row in await world.store.quarantines.all()] == ["rewrite"]
        assert [one["event"] for one in await world.log()].count("quarantined") == 1
        assert world.notes.read_text() == "mine"


async def test_what_is_tried_at_the_start_is_no_calls_own_doing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(World, "program", "eager.py")
    async with world.open(read=READS):
        assert await world.call("read") == ("mine", False)
        assert await world.store.quarantines.all() == []


async def test_the_servers_own_state_stays_writable(tmp_path: Path) -> None:
    world = World(tmp_path, own=("own",))
    (world.folder / "own").mkdir()
    async with world.open(remember=READS):
        assert await world.call("remember") == ("noted", False)
        assert (world.folder / "own" / "log").read_text() == "asked"
        assert await world.store.quarantines.all() == []


@pytest.mark.parametrize("name", ["reach", "ask_name"])
async def test_a_read_of_a_closed_world_that_reaches_outside_fails(world: World, name: str) -> None:
    async with world.open(**{name: READS}):
        assert (await world.call(name))[1]
        (row,) = await world.store.quarantines.all()
        assert evidence_of(row)[0].partition(" ")[0] in {"connect", "lookup"}


async def test_a_read_of_an_open_world_may_try(world: World) -> None:
    async with world.open(reach=FETCHES):
        await world.call("reach")
        assert await world.store.quarantines.all() == []


async def test_what_writes_goes_to_the_ordinary_process(world: World) -> None:
    async with world.open(rewrite=WRITES, read=READS):
        assert await world.call("rewrite") == ("fine", False)
        assert world.notes.read_text() == "lost"
        assert await world.call("read") == ("lost", False)


async def test_a_tool_whose_level_changes_moves(world: World) -> None:
    async with world.open(whoami=READS):
        assert "sayso-twin-" in (await world.call("whoami"))[0]
        world.hints.write_text(json.dumps({"whoami": WRITES}))
        await world.gateway.upstreams.find_tool("c__whoami", ME, is_fresh=True)
        assert "sayso-twin-" not in (await world.call("whoami"))[0]


async def test_a_read_only_process_that_dies_comes_again_and_leaves_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.gateway.backoff._PAUSE_SECONDS", 0.01)
    async with world.open(whoami=READS, die=READS):
        folder = (await world.call("whoami"))[0].partition(" ")[2]
        assert is_there(folder)
        await world.call("die")
        assert (await world.call("whoami"))[1] is False
    assert not is_there(str(Path(folder).parent))


def is_there(folder: str) -> bool:
    return Path(folder).is_dir()


async def test_sqlite_in_wal_mode_wants_its_folder_listed(tmp_path: Path) -> None:
    world = World(tmp_path)
    wal_database(world.folder)
    async with world.open(rows=READS):
        assert (await world.call("rows"))[1]
        assert await world.store.quarantines.all() == []
        with closing(sqlite3.connect(world.folder / "data" / "wal.db")) as writer:
            writer.execute("SELECT * FROM people").fetchall()
            assert await world.call("rows") == ('[["bo"]]', False)
    world.own = ("data",)
    async with world.open(rows=READS):
        assert await world.call("rows") == ('[["bo"]]', False)


def wal_database(folder: Path) -> None:
    (folder / "data").mkdir()
    with closing(sqlite3.connect(folder / "data" / "wal.db")) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE people (name TEXT)")
        database.execute("INSERT INTO people VALUES ('bo')")
        database.commit()


def stage(world: World) -> None:
    """A repository whose index knows an older time of a file than the file has."""
    for words in (["init", "-q"], ["add", "notes.txt"]):
        subprocess.run(["git", *words], cwd=world.folder, check=True)
    os.utime(world.notes, (1, 1))


async def test_a_stale_git_index_is_read_and_stays_stale(world: World) -> None:
    stage(world)
    index = (world.folder / ".git" / "index").read_bytes()
    async with world.open(status=READS):
        assert await world.call("status") == ("A  notes.txt\n", False)
        assert (world.folder / ".git" / "index").read_bytes() == index
        assert await world.store.quarantines.all() == []


@pytest.mark.parametrize("name", ["bwrap", "strace"])
async def test_without_what_holds_it_the_gateway_does_not_start(
    world: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    found = find_programs()
    lacking = replace(found, bwrap="") if name == "bwrap" else replace(found, strace="")
    monkeypatch.setattr("sayso.contract.ready.find_programs", lambda: lacking)
    with pytest.raises(UncontainedError, match="not installed"):
        async with world.open(read=READS):
            raise AssertionError


async def test_what_does_not_hold_is_refused(world: World) -> None:
    found = find_programs()
    with pytest.raises(UncontainedError, match="contract mode does not work on this machine"):
        await check_ready(["c"], Programs(bwrap=shutil.which("true") or "", strace=found.strace))
    assert world.notes.exists()
