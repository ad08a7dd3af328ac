import hashlib
import importlib.util
import os
import py_compile
import shutil
import sqlite3
import subprocess
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sayso.sandbox.mount import Place, Role
from sayso.trace.effect import Effect, Kind, Life, Loss, Observer
from sayso.verify.grade.context import CallContext
from sayso.verify.grade.lifetime import grade, grade_all
from sayso.verify.observe.files import FilesWatcher
from sayso.verify.observe.sqlite import SqliteWatcher

Seen = tuple[str, str, str]
Graded = Callable[..., Awaitable[list[Effect]]]


@pytest.fixture
def places(tmp_path: Path) -> tuple[Place, ...]:
    found = tuple(
        Place(f"/{role}", tmp_path / role.value, role)
        for role in (Role.FIXTURE, Role.HOME, Role.TEMPORARY, Role.PACKAGE, Role.OWN)
    )
    for place in found:
        place.host.mkdir()
    return found


@pytest.fixture
def context(places: tuple[Place, ...]) -> CallContext:
    return CallContext(places, "list_notes", {"limit": 3})


@pytest.fixture
def graded(places: tuple[Place, ...], tmp_path: Path) -> Graded:
    """What a function does to the places, as seen by both watchers and graded."""

    async def run(act: Callable[[], object], context: CallContext, *others: Effect) -> list[Effect]:
        watchers = (
            FilesWatcher(places, tmp_path / "store"),
            SqliteWatcher(places, tmp_path / "rows"),
        )
        for one in watchers:
            await one.begin()
        act()
        found = [effect for one in watchers for effect in await one.end(1)]
        watchers[0].close()
        return list(grade_all([*found, *others], context))

    return run


def told(effects: list[Effect]) -> list[tuple[str, str, str, str]]:
    return [(str(e.kind), e.target, str(e.life), str(e.loss)) for e in effects]


@pytest.mark.parametrize(
    ("path", "life"),
    [
        ("fixture/new.txt", Life.USER),
        ("home/.cache/x/data", Life.OWN),
        ("home/.local/state/x/log", Life.OWN),
        ("home/.bashrc", Life.USER),
        ("home/.local/share/app/file", Life.OWN),
        ("temporary/scratch", Life.TRANSIENT),
        ("package/settings", Life.OWN),
        ("own/anything", Life.OWN),
    ],
)
async def test_a_new_file_belongs_to_whom_its_place_belongs(
    graded: Graded, context: CallContext, tmp_path: Path, path: str, life: Life
) -> None:
    def act() -> None:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("hello there\n")

    effects = await graded(act, context)

    assert effects[-1].target == f"/{path}"
    assert {one.life for one in effects} == {life}
    assert all(one.reason for one in effects)


@pytest.mark.parametrize("path", ["home/x", "temporary/x", "package/x"])
async def test_a_path_that_was_named_is_the_persons_wherever_it_is(
    graded: Graded, context: CallContext, tmp_path: Path, path: str
) -> None:
    named = replace(context, argument_paths=frozenset({f"/{path}"}))
    (effect,) = await graded(lambda: (tmp_path / path).write_text("x"), named)

    assert effect.life is Life.USER


async def test_naming_a_whole_place_names_no_file_in_it(
    graded: Graded, context: CallContext, tmp_path: Path
) -> None:
    named = replace(context, argument_paths=frozenset({"/temporary", "/"}))
    (effect,) = await graded(lambda: (tmp_path / "temporary" / "x").write_text("x"), named)

    assert effect.life is Life.TRANSIENT


async def test_records_that_other_tools_show_are_the_persons(
    graded: Graded, context: CallContext, tmp_path: Path
) -> None:
    shown = replace(context, shown=('{"entities": [{"name": "Amy Brown"}]}',))

    def act() -> None:
        (tmp_path / "package" / "memory.jsonl").write_text('{"name": "Amy Brown"}\n')
        (tmp_path / "package" / "other.jsonl").write_text('{"name": "Zed Black"}\n')

    found = {one.target: one.life for one in await graded(act, shown)}

    assert found == {
        "/package/memory.jsonl": Life.USER,
        "/package/other.jsonl": Life.OWN,
    }


async def test_a_record_that_other_tools_showed_and_that_goes_is_a_loss(
    graded: Graded, context: CallContext, tmp_path: Path
) -> None:
    path = tmp_path / "home" / "memory.jsonl"
    path.write_text('{"name": "Amy Brown"}\n{"name": "Zed Black"}\n')
    shown = replace(context, shown=("Amy Brown and Zed Black",))
    (effect,) = await graded(lambda: path.write_text('{"name": "Zed Black"}\n'), shown)

    assert (effect.life, effect.loss) == (Life.USER, Loss.LOST)


async def test_what_goes_from_a_file_that_once_showed_is_missed_but_of_a_reader_it_must_show(
    graded: Graded, context: CallContext, tmp_path: Path
) -> None:
    path = tmp_path / "home" / "memory.jsonl"
    path.write_text('{"name": "Amy Brown"}\n{"name": "Zed Black"}\n')
    kept = replace(context, kept=frozenset({"/home/memory.jsonl"}))
    (missed,) = await graded(lambda: path.write_text('{"name": "Zed Black"}\n'), kept)
    reader = replace(kept, is_reading=True)
    (counted,) = await graded(lambda: path.write_text('{"name": "Zed", "read": 1}\n'), reader)

    assert (missed.life, missed.loss) == (Life.USER, Loss.LOST)
    assert counted.life is Life.OWN


async def test_rows_in_home_are_the_persons_where_other_tools_show_them(
    graded: Graded, context: CallContext, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "home" / "base", isolation_level=None)) as db:
        db.executescript("CREATE TABLE t (a PRIMARY KEY, b); INSERT INTO t VALUES (1, 'Amy')")
        shown = replace(context, shown=("Amy Brown",))
        (user,) = await graded(lambda: db.execute("UPDATE t SET b = 'Amy Brown'"), shown)
        (own,) = await graded(lambda: db.execute("UPDATE t SET b = 'other words'"), context)

    assert (user.life, user.loss) == (Life.USER, Loss.OVERWROTE)
    assert own.life is Life.OWN


async def test_what_was_written_and_restored_is_the_persons_all_the_same(
    graded: Graded, context: CallContext, tmp_path: Path
) -> None:
    path = tmp_path / "fixture" / "a.json"
    path.write_text("{}")
    os.utime(path, ns=(1, 1))

    def act() -> None:
        path.write_text('{"x": 1}')
        path.write_text("{}")
        os.utime(path, ns=(1, 1))

    (effect,) = await graded(act, context)

    assert (effect.life, effect.loss) == (Life.USER, Loss.NONE)
    assert "changed and restored" in effect.reason


async def test_the_same_bytes_are_the_persons_and_other_bytes_of_one_meaning_are_a_cache(
    graded: Graded, context: CallContext, tmp_path: Path
) -> None:
    for name in ("same", "other"):
        (tmp_path / "fixture" / name).write_text('{"a": 1}')
        os.utime(tmp_path / "fixture" / name, ns=(1, 1))

    def act() -> None:
        (tmp_path / "fixture" / "same").write_text('{"a": 1}')
        (tmp_path / "fixture" / "other").write_text('{\n  "a": 1\n}\n')

    assert told(await graded(act, context)) == [
        ("write", "/fixture/other", "cache", "none"),
        ("write", "/fixture/same", "user", "none"),
    ]


@pytest.mark.process
async def test_git_status_on_a_stale_index_is_a_cache_refresh(
    graded: Graded, context: CallContext, repository: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "fixture" / "r"
    shutil.copytree(repository, folder)

    def git(*words: str) -> None:
        command = ["git", "-C", str(folder), *words]
        subprocess.run(command, check=True, capture_output=True)

    def status() -> None:
        os.utime(folder / "a.txt", (1, 1))
        git("status")

    effects = await graded(status, context)
    index = next(one for one in effects if one.target.endswith("index"))
    assert (index.life, index.kind) == (Life.CACHE, Kind.WRITE)
    assert "git index" in index.reason

    effects = await graded(lambda: git("commit", "-qm", "second"), context)
    assert {one.loss for one in effects} == {Loss.NONE}
    assert Life.USER in {one.life for one in effects}

    (folder / "a.txt").write_text("precious")
    effects = await graded(lambda: git("checkout", "-q", "--", "a.txt"), context)
    (lost,) = [one for one in effects if one.target.endswith("a.txt")]
    assert (lost.loss, lost.recoverable) == (Loss.LOST, "")

    effects = await graded((folder / "a.txt").unlink, context)
    (lost,) = [one for one in effects if one.target.endswith("a.txt")]
    assert lost.loss is Loss.LOST
    assert lost.recoverable.startswith("git show ")

    effects = await graded(lambda: git("reset", "-q", "--hard", "HEAD~1"), context)
    (moved,) = [one for one in effects if one.target.endswith(".git/refs/heads/main")]
    assert (moved.loss, moved.recoverable) == (Loss.OVERWROTE, "git reflog")


async def test_bytecode_is_told_by_its_header_and_not_by_its_name(
    graded: Graded, context: CallContext, tmp_path: Path
) -> None:
    source = tmp_path / "fixture" / "lib.py"
    source.write_text("A = 1\n")
    cached = Path(importlib.util.cache_from_source(str(source)))

    def act() -> None:
        py_compile.compile(str(source), doraise=True)
        (cached.parent / "lib.fake.pyc").write_bytes(b"stolen words")

    found = {Path(one.target).name: one.life for one in await graded(act, context)}

    assert found == {
        "__pycache__": Life.RUNTIME,
        cached.name: Life.RUNTIME,
        "lib.fake.pyc": Life.USER,
    }


async def test_sidecars_and_vacuum_of_sqlite_are_not_the_persons_and_rows_are(
    graded: Graded, context: CallContext, tmp_path: Path
) -> None:
    path = tmp_path / "fixture" / "base.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x')"
        )
        journal = await graded(lambda: db.execute("PRAGMA journal_mode = WAL").fetchall(), context)
        vacuum = await graded(lambda: db.execute("VACUUM"), context)
        row = await graded(lambda: db.execute("DELETE FROM t"), context)

    assert {one.life for one in journal + vacuum} <= {Life.RUNTIME, Life.CACHE}
    assert [(str(e.kind), e.target, str(e.life), str(e.loss)) for e in row if "#" in e.target] == [
        ("remove", "/fixture/base.db#t/1", "user", "lost")
    ]
    assert {one.life for one in row if "#" not in one.target} <= {Life.RUNTIME}


async def test_a_record_of_the_call_itself_is_the_servers_own(
    graded: Graded, context: CallContext, tmp_path: Path
) -> None:
    log = tmp_path / "fixture" / "audit.jsonl"
    log.write_text("")
    line = '{"at": "2026-01-02T03:04:05", "tool": "list_notes", "arguments": {"limit": 3}}\n'
    note = '{"at": "2026-01-02T03:04:05", "note": "buy milk"}\n'

    def append(text: str) -> Callable[[], None]:
        def act() -> None:
            with log.open("a") as file:
                file.write(text)

        return act

    (own,) = await graded(append(line), context)
    (user,) = await graded(append(note), context)
    (elsewhere,) = await graded(append(line), replace(context, usual=frozenset({"/fixture/x"})))
    (usual,) = await graded(
        append("12:00:01 INFO called\n"),
        replace(context, usual=frozenset({"/fixture/audit.jsonl"})),
    )

    assert [one.life for one in (own, user, elsewhere, usual)] == [
        Life.OWN,
        Life.USER,
        Life.USER,
        Life.OWN,
    ]


async def test_what_can_be_had_back_is_said(
    graded: Graded, context: CallContext, tmp_path: Path
) -> None:
    path = tmp_path / "fixture" / "a.txt"
    path.write_text("one thing\n")

    def act() -> None:
        shutil.copy(path, path.with_suffix(".bak"))
        path.write_text("another matter\n")

    found = {one.target: one for one in await graded(act, context)}

    assert found["/fixture/a.txt"].loss is Loss.LOST
    assert found["/fixture/a.txt"].recoverable == "copy at /fixture/a.bak"


async def test_losses_of_files_are_told_apart(
    graded: Graded, context: CallContext, tmp_path: Path
) -> None:
    folder = tmp_path / "fixture"
    for name in ("deleted", "emptied", "moved", "grown"):
        (folder / name).write_text("one thing\n")
    (folder / "image").write_bytes(b"\x00\xff\x01")

    def act() -> None:
        (folder / "deleted").unlink()
        (folder / "emptied").write_text("")
        (folder / "moved").rename(folder / "there")
        (folder / "grown").write_text("one thing\nmore\n")
        (folder / "image").write_bytes(b"\x00\xff\x02")

    found = {Path(one.target).name: one.loss for one in await graded(act, context)}

    assert found == {
        "deleted": Loss.LOST,
        "emptied": Loss.LOST,
        "moved": Loss.NONE,
        "grown": Loss.NONE,
        "image": Loss.UNKNOWN,
    }


def syscall(kind: Kind, target: str, **more: object) -> Effect:
    return replace(Effect(kind, target, Observer.SYSCALLS, 1), **more)  # pyright: ignore[reportArgumentType]


async def test_system_calls_and_files_say_one_thing(
    graded: Graded, context: CallContext, tmp_path: Path
) -> None:
    (tmp_path / "fixture" / "old").write_text("x")
    calls = (
        syscall(Kind.CREATE, "/fixture/new"),
        syscall(Kind.WRITE, "/fixture/new"),
        syscall(Kind.CREATE, "/fixture/gone"),
        syscall(Kind.DELETE, "/fixture/gone"),
        syscall(Kind.WRITE, "/fixture/old"),
    )
    effects = await graded(lambda: (tmp_path / "fixture" / "new").write_text("x"), context, *calls)

    assert told(effects) == [
        ("create", "/fixture/new", "user", "none"),
        ("create", "/fixture/gone", "transient", "none"),
        ("delete", "/fixture/gone", "transient", "none"),
        ("write", "/fixture/old", "transient", "none"),
    ]


@pytest.mark.parametrize(
    ("effect", "life"),
    [
        (syscall(Kind.CONNECT, "127.0.0.1:8000"), Life.SESSION),
        (syscall(Kind.CONNECT, "127.0.0.1:9"), Life.SESSION),
        (syscall(Kind.CONNECT, "127.0.0.1:9", is_failed=True), Life.EXTERNAL),
        (syscall(Kind.CONNECT, "93.184.216.34:443", is_failed=True), Life.EXTERNAL),
        (syscall(Kind.CONNECT, "[2001:db8::1]:443"), Life.EXTERNAL),
        (syscall(Kind.SEND, "8.8.8.8:53"), Life.EXTERNAL),
        (syscall(Kind.LOOKUP, "example.com"), Life.EXTERNAL),
        (syscall(Kind.CONNECT, "/temporary/helper.sock"), Life.SESSION),
        (syscall(Kind.INSTALL, "npm install x"), Life.EXTERNAL),
        (syscall(Kind.EXECUTE, "/usr/bin/cat"), Life.TRANSIENT),
        (syscall(Kind.SIGNAL, "12"), Life.SESSION),
        (syscall(Kind.BLIND, "io_uring"), None),
        (syscall(Kind.WRITE, "/fixture/x", is_failed=True), Life.TRANSIENT),
        (syscall(Kind.CREATE, "/etc/hosts", is_failed=True, detail="EROFS"), Life.TRANSIENT),
        (syscall(Kind.CREATE, "/srv/named", is_failed=True, detail="EROFS"), Life.USER),
        (syscall(Kind.WRITE, "/dev/null"), Life.TRANSIENT),
        (syscall(Kind.WRITE, "/srv/other"), Life.USER),
    ],
)
def test_what_goes_out_or_fails_has_its_life(
    context: CallContext, effect: Effect, life: Life | None
) -> None:
    known = replace(
        context, allowed=frozenset({"127.0.0.1:8000"}), argument_paths=frozenset({"/srv/named"})
    )

    assert grade(effect, known).life is life


async def test_what_is_also_seen_without_a_call_is_not_of_the_call(
    graded: Graded, context: CallContext, tmp_path: Path
) -> None:
    control = (Effect(Kind.CREATE, "/fixture/beat", Observer.FILES),)
    (effect,) = await graded(
        lambda: (tmp_path / "fixture" / "beat").write_text("x"), replace(context, control=control)
    )

    assert (effect.life, effect.reason) == (Life.OWN, "also seen without a call")


async def test_a_folder_that_says_it_is_a_cache_is_one(
    graded: Graded, context: CallContext, tmp_path: Path
) -> None:
    folder = tmp_path / "fixture" / ".tool_cache"

    def act() -> None:
        folder.mkdir()
        (folder / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n")
        (folder / "data").write_text("x")

    assert {one.life for one in await graded(act, context)} == {Life.CACHE}


def test_an_effect_that_has_a_life_keeps_it(context: CallContext) -> None:
    digest = hashlib.sha256(b"").hexdigest()
    effect = Effect(Kind.WRITE, f"/fixture/{digest}", Observer.FILES, life=Life.CACHE, reason="x")

    assert grade(effect, context) == effect
