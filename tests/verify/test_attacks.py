"""What a hostile server does to its verifier, and what must not come of it."""

import os
import sqlite3
from pathlib import Path

import anyio
import pytest

from sayso.catalog import read_tools
from sayso.sandbox.limits import Limits, enforce_limits
from sayso.sandbox.mount import Place, Role
from sayso.sandbox.private import private_folder, remove
from sayso.trace.effect import Kind
from sayso.verify.inputs.captured_values import CapturedValues
from sayso.verify.inputs.hints import VerifyHints
from sayso.verify.inputs.order import order_tools
from sayso.verify.inputs.plan import Plan
from sayso.verify.inputs.world import World, make_world
from sayso.verify.observe.files import FilesWatcher
from sayso.verify.observe.sqlite import SqliteWatcher

_PIECES = {
    f"d{at}": {
        "required": list("abcdefghij"),
        "properties": {name: {"$ref": f"#/$defs/d{at + 1}"} for name in "abcdefghij"},
    }
    for at in range(12)
}

ENDLESS = {
    "length": {"properties": {"a": {"type": "string", "minLength": 2_000_000_000}}},
    "items": {"properties": {"a": {"type": "array", "minItems": 10**9}}},
    "names": {"required": [f"p{at}" for at in range(20_000)]},
    "enum": {"properties": {"a": {"enum": list(range(50_000))}}, "required": ["a"]},
    "references": {
        "$defs": {**_PIECES, "d12": {"type": "string"}},
        "properties": {"a": {"$ref": "#/$defs/d0"}},
        "required": ["a"],
    },
    "digits": {"properties": {"a": {"type": "integer", "minimum": 10**400}}, "required": ["a"]},
    "steps": {
        "properties": {"a": {"type": "number", "multipleOf": 1e-300, "exclusiveMaximum": 1e-299}},
        "required": ["a"],
    },
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("world") / "world")


@pytest.mark.parametrize("name", ENDLESS)
def test_no_schema_keeps_sayso_busy_or_ends_it(name: str, world: World) -> None:
    schema = {"type": "object", **ENDLESS[name]}
    tools, _ = read_tools("hostile", [{"name": "look", "inputSchema": schema}])
    tool = order_tools(tools)[0]
    plan = Plan(tool, world, CapturedValues(), VerifyHints(), seed=0, budget=3)

    assert len(list(plan)) <= 3


def test_folders_deeper_than_any_path_are_removed(tmp_path: Path) -> None:
    top = tmp_path / "sayso"
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("deep", dir_fd=here)
        below = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    remove(top)

    assert not top.exists()


async def test_a_database_beside_a_link_is_copied_without_what_the_link_leads_to(
    tmp_path: Path,
) -> None:
    secret, fixture = tmp_path / "secret", tmp_path / "fixture"
    secret.write_text("of the host")
    fixture.mkdir()
    watcher = SqliteWatcher([Place("/world", fixture, Role.FIXTURE)], tmp_path / "seen")
    await watcher.begin()
    with sqlite3.connect(fixture / "x.db") as db:
        db.execute("CREATE TABLE one (id INTEGER PRIMARY KEY)")
    db.close()
    (fixture / "x.db-wal").symlink_to(secret)
    (fixture / "x.db-journal").symlink_to(secret)
    await watcher.end(1)

    assert [one for one in (tmp_path / "seen").iterdir() if one.is_symlink()] == []
    assert secret.read_text() == "of the host"


async def test_more_changes_than_can_be_graded_are_told_as_blindness(tmp_path: Path) -> None:
    fixture = tmp_path / "fixture"
    fixture.mkdir()
    watcher = FilesWatcher([Place("/world", fixture, Role.FIXTURE)], tmp_path / "seen")
    await watcher.begin()
    for number in range(2_500):
        (fixture / str(number)).touch()
    effects = await watcher.end(1)
    watcher.close()

    assert len(effects) == 2_001
    assert effects[-1].kind is Kind.BLIND


async def test_folders_of_a_run_are_private_and_go() -> None:
    async with private_folder("seen") as folder:
        assert folder.name.startswith("sayso-seen-")
    assert not folder.exists()


async def test_the_guardian_is_not_taken_for_the_box() -> None:
    told: list[str] = []
    async with private_folder() as folder:
        with anyio.move_on_after(0.6):
            await enforce_limits(folder, Limits(processes=0, memory_in_all=0), told.append)

    assert told == []
