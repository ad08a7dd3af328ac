"""An effect that another cause explains accuses nobody; one that looks alike does."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from sayso.trace import Effect, Kind, Observer
from sayso.verify import Report, verify_here
from sayso.verify.control import ONLY_FAILED, without_start
from sayso.verify.verdict import HintVerdict

pytestmark = pytest.mark.process

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


def build(folder: Path) -> MCPServer[Any]:
    """A server whose first call makes a store, with honest tools and lying ones."""
    server: MCPServer[Any] = MCPServer("starter", log_level="ERROR")
    add_store(server, folder)
    add_files(server, folder)
    return server


def add_store(server: MCPServer[Any], folder: Path) -> None:
    store = folder / "store.db"

    def begun() -> sqlite3.Connection:
        is_new = not store.exists()
        db = sqlite3.connect(store)
        if is_new:
            db.execute("CREATE TABLE books (id INTEGER PRIMARY KEY, title)")
            db.execute("INSERT INTO books (title) VALUES ('Emma')")
            db.commit()
        return db

    @server.tool(annotations=READS)
    def list_books() -> list[str]:
        with closing(begun()) as db:
            return [row[0] for row in db.execute("SELECT title FROM books")]

    @server.tool(annotations=READS)
    def count_books() -> int:
        with closing(begun()) as db:
            return db.execute("SELECT count(*) FROM books").fetchone()[0]

    @server.tool(annotations=READS)
    def add_on_reading() -> str:
        with closing(begun()) as db:
            db.execute("INSERT OR IGNORE INTO books VALUES (2, 'Persuasion')")
            db.commit()
        return "read"


def add_files(server: MCPServer[Any], folder: Path) -> None:
    cache = folder / ".index" / "cache"

    @server.tool(annotations=READS)
    def count_words() -> int:
        file = cache / "words.bin"
        if not file.exists():
            cache.mkdir(parents=True, exist_ok=True)
            file.write_bytes(bytes(len((folder / "notes.txt").read_text().split())))
        return len(file.read_bytes())

    @server.tool(annotations=READS)
    def keep_readers() -> str:
        cache.mkdir(parents=True, exist_ok=True)
        file = cache / "readers.bin"
        file.write_bytes((file.read_bytes() if file.exists() else b"") + b"r")
        return "read"

    @server.tool(annotations=READS)
    def move_notes() -> str:
        moved = cache / "notes.txt"
        if not moved.exists():
            cache.mkdir(parents=True, exist_ok=True)
            (folder / "other.txt").rename(moved)
        return "read"

    @server.tool(annotations=READS)
    def fail_and_write() -> str:
        (folder / "failed.txt").write_text("tried")
        raise ToolError("not today")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("control") / "kept"
    folder.mkdir()
    (folder / "notes.txt").write_text("alpha beta\n")
    (folder / "other.txt").write_text("gamma\n")
    return anyio.run(partial(verify_here, build(folder), folders=[folder], calls=2))


def reading(report: Report, name: str) -> HintVerdict:
    return next(one for one in report.tools if one.name == name).hints["read_only"]


@pytest.mark.parametrize("name", ["list_books", "count_books"])
def test_a_store_that_any_first_call_makes_accuses_nobody(report: Report, name: str) -> None:
    assert reading(report, name).verdict != "refuted"


def test_a_cache_in_the_users_folder_accuses_nobody(report: Report) -> None:
    assert reading(report, "count_words").verdict != "refuted"


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("add_on_reading", "store.db#books/2"),
        ("keep_readers", ".index/cache/readers.bin"),
        ("move_notes", "other.txt"),
        ("fail_and_write", "failed.txt"),
    ],
)
def test_what_looks_like_a_start_or_a_cache_is_refuted(
    report: Report, name: str, target: str
) -> None:
    found = reading(report, name)
    assert found.verdict == "refuted"
    assert any(one.target.endswith(target) for one in found.evidence)


def test_without_another_tool_a_failed_call_accuses_nobody(tmp_path: Path) -> None:
    server: MCPServer[Any] = MCPServer("alone", log_level="ERROR")

    @server.tool(annotations=READS)
    def fail_and_write() -> str:
        (tmp_path / "failed.txt").write_text("tried")
        raise ToolError("not today")

    found = anyio.run(partial(verify_here, server, folders=[tmp_path], calls=1))
    verdict = reading(found, "fail_and_write")
    assert (verdict.verdict, verdict.reason) == ("not_exercised", ONLY_FAILED)


def effect(kind: Kind, target: str) -> Effect:
    return Effect(kind, target, Observer.FILES)


def test_a_start_explains_as_many_rows_as_it_adds_and_no_more() -> None:
    rows = [effect(Kind.INSERT, f"/a.db#books/{key}") for key in (1, 2)]
    start = [[effect(Kind.INSERT, "/a.db#books/1"), effect(Kind.CREATE, "/a.db")]]
    assert without_start(rows, start) == [rows[1]]
    assert without_start(rows[:1], start) == []


def test_a_start_explains_no_loss_and_nothing_that_only_one_other_tool_does() -> None:
    lost = effect(Kind.DELETE, "/notes.txt")
    made = effect(Kind.CREATE, "/mark.txt")
    assert without_start([lost], [[lost]]) == [lost]
    assert without_start([made], [[made], []]) == [made]
    assert without_start([made], []) == [made]
