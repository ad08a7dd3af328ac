import os
import shutil
import sys
from pathlib import Path

import pytest
from tests.sandbox.boxes import start

from sayso.errors import CommandNotFoundError, UsageError
from sayso.sandbox.bind import is_crowded
from sayso.sandbox.box import SandboxSpec, open_box
from sayso.sandbox.root import Root, find_root
from sayso.sandbox.spec import Layer

ROOT = Path(__file__).parents[2]


def root_of(*command: str, cwd: Path | None = None, search: str | None = None) -> Root:
    path = os.environ["PATH"] if search is None else search
    return find_root(command, search=path, cwd=cwd or Path.cwd())


def executable(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)
    return file


def test_a_command_that_is_not_there_is_told() -> None:
    with pytest.raises(CommandNotFoundError, match="no-such-command"):
        root_of("no-such-command")
    with pytest.raises(CommandNotFoundError, match="full path"):
        root_of("./no/such/command")


def test_a_home_and_what_lies_above_it_is_never_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    script = executable(tmp_path / "server.py", "pass")
    root = root_of(sys.executable, str(script))

    assert script in [one.path for one in root.binds]
    assert not any(is_crowded(one.path) for one in root.binds)
    with pytest.raises(UsageError, match="would see all"):
        find_root([sys.executable], search="", cwd=tmp_path, server_cwd=tmp_path)


def test_an_interpreter_brings_its_prefix_and_its_base() -> None:
    binds = [one.path for one in root_of(sys.executable).binds]
    base = Path(sys.executable).resolve().parents[1]

    assert any(Path(sys.prefix).is_relative_to(one) for one in binds)
    assert base.is_relative_to("/usr") or any(base.is_relative_to(one) for one in binds)


def test_a_package_installed_to_be_edited_is_seen_where_it_lies(tmp_path: Path) -> None:
    environment, source = tmp_path / "venv", tmp_path / "elsewhere"
    packages = environment / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    source.mkdir()
    (packages / "one.pth").write_text(f"import os\n# a word\n{source}\n/no/such/folder\n")
    (environment / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (environment / "bin").mkdir()
    (environment / "bin" / "python").symlink_to("/usr/bin/env")

    assert source in [one.path for one in root_of(str(environment / "bin" / "python")).binds]


def test_a_script_is_seen_with_its_folder_where_its_path_is_given(tmp_path: Path) -> None:
    script = executable(tmp_path / "tool" / "serve", f"#!{sys.executable}\n")
    by_path = root_of("tool/serve", cwd=tmp_path)
    by_name = root_of("serve", search=f"{script.parent}:{os.environ['PATH']}")

    assert by_path.command[-1] == by_name.command[-1] == str(script)
    assert script.parent in [one.path for one in by_path.binds]
    assert script.parent not in [one.path for one in by_name.binds]
    assert script in [one.path for one in by_name.binds]


def test_saysos_own_starter_brings_the_file_it_starts(tmp_path: Path) -> None:
    file = executable(tmp_path / "project" / "server.py", "")
    root = root_of(
        sys.executable, "-m", "sayso.connect.launch", "project/server.py", "mcp", cwd=tmp_path
    )

    assert root.command[-2:] == (str(file), "mcp")
    assert file.parent in [one.path for one in root.binds]


def test_a_program_in_javascript_brings_its_package(tmp_path: Path) -> None:
    node = executable(tmp_path / "bin" / "node", "")
    project = tmp_path / "project"
    entry = executable(project / "dist" / "index.js", "#!/usr/bin/env node\n")
    (project / "package.json").write_text("{}")
    installed = executable(tmp_path / "npm/node_modules/@a/b/cli.js", "#!/usr/bin/env node\n")
    link = tmp_path / "bin" / "b"
    link.symlink_to(installed)
    search = f"{node.parent}:/usr/bin:/bin"

    root = root_of("node", "--no-warnings", str(entry), search=search)
    assert root.command == (str(node), "--no-warnings", str(entry))
    assert {one.path for one in root.binds} == {node.resolve(), project}

    root = root_of("b", "--port", "1", search=search)
    assert root.command == (str(node), str(installed), "--port", "1")
    assert tmp_path / "npm" / "node_modules" in [one.path for one in root.binds]


def test_a_shim_is_gone_behind(tmp_path: Path) -> None:
    real = executable(tmp_path / "versions" / "bin" / "serve", "#!/bin/sh\n")
    executable(tmp_path / ".manager" / "shims" / "serve", "#!/bin/sh\nexit 9\n")
    executable(
        tmp_path / ".manager" / "bin" / "manager", f"#!/bin/sh\n[ $1 = which ] && echo {real}\n"
    )
    search = str(tmp_path / ".manager" / "shims")

    assert root_of("serve", search=f"{search}:/usr/bin:/bin").command[-1] == str(real)


async def test_real_commands_start_with_no_more_than_their_root(
    layers: tuple[Layer, ...],
) -> None:
    commands = [
        (sys.executable, "-c", "import sayso, mcp; print('ready')"),
        (str(Path(sys.executable).parent / "mcp-server-git"), "--help"),
    ]
    filesystem = "@modelcontextprotocol/server-filesystem/dist/index.js"
    script = ROOT / "tests" / "npm" / "node_modules" / filesystem
    if shutil.which("node") and script.exists():
        commands.append(("node", str(script), "/no/such/folder"))
    said: list[str] = []
    for command in commands:
        async with open_box(SandboxSpec(command), layers) as box:
            ran = await start(box)
            said.append(ran.said + ran.complaint)

    assert said[0] == "ready\n"
    assert "--repository" in said[1]
    assert all("/no/such/folder" in one for one in said[2:])
