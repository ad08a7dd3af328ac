import json
import re
import sys
from pathlib import Path

import anyio
import pytest
from tests.sandbox.boxes import Run, files_of, start

from sayso.errors import UncontainedError, UsageError
from sayso.sandbox.box import SandboxSpec, open_box
from sayso.sandbox.limits import Limits
from sayso.sandbox.mount import Role, place_of
from sayso.sandbox.spec import Layer


async def test_nothing_of_this_machine_is_there_but_what_runs_the_server(run: Run) -> None:
    home = str(Path.home())
    ran = await run(
        "import os, json, sys\n"
        "look = lambda p: os.listdir(p) if os.path.isdir(p) else os.path.exists(p)\n"
        "paths = ['/', '/etc', '/run', '/var/run', '/sys', '/home']\n"
        "print(json.dumps({p: look(p) for p in [*paths, *sys.argv[1:]]}))",
        f"{home}/.ssh",
        "/run/docker.sock",
    )
    seen = json.loads(ran.said)

    assert seen["/run"] is seen["/var/run"] is seen["/sys"] is False
    assert seen[f"{home}/.ssh"] is seen["/run/docker.sock"] is False
    assert seen["/home"] == ["user"]
    assert not {"shadow", "machine-id", "hostname"} & set(seen["/etc"])


async def test_the_server_is_no_root_and_has_no_capability(run: Run) -> None:
    ran = await run(
        "import os; print(os.getuid(), os.getgid());"
        "print([l.split()[1] for l in open('/proc/self/status') if l.startswith('Cap')])"
    )

    assert ran.said.splitlines() == ["1000 1000", str(["0" * 16] * 5)]


async def test_other_processes_are_not_seen(run: Run) -> None:
    ran = await run("import os; print([p for p in os.listdir('/proc') if p.isdigit()])")

    assert len(json.loads(ran.said.replace("'", '"'))) <= 3


async def test_the_environment_holds_nothing_that_was_not_given(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "/tmp/agent")
    monkeypatch.setenv("TOKEN_OF_ANOTHER", "secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@127.0.0.1:1")
    ran = await run("import os, json; print(json.dumps(dict(os.environ)))", env={"GIVEN": "yes"})
    seen = json.loads(ran.said)

    assert seen["GIVEN"] == "yes"
    assert seen["HOME"] == "/home/user"
    assert seen["XDG_DATA_HOME"] == "/home/user/.local/share"
    assert not {"SSH_AUTH_SOCK", "TOKEN_OF_ANOTHER", "HTTPS_PROXY"} & seen.keys()


async def test_a_given_variable_stands_on_no_command_line(layers: tuple[Layer, ...]) -> None:
    spec = SandboxSpec((sys.executable, "-c", "pass"), env={"KEY": "a-secret-value"})
    async with open_box(spec, layers) as box:
        assert not any("a-secret-value" in word for word in box.command)
        assert box.trace is None or (await start(box)).trace.count("a-secret-value") == 0


async def test_nothing_can_be_written_outside_of_its_places(run: Run) -> None:
    ran = await run(
        "for p in ('/x', '/etc/x', '/usr/x', '/home/x', '/world'):\n"
        "    try: open(p, 'w'); print('wrote', p)\n"
        "    except OSError as e: print(e.errno)"
    )

    assert set(ran.said.split()) <= {"30", "2"}


async def test_what_it_writes_to_its_home_is_seen_outside(run: Run) -> None:
    ran = await run(
        "import tempfile, os\n"
        "open(os.path.expanduser('~/a'), 'w').write('1')\n"
        "open('/tmp/b', 'w').write('2'); open('/dev/shm/c', 'w').write('3')"
    )

    assert ran.written == {"/home/user/a": b"1", "/tmp/b": b"2", "/dev/shm/c": b"3"}


async def test_a_fixture_is_a_copy_at_the_same_path(run: Run, tmp_path: Path) -> None:
    fixture = tmp_path / "kept"
    fixture.mkdir()
    (fixture / "a.txt").write_text("one")
    path = str(fixture / "a.txt")
    ran = await run(f"open({path!r}, 'a').write(' two')", fixtures=(fixture,))

    assert ran.written[path] == b"one two"
    assert files_of(fixture) == {"a.txt": b"one"}
    place = place_of(ran.box.places, path)
    assert place is not None
    assert place.role is Role.FIXTURE


async def test_the_world_is_where_the_server_works(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    ran = await run(
        "import os, sys; print(os.getcwd(), sys.argv[1], os.listdir())",
        "{world}/a.txt",
        worlds=(("/world", tmp_path),),
    )

    assert ran.said.strip() == "/world /world/a.txt ['a.txt']"


async def test_a_world_that_is_not_there_cannot_be_named(run: Run) -> None:
    with pytest.raises(UsageError, match="no world"):
        await run("pass", "{world}")


async def test_no_connection_leaves_the_box(run: Run) -> None:
    ran = await run(
        "import socket\n"
        "for address in (('192.0.2.1', 80), ('example.com', 80), ('127.0.0.1', 9)):\n"
        "    try: socket.create_connection(address, timeout=5); print('connected')\n"
        "    except OSError as e: print(type(e).__name__)"
    )

    assert ran.said.split() == ["OSError", "gaierror", "ConnectionRefusedError"]


async def test_what_a_server_writes_to_its_package_stays_above_it(
    run: Run, tmp_path: Path, layers: tuple[Layer, ...]
) -> None:
    if not next(one for one in layers if one.name == "overlay").is_active:
        pytest.skip("needs an overlay")
    folder = tmp_path / "a, package: with signs"
    folder.mkdir()
    script = folder / "server.py"
    script.write_text("open(__file__ + '.log', 'w').write('ran')")
    ran = await run("", spec=SandboxSpec((sys.executable, str(script))))

    assert ran.written == {f"{script}.log": b"ran"}
    assert files_of(folder).keys() == {"server.py"}


async def test_without_an_overlay_the_package_is_read_only(
    tmp_path: Path, layers: tuple[Layer, ...]
) -> None:
    script = tmp_path / "server.py"
    script.write_text("open(__file__ + '.log', 'w')")
    without = [one for one in layers if one.name != "overlay"]
    async with open_box(SandboxSpec((sys.executable, str(script))), without) as box:
        ran = await start(box)

    assert "Read-only file system" in ran.complaint
    assert files_of(tmp_path).keys() == {"server.py"}


async def test_own_state_is_a_place_of_its_own(run: Run) -> None:
    own = "/var/lib/server"
    ran = await run(
        "import os, sys; open(sys.argv[1] + '/a', 'w'); open(os.path.expanduser('~/.b'), 'w')",
        own,
        own=(own, "~/.b"),
    )
    roles = {name: place_of(ran.box.places, name) for name in (f"{own}/a", "/home/user/.b")}

    assert [place and place.role for place in roles.values()] == [Role.OWN, Role.OWN]
    assert f"{own}/a" in ran.written
    assert not await anyio.Path(own).exists()


async def test_the_calls_of_the_server_are_written_down(
    run: Run, layers: tuple[Layer, ...]
) -> None:
    if not next(one for one in layers if one.name == "syscalls").is_active:
        pytest.skip("needs strace")
    ran = await run("open('/tmp/seen', 'w').write('bytes'); import os; os.stat('/tmp/seen')")

    assert 'openat(AT_FDCWD</home/user>, "/tmp/seen", O_WRONLY|O_CREAT|O_TRUNC' in ran.trace
    assert '</tmp/seen>, "bytes", 5) = 5' in ran.trace
    assert not re.search(r"^\d+ +[\d.]+ (\w*stat\w*|p?read\w*)\(", ran.trace, re.MULTILINE)


async def test_a_box_can_be_started_again_and_keeps_what_was_written(
    layers: tuple[Layer, ...],
) -> None:
    code = "import os; p = '/home/user/a'; print(os.path.exists(p)); open(p, 'w')"
    async with open_box(SandboxSpec((sys.executable, "-c", code)), layers) as box:
        said = [(await start(box)).said.strip() for _ in range(2)]

    assert said == ["False", "True"]


async def test_memory_and_the_size_of_files_are_held(run: Run) -> None:
    limits = Limits(memory=256 << 20, file=1 << 20)
    ran = await run(
        "try: b'x' * (1 << 30)\n"
        "except MemoryError: print('memory')\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "try: open('/tmp/a', 'wb').write(b'x' * (2 << 20))\n"
        "except OSError: print('file')",
        limits=limits,
    )

    assert ran.said.split() == ["memory", "file"]


async def test_no_user_namespace_can_be_made_inside(run: Run) -> None:
    ran = await run(
        "import subprocess; print(subprocess.run(['unshare', '-U', 'true']).returncode)"
    )

    assert ran.said.strip() != "0"


async def test_without_a_layer_nothing_is_run(layers: tuple[Layer, ...]) -> None:
    fewer = [one for one in layers if one.name != "network"]
    with pytest.raises(UncontainedError, match="network"):
        async with open_box(SandboxSpec(("true",)), fewer):
            pytest.fail("it was opened")


async def test_uncontained_has_folders_of_its_own_and_says_what_is_not_held(
    tmp_path: Path,
) -> None:
    layers = (Layer("root", is_active=False), Layer("users", is_active=True))
    code = "import os; open(os.path.expanduser('~/a'), 'w').write('1'); print(os.getcwd())"
    spec = SandboxSpec(
        (sys.executable, "-c", code),
        fixtures=(tmp_path,),
        worlds=(("/world", tmp_path),),
        is_uncontained=True,
    )
    async with open_box(spec, layers) as box:
        ran = await start(box)

    assert ran.written[f"{box.home}/a"] == b"1"
    assert ran.said.strip() == box.world
    assert not any(one.is_active for one in box.layers)
    assert "not copied" in box.notes[0]
    assert not await anyio.Path(box.home).exists()
