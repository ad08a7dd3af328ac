"""The ways past read-only files: sockets, FIFOs, keyrings, the kernel, locks."""

import errno
import logging
import os
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from tests.cli.test_inspect import NODE_SERVER
from tests.connect.serving import SERVERS
from tests.gateway.test_contract import FETCHES, READS, World, wal_database

from sayso.connect import CommandTarget
from sayso.connect.kinds import Contract
from sayso.contract import launcher
from sayso.contract.filter import readonly_filter
from sayso.contract.wrap import trace_of, wrap
from sayso.gateway import open_gateway
from sayso.gateway.quarantine import evidence_of
from sayso.guard import opened
from sayso.policy import LOCAL, Principal, load_policy
from sayso.sandbox.programs import find_programs
from sayso.store import open_store

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        not (shutil.which("bwrap") and shutil.which("strace")),
        reason="bubblewrap or strace is not installed",
    ),
]

HINTS = {"closed": READS, "open": FETCHES}


@pytest.fixture(autouse=True)
def _short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sayso.connect.process._GRACE_SECONDS", 0.4)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@contextmanager
def listening(name: str | Path, kind: int = socket.SOCK_STREAM) -> Generator[list[bytes]]:
    """A Unix socket that takes in whatever is sent to it."""
    taken: list[bytes] = []
    with socket.socket(socket.AF_UNIX, kind) as listener:
        listener.bind(str(name))
        if kind == socket.SOCK_STREAM:
            listener.listen()
        listener.settimeout(0.1)
        ended = threading.Event()

        def take() -> None:
            while not ended.is_set():
                try:
                    if kind == socket.SOCK_DGRAM:
                        taken.append(listener.recv(10))
                        continue
                    link, _ = listener.accept()
                    with link:
                        taken.append(link.recv(10))
                except TimeoutError:
                    continue

        thread = threading.Thread(target=take)
        thread.start()
        try:
            yield taken
        finally:
            ended.set()
            thread.join()


@pytest.mark.parametrize("hints", HINTS)
async def test_a_socket_that_begins_to_listen_later_cannot_be_reached(
    world: World, hints: str
) -> None:
    async with world.open(read=HINTS[hints], unix=HINTS[hints]):
        await world.call("read")
        with listening(world.folder / "listener") as taken:
            assert (await world.call("unix"))[1]
        assert taken == []
        (row,) = await world.store.quarantines.all()
        assert evidence_of(row) == [f"connect unix:{world.folder}/listener"]


async def test_other_names_and_calls_reach_no_socket_either(world: World) -> None:
    with ExitStack() as stack:
        taken = stack.enter_context(listening(world.folder / "listener"))
        told = stack.enter_context(listening(world.folder / "datagrams", socket.SOCK_DGRAM))
        async with world.open(unix_elsewhere=FETCHES):
            assert (await world.call("unix_elsewhere"))[1]
            (row,) = await world.store.quarantines.all()
            assert f"connect unix:{world.folder}/datagrams" in evidence_of(row)
            assert f"connect unix:{world.folder}/listener" in evidence_of(row)
        assert (taken, told) == ([], [])


async def test_an_abstract_socket_cannot_be_reached_in_an_open_world(world: World) -> None:
    with listening(f"\0sayso-{world.folder.parent.name}") as taken:
        async with world.open(unix_abstract=FETCHES):
            assert (await world.call("unix_abstract"))[1]
            assert len(await world.store.quarantines.all()) == 1
    assert taken == []


async def test_a_socket_of_the_servers_own_is_reached(tmp_path: Path) -> None:
    world = World(tmp_path, own=("own",))
    (world.folder / "own").mkdir()
    with listening(world.folder / "own" / "listener") as taken:
        async with world.open(unix_own=READS):
            assert await world.call("unix_own") == ("done", False)
            assert await world.store.quarantines.all() == []
    assert taken == [b"lost"]


async def test_with_a_socket_of_its_own_it_reaches_no_other(tmp_path: Path) -> None:
    world = World(tmp_path, own=("own",))
    (world.folder / "own").mkdir()
    (world.folder / "own" / "way").symlink_to(world.folder)
    with listening(world.folder / "listener") as taken:
        async with world.open(unix=READS):
            assert (await world.call("unix"))[1]
            (row,) = await world.store.quarantines.all()
            assert evidence_of(row) == [f"connect unix:{world.folder}/listener"]
    assert taken == []


async def test_a_fifo_takes_nothing_from_a_read(world: World) -> None:
    os.mkfifo(world.folder / "fifo")
    reader = os.open(world.folder / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    try:
        async with world.open(fifo=READS):
            assert (await world.call("fifo"))[1]
            (row,) = await world.store.quarantines.all()
            assert f"write {world.folder}/fifo" in evidence_of(row)
        assert os.read(reader, 10) == b""
    finally:
        os.close(reader)


@pytest.mark.parametrize("name", ["linked", "by_descriptor", "by_root"])
async def test_a_way_round_a_path_is_told_all_the_same(world: World, name: str) -> None:
    async with world.open(**{name: READS}):
        assert (await world.call(name))[1]
        assert world.notes.read_text() == "mine"
        assert [row.tool for row in await world.store.quarantines.all()] == [name]


async def test_the_keyring_cannot_be_changed(world: World) -> None:
    async with world.open(keyring=READS):
        assert (await world.call("keyring"))[1]
        (row,) = await world.store.quarantines.all()
        assert evidence_of(row) == ["use the kernel's keyring"]


async def test_the_kernels_settings_cannot_be_changed(world: World) -> None:
    async with world.open(kernel=READS):
        assert (await world.call("kernel"))[1]
        (row,) = await world.store.quarantines.all()
        assert evidence_of(row) == ["write /proc/sys/vm/swappiness"]


async def test_a_lock_that_outlasts_its_call_is_reported(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    file = world.folder / "plain.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE people (name TEXT)")
    async with world.open(lock=READS, rows=READS):
        with caplog.at_level(logging.WARNING, logger="sayso.contract.readonly_process"):
            assert await world.call("lock") == ("[]", False)
        assert f"keeps a lock on {file}" in caplog.text
        assert (await world.log())[-1]["evidence"] == [f"lock {file}"]
        assert await world.store.quarantines.all() == []


async def test_a_lock_that_ends_with_its_call_is_no_news(tmp_path: Path) -> None:
    world = World(tmp_path, own=("other",))
    wal_database(world.folder)
    with closing(sqlite3.connect(world.folder / "data" / "wal.db")) as writer:
        writer.execute("SELECT * FROM people").fetchall()
        async with world.open(rows=READS):
            assert await world.call("rows") == ('[["bo"]]', False)
            assert "evidence" not in (await world.log())[-1]


async def test_a_lock_that_keeps_everybody_out_breaks_the_contract(world: World) -> None:
    async with world.open(flocked=READS):
        assert (await world.call("flocked"))[1]
        (row,) = await world.store.quarantines.all()
        assert evidence_of(row) == [f"lock {world.notes}"]


async def test_what_honest_servers_do_still_works(world: World) -> None:
    async with world.open(pairs=READS):
        assert await world.call("pairs") == ("finefinefine", False)
        assert await world.store.quarantines.all() == []


@pytest.mark.parametrize("program", ["node", "python"])
async def test_servers_of_others_work_in_a_read_only_process(tmp_path: Path, program: str) -> None:
    """Node.js with its thread pool, and Python with the SDK's event loop and threads."""
    (tmp_path / "notes.txt").write_text("mine")
    real = (sys.executable, str(SERVERS / "real.py"))
    words = {"node": ("node", str(NODE_SERVER), str(tmp_path)), "python": real}[program]
    if program == "node" and not (shutil.which("node") and NODE_SERVER.exists()):
        pytest.skip("needs node, and the server that `make setup` installs from npm")
    name, arguments, told = {
        "node": ("c__read_text_file", {"path": str(tmp_path / "notes.txt")}, "mine"),
        "python": ("c__get_sum", {"a": 1, "b": 2}, "3"),
    }[program]
    target = CommandTarget("c", words[0], tuple(words[1:]), contract=Contract())
    rules = f"[operator.c.{name[3:]}]\nread_only = true\nopen_world = false\n"
    store = open_store(f"sqlite:{tmp_path / 'sayso.db'}")
    policy = load_policy(rules)
    async with open_gateway([target], store, policy=lambda: policy, timeout=60) as gateway:
        answer = opened(await gateway.guard.call(Principal(LOCAL), name, arguments))
        assert answer["content"][0]["text"] == told
        assert await store.quarantines.all() == []
    await store.close()


async def test_a_server_that_stays_root_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.contract.wrap._UID", 0)
    monkeypatch.setattr("os.getuid", lambda: 0)
    assert "run as root" in run(tmp_path, "print('started')")


def test_the_program_is_not_root_and_may_do_nothing_that_root_may(tmp_path: Path) -> None:
    code = (
        "import os; status = open('/proc/self/status').read();"
        "print(os.getuid() != 0, 'CapEff:\\t' + '0' * 16 in status)"
    )
    assert run(tmp_path, code) == "True True\n"


@pytest.mark.parametrize("number", [425, 101, 438, 435, 9999])
def test_calls_that_no_server_needs_are_refused(tmp_path: Path, number: int) -> None:
    code = (
        "import ctypes as c; k = c.CDLL(None, use_errno=True);"
        f"print(k.syscall({number}, 0, 0, 0), c.get_errno())"
    )
    assert run(tmp_path, code) == "-1 38\n"


def run(folder: Path, code: str) -> str:
    """Return the output and the errors of a program in a read-only process."""
    target = CommandTarget("c", sys.executable, ("-IS", "-c", code))
    twin = wrap(target, folder, find_programs(), is_open=False)
    done = subprocess.run(
        [twin.command, *twin.args], capture_output=True, text=True, check=False, timeout=60
    )
    assert trace_of(folder).exists()
    return done.stdout + done.stderr


@pytest.mark.parametrize("address", [8, 2**63, 2**64 - 1])
def test_a_lock_at_an_address_where_nothing_is_ends_no_supervisor(
    tmp_path: Path, address: int
) -> None:
    made = readonly_filter(has_own=False)
    assert made is not None
    code = (
        "import ctypes as c, fcntl; k = c.CDLL(None, use_errno=True); f = open('/etc/hosts');"
        f"print(k.syscall({made[1].fcntl}, f.fileno(), fcntl.F_SETLK, c.c_uint64({address})));"
        "fcntl.lockf(f, fcntl.LOCK_SH); print('locked')"
    )
    assert run(tmp_path, code) == "-1\nlocked\n"


def test_a_folder_of_its_own_that_becomes_a_link_leads_to_no_other_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, elsewhere = tmp_path / "own", tmp_path / "elsewhere"
    own.mkdir()
    elsewhere.mkdir()
    (own / "run").symlink_to(elsewhere)
    tried = str(own / "run" / "listener")
    address = struct.pack("=H", socket.AF_UNIX) + os.fsencode(tried)
    answers: list[int] = []
    marks: list[str] = []

    def answer(_listener: int, _request: launcher.Request, *, error: int) -> None:
        answers.append(error)

    def connected(*_: object) -> None:
        answers.append(0)

    def read(*_: object) -> bytes:
        return address

    # When the path was looked at, the link was a folder.
    monkeypatch.setattr("os.path.realpath", str)
    monkeypatch.setattr(launcher, "_read", read)
    monkeypatch.setattr(launcher, "_put_connected", connected)
    monkeypatch.setattr(launcher, "_answer", answer)
    monkeypatch.setattr(launcher, "mark", marks.append)
    request = launcher.Request(1, os.getpid(), 42, (3, 0, len(address)))
    with listening(elsewhere / "listener"):
        vars(launcher)["_connect"](9, request, [str(own)])
    assert answers == [errno.EACCES]
    assert marks == [f"connect{elsewhere}/listener"]
