"""`sayso gateway` and `sayso demo`: they start, say where they are, and leave nothing behind."""

import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client
from tests.cli.running import (
    COMMAND,
    SOURCE,
    Done,
    Started,
    configuration,
    environment,
    python,
    sayso_process,
    started,
    write_json,
)
from tests.connect.servers.web import MODERN, serve_web
from tests.connect.serving import raw_client, until, until_listed
from tests.gateway.serving import ERAS
from tests.terminals import run_on_terminal

QUICK = ("gateway", "--port", "0", "--timeout", "5")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Generator[Started]:
    """A gateway over two servers, of which one fails."""
    folder = tmp_path_factory.mktemp("gateway")
    config = configuration(folder / "config.json", good=python("plain"), bad=python("exits"))
    store = f"sqlite:{folder / 'new folder' / 'sayso.db'}"
    with started(*QUICK, "--json", "--patience", "0.2", "--store", store, config) as run:
        end = time.monotonic() + 60
        while not run.err().endswith("\n"):  # the failure is told after the addresses
            assert time.monotonic() < end
            time.sleep(0.02)
        yield run
        done = run.end()
        assert done.code == 0
        assert "Traceback" not in done.err
        assert (folder / "new folder" / "sayso.db").stat().st_mode & 0o077 == 0


@pytest.fixture(scope="module", autouse=True)
def locked_out(tmp_path_factory: pytest.TempPathFactory) -> Generator[Started]:
    """A gateway whose database another program holds; it waits 5 s, so it is started first."""
    path = tmp_path_factory.mktemp("locked") / "sayso.db"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("BEGIN EXCLUSIVE")
        words = (*QUICK, "--json", "--store", f"sqlite:{path}", "--", *python("plain"))
        with started(*words, waits=False) as run:
            yield run


def test_it_prints_its_addresses_as_one_line_of_json(gateway: Started) -> None:
    found = gateway.addresses

    assert found["schema"] == 1
    assert found["mcp"].startswith("http://127.0.0.1:")
    assert found["console"].startswith(found["mcp"].removesuffix("/mcp") + "/console/")


def test_it_tells_of_the_server_that_fails_and_serves_the_other(gateway: Started) -> None:
    (line,) = gateway.err().splitlines()

    error = json.loads(line)["error"]
    assert error["code"] == "server-exited"
    assert error["where"].startswith("bad")


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_reads_and_is_asked_to_wait_before_it_destroys(
    gateway: Started, era: str
) -> None:
    async with Client(gateway.addresses["mcp"], mode=era) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        read = await client.call_tool("good__get_echo")
        waits = await client.call_tool("good__delete_all")

    assert {"good__get_echo", "good__delete_all"} <= tools
    assert not read.is_error
    assert waits.is_error
    assert "/console/" in getattr(waits.content[0], "text", "")


def test_a_program_that_names_another_host_gets_nothing(gateway: Started) -> None:
    base = gateway.addresses["mcp"].removesuffix("/mcp")
    for path in ("/mcp", "/console/", "/"):
        answer = httpx2.post(f"{base}{path}", headers={"host": "evil.example"}, trust_env=False)
        assert 400 <= answer.status_code < 500, path


def test_its_port_is_taken(gateway: Started) -> None:
    port = gateway.addresses["mcp"].rpartition(":")[2].removesuffix("/mcp")

    done = sayso_process("gateway", "--json", "--port", port, "--", *python("plain"))

    assert (done.code, done.out) == (2, "")
    assert done.error["code"] == "port-in-use"
    assert done.error["where"] == f"127.0.0.1:{port}"
    assert "--port" in done.error["fix"]


def children_of(pid: int) -> dict[int, str]:
    """The processes that `pid` has started and that still run, with what they were started as."""
    words = ["ps", "-A", "-o", "pid=,ppid=,stat=,args="]
    lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split(maxsplit=3) for line in lines]
    return {
        int(number): args
        for number, parent, state, args in rows
        if int(parent) == pid and not state.startswith("Z")
    }


def is_running(pid: int) -> bool:
    words = ["ps", "-o", "stat=", "-p", str(pid)]
    state = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    return bool(state) and not state.startswith("Z")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("number", "era", "code"),
    [(signal.SIGINT, "2026-07-28", 130), (signal.SIGTERM, "legacy", 0)],
)
async def test_a_signal_ends_it_and_all_that_it_has_started(
    number: signal.Signals, era: str, code: int, tmp_path: Path
) -> None:
    """The client is there to the end: one of the old era holds a stream open."""
    store = f"sqlite:{tmp_path / 'sayso.db'}"
    with started(*QUICK, "--store", store, "--", *python("plain")) as run:
        url = run.first.partition("/console/")[0]
        async with Client(f"{url}/mcp", mode=era) as client:
            result = await client.call_tool("faulty__start_child")
            grandchild = int(getattr(result.content[0], "text", ""))
            children = children_of(run.process.pid)
            begun = time.monotonic()
            done = await anyio.to_thread.run_sync(run.end, number)

    assert len(children) == 1
    assert time.monotonic() - begun < 10
    assert done.code == code
    assert "Open this link" in done.err
    assert f"MCP clients connect to {url}/mcp" in done.err
    assert "Traceback" not in done.err
    assert [pid for pid in (*children, grandchild) if is_running(pid)] == []


@pytest.mark.parametrize("is_ready", [True, False])
def test_sigterm_ends_it_in_the_background_of_a_shell_too(
    tmp_path: Path, *, is_ready: bool
) -> None:
    """There Ctrl-C is ignored from the start."""
    program = tmp_path / "silent.py"
    program.write_text(f"open({str(tmp_path / 'begun')!r}, 'x')\nimport sys\nsys.stdin.read()\n")
    server = python("plain") if is_ready else (sys.executable, str(program))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        store = f"sqlite:{tmp_path / 'sayso.db'}"
        words = ("gateway", "--port", "0", "--timeout", "60", "--store", store, "--", *server)
        with started(*words, waits=is_ready) as run:
            signal.signal(signal.SIGINT, before)
            if is_ready:
                base = run.first.partition("/console/")[0]
                assert httpx2.get(f"{base}/readyz", trust_env=False).status_code == 200
            end = time.monotonic() + 20
            while not is_ready and not (tmp_path / "begun").exists():
                assert time.monotonic() < end
                time.sleep(0.02)
            done = run.end()
    finally:
        signal.signal(signal.SIGINT, before)

    assert done.code == 0
    assert "Traceback" not in done.err


@pytest.mark.anyio
async def test_a_signal_ends_it_while_a_call_waits_for_a_person(tmp_path: Path) -> None:
    store = tmp_path / "sayso.db"
    ended: list[Done] = []
    with started(*QUICK, "--json", "--store", f"sqlite:{store}", "--", *python("plain")) as run:

        async def call() -> None:
            async with raw_client(run.addresses["mcp"], MODERN) as client:
                # How the answer ends is the server's last word, or none at all.
                with contextlib.suppress(httpx2.TransportError, LookupError):
                    await client.call("faulty__delete_all")

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await until(lambda: asked(store) == 1)
            ended.append(await anyio.to_thread.run_sync(run.end, signal.SIGTERM))
            group.cancel_scope.cancel()

    assert "Traceback" not in ended[0].err
    assert ended[0].code == 0
    with contextlib.closing(sqlite3.connect(store)) as database:
        rows = database.execute("SELECT event, body FROM records ORDER BY seq").fetchall()
    assert [(event, json.loads(body).get("outcome")) for event, body in rows] == [
        ("opened", None),
        ("asked", None),
        ("outcome", "waiting"),
    ]


def asked(store: Path) -> int:
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        return database.execute("SELECT count(*) FROM approvals").fetchone()[0]


def test_when_no_server_can_be_reached_it_ends_and_says_why_once(tmp_path: Path) -> None:
    words = (*QUICK, "--json", "--store", f"sqlite:{tmp_path / 'a.db'}")

    done = sayso_process(*words, "--", "no-such-command-here")

    assert done.code == 4
    assert done.out.count("\n") == 1
    assert done.error["code"] == "command-not-found"


def test_of_several_servers_that_all_fail_each_is_told_once(tmp_path: Path) -> None:
    config = configuration(tmp_path / "c.json", one=("no-such-one",), two=("no-such-two",))

    done = sayso_process(*QUICK, "--store", f"sqlite:{tmp_path / 'a.db'}", config)

    assert done.code == 4
    assert "Open this link" in done.err
    assert done.err.count("“no-such-one” was not found") == 1
    assert done.err.count("“no-such-two” was not found") == 1


@pytest.mark.anyio
async def test_its_link_comes_at_once_and_servers_are_told_of_as_they_come_up(
    tmp_path: Path,
) -> None:
    """The link leads somewhere while one server has not answered yet."""
    go = tmp_path / "go"
    late = tmp_path / "late.py"
    late.write_text(
        "import os, pathlib, sys, time\n"
        f"while not pathlib.Path({str(go)!r}).exists():\n"
        "    time.sleep(0.02)\n"
        f"os.execv(sys.executable, {[*python('plain')]!r})\n"
    )
    config = configuration(
        tmp_path / "c.json",
        late=(sys.executable, str(late)),
        good=python("plain"),
        bad=("no-such-command-here",),
    )
    words = ("gateway", "--port", "0", "--timeout", "60")
    with started(*words, "--store", f"sqlite:{tmp_path / 'a.db'}", config) as run:
        base = run.first.partition("/console/")[0]
        assert "late: connected" not in run.err()
        page = await anyio.to_thread.run_sync(lambda: httpx2.get(run.first.strip()))
        assert page.status_code == 200
        await until(lambda: "good: connected, 10 tools\n" in run.err(), 60)
        await until(lambda: "bad: the command “no-such-command-here”" in run.err(), 60)
        await until(lambda: "late: still starting" in run.err(), 60)
        assert "late: connected" not in run.err()
        go.touch()
        await until(lambda: "late: connected, 10 tools\n" in run.err(), 60)
        async with Client(f"{base}/mcp") as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
        done = await anyio.to_thread.run_sync(run.end)

    assert {"late__get_echo", "good__get_echo"} <= names
    assert done.code == 0
    assert done.err.index("Open this link") < done.err.index("good: connected")
    assert done.err.count("late: ") == 2
    assert done.out.count("\n") == 1


def test_at_a_terminal_the_link_stands_above_the_servers(tmp_path: Path) -> None:
    words = [*COMMAND, "gateway", "--port", "0", "--store", f"sqlite:{tmp_path / 'a.db'}", "--"]

    code, shown = run_on_terminal(
        [*words, *python("plain")], {"connected, 10 tools": "\x03"}, environment=environment()
    )

    assert code == 130
    lines = [line.strip() for line in shown.splitlines()]
    (link,) = [index for index, line in enumerate(lines) if "/console/login?token=" in line]
    assert link < lines.index("faulty: connected, 10 tools")
    assert "Traceback" not in shown


def test_a_server_that_wants_credentials_keeps_it_from_starting(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'a.db'}"
    with serve_web(any=lambda exchange: exchange.reply(401)) as site:
        done = sayso_process(*QUICK, "--json", "--store", store, site.url)

    assert (done.code, done.error["code"]) == (3, "authentication")


def test_a_saved_list_is_only_inspected(tmp_path: Path) -> None:
    saved = write_json(tmp_path / "tools.json", {"tools": []})

    done = sayso_process(*QUICK, "--json", "--store", f"sqlite:{tmp_path / 'a.db'}", saved)

    assert (done.code, done.out) == (2, "")
    assert done.error["where"] == saved


def foreign(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE theirs (x)")


def newer(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA application_id = {0x61766F77}")
        database.execute("PRAGMA user_version = 999")


def text(path: Path) -> None:
    path.write_text("This is no database, but a text of some length. " * 50)


def folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (foreign, "belongs to another program"),
        (newer, "of version 999"),
        (text, "not a valid SQLite database"),
        (folder, "cannot be used"),
    ],
)
def test_a_database_that_cannot_be_used_is_told_and_left_as_it_was(
    make: object, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "sayso.db"
    assert callable(make)
    make(path)
    before = contents(path)

    done = sayso_process(*QUICK, "--json", "--store", f"sqlite:{path}", "--", *python("plain"))

    assert (done.code, done.out) == (4, "")
    assert done.error["code"] == "store"
    assert done.error["where"] == str(path)
    assert said in done.error["what"]
    assert contents(path) == before


def contents(path: Path) -> object:
    """What a database holds, or a file."""
    if path.is_dir():
        return list(path.iterdir())
    if not path.read_bytes().startswith(b"SQLite format 3"):
        return path.read_bytes()
    with contextlib.closing(sqlite3.connect(path)) as database:
        return list(database.iterdump()), database.execute("PRAGMA user_version").fetchall()


def test_a_place_where_no_database_can_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    done = sayso_process(
        *QUICK, "--json", "--store", f"sqlite:{tmp_path}/file/sayso.db", "--", "true"
    )

    assert (done.code, done.error["code"]) == (4, "store")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_one_may_not_write_to_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)

    done = sayso_process(*QUICK, "--json", "--store", f"sqlite:{tmp_path}/sayso.db", "--", "true")

    assert (done.code, done.error["code"]) == (4, "store")
    assert "cannot be written" in done.error["what"]


def test_a_store_of_another_kind_is_told_without_its_password(tmp_path: Path) -> None:
    url = "mysql://amy:secret@db.example/sayso"

    done = sayso_process(*QUICK, "--json", "--", *python("plain"), SAYSO_STORE=url, cwd=tmp_path)

    assert (done.code, done.error["code"]) == (2, "usage")
    assert done.error["where"] == "SAYSO_STORE"
    assert "secret" not in done.err


@pytest.fixture
def taken() -> Generator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_port_that_another_program_has_is_told_before_anything_is_started(
    taken: int, tmp_path: Path
) -> None:
    done = sayso_process("demo", "--port", str(taken), TMPDIR=str(tmp_path))

    assert (done.code, done.out) == (2, "")
    assert "another program listens on this port" in done.err
    assert files_in(tmp_path) == []


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


@pytest.mark.anyio
async def test_the_demo_shows_its_tools_and_leaves_nothing_behind(tmp_path: Path) -> None:
    words = ("demo", "--json", "--port", "0", "--patience", "0.2")
    with started(*words, cwd=SOURCE, TMPDIR=str(tmp_path)) as run:
        assert run.first, run.err()
        await anyio.to_thread.run_sync(until_listed, run.addresses["mcp"])
        async with Client(run.addresses["mcp"]) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            found = await client.call_tool("demo__customers_list")
            waits = await client.call_tool("demo__customer_delete", {"customer_id": 1})
        children = children_of(run.process.pid)
        done = await anyio.to_thread.run_sync(run.end, signal.SIGTERM)

    assert len(tools) == 8
    assert not found.is_error
    assert waits.is_error
    assert done.code == 0
    assert children
    assert [pid for pid in children if is_running(pid)] == []
    assert files_in(tmp_path) == []


def test_a_database_that_another_program_holds_is_told(locked_out: Started) -> None:
    done = locked_out.wait()

    assert (done.code, done.out) == (4, "")
    assert done.error["code"] == "store"
    assert done.error["what"] == "the database is locked"
    assert done.error["where"].endswith("sayso.db")


def test_who_asks_for_a_websocket_is_answered_in_http_and_not_told_of(gateway: Started) -> None:
    before = gateway.err()
    wish = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-version": "13",
    }

    for url in (gateway.addresses["mcp"], gateway.addresses["mcp"].replace("/mcp", "/healthz")):
        answer = httpx2.get(url, headers=wish)
        assert answer.status_code in (200, 400)

    assert gateway.err() == before
