"""The package that a command runs, found from files or not at all."""

import json
import os
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from sayso.connect import CommandTarget
from sayso.connect import package_digest as packed_module
from sayso.connect.package import describe_installed, describe_package
from sayso.connect.startup import BYTECODE

RECORD = """notes_mcp/__init__.py,sha256=x,1
notes_mcp/__main__.py,,
notes_mcp/__pycache__/__init__.cpython-311.pyc,,
notes_mcp/gone.py,,
notes_lone.py,,

../../../bin/notes-mcp,,
/etc/passwd,,
Notes_MCP-1.2.dist-info/METADATA,,
Notes_MCP-1.2.dist-info/INSTALLER,,
Notes_MCP-1.2.dist-info/entry_points.txt,,
Notes_MCP-1.2.dist-info/RECORD,,
"""
SCRIPT = "#!{python}\nimport sys\nfrom notes_mcp import main\nsys.exit(main())\n"


def put(file: Path, text: str = "") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def run(*words: object, cwd: Path | None = None, **env: object) -> dict[str, Any] | None:
    command, *args = map(str, words)
    variables = {name: str(one) for name, one in env.items()}
    found = CommandTarget("s", command, tuple(args), variables, str(cwd) if cwd else None)
    told = describe_package(found)
    # Whether an earlier run has left bytecode is no part of what is compared.
    return told and {name: one for name, one in told.items() if name != BYTECODE}


def program(file: Path) -> Path:
    put(file, "#!/bin/sh\n").chmod(0o755)
    return file


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """An environment in which `notes-mcp` is installed."""
    root = tmp_path / "venv"
    put(root / "pyvenv.cfg")
    program(root / "bin" / "python")
    site = root / "lib" / "python3.11" / "site-packages"
    info = site / "Notes_MCP-1.2.dist-info"
    put(site / "notes_mcp" / "__init__.py", "def main(): ...")
    put(site / "notes_mcp" / "__main__.py")
    put(site / "notes_lone.py")
    put(info / "METADATA", "Metadata-Version: 2.1\nName: Notes_MCP\nVersion: 1.2\n")
    put(info / "INSTALLER", "pip")
    put(info / "entry_points.txt", "[console_scripts]\nnotes-mcp = notes_mcp:main\n")
    put(info / "RECORD", RECORD)
    put(site / "other-1.dist-info" / "METADATA", "Name: other\nVersion: 1\n")
    put(root / "bin" / "notes-mcp", SCRIPT.format(python=root / "bin" / "python")).chmod(0o755)
    return root


def site_of(venv: Path) -> Path:
    return venv / "lib" / "python3.11" / "site-packages"


# --- scripts -------------------------------------------------------------------------------------


@pytest.mark.process
def test_a_script_is_it_and_the_code_beside_it(tmp_path: Path) -> None:
    script = put(tmp_path / "p" / "crm.py", "import lib")
    put(tmp_path / "p" / "lib" / "a.py")
    put(tmp_path / "p" / "data.db", "1")
    before = run(sys.executable, script)
    assert before
    assert (before["kind"], before["name"], before["version"]) == ("script", "crm", "")
    for left in (".hidden/x.py", ".x.py", "__pycache__/crm.py", "lib/__pycache__/a.pyc", "data.db"):
        put(tmp_path / "p" / left, "2")
    assert run(sys.executable, script) == before
    assert run(sys.executable, "crm.py", "--port", "1", cwd=tmp_path / "p") == before
    put(tmp_path / "p" / "lib" / "b.py")
    added = run(sys.executable, script)
    assert added != before
    put(tmp_path / "p" / "lib" / "b.py", "#")
    assert run(sys.executable, script) not in (before, added)


@pytest.mark.process
def test_the_digest_is_over_sorted_paths_and_the_digests_of_files(tmp_path: Path) -> None:
    script = put(tmp_path / "b.py", "import a.c")
    put(tmp_path / "a" / "c.py", "c")
    lines = [
        f"{name}\0{sha256(text).hexdigest()}\n"
        for name, text in (("a/c.py", b"c"), ("b.py", b"import a.c"))
    ]
    found = run(sys.executable, script)
    assert found
    assert found["digest"] == sha256("".join(lines).encode()).hexdigest()


@pytest.mark.process
def test_a_file_that_moves_or_trades_its_content_is_another_package(tmp_path: Path) -> None:
    script, other = put(tmp_path / "a.py", "import b"), put(tmp_path / "b.py", "import b ")
    before = run(sys.executable, script)
    put(script, "import b ")
    put(other, "import b")
    assert run(sys.executable, script) != before


@pytest.mark.process
def test_what_sayso_launches_is_the_script(tmp_path: Path) -> None:
    script = put(tmp_path / "crm.py")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    words = ("-m", "sayso.connect.launch", script, "mcp")
    launched = run(sys.executable, *words, cwd=elsewhere)
    assert launched is not None
    assert launched == run(sys.executable, script, cwd=elsewhere)


@pytest.mark.process
def test_code_behind_a_link_to_a_folder_cannot_be_told(tmp_path: Path) -> None:
    put(tmp_path / "p" / "package.json", '{"name": "n", "version": "1"}')
    put(tmp_path / "out" / "x.js")
    assert run("node", put(tmp_path / "p" / "a.js"))
    (tmp_path / "p" / "deps").symlink_to(tmp_path / "out")
    assert run("node", tmp_path / "p" / "a.js") is None
    script = put(tmp_path / "s" / "crm.py", "import lib")
    put(tmp_path / "s" / "lib" / "a.py")
    assert run(sys.executable, script)
    (tmp_path / "s" / "lib" / "deps").symlink_to(tmp_path / "out")
    assert run(sys.executable, script) is None


@pytest.mark.parametrize("words", [(), ("-c", "1"), ("none.py",), ("-u", "crm.py"), ("-m",)])
@pytest.mark.process
def test_what_python_runs_otherwise_cannot_be_told(tmp_path: Path, words: tuple[str, ...]) -> None:
    put(tmp_path / "crm.py")
    assert run(sys.executable, *words, cwd=tmp_path) is None


@pytest.mark.process
def test_what_steers_the_interpreter_elsewhere_cannot_be_told(tmp_path: Path) -> None:
    script = put(tmp_path / "crm.py")
    assert run(sys.executable, script, TOKEN="x")
    assert run(sys.executable, script, PYTHONPATH=tmp_path) is None
    assert run("node", put(tmp_path / "a.js"), NODE_OPTIONS="-r x") is None


@pytest.mark.process
def test_what_is_too_large_or_a_pipe_cannot_be_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = put(tmp_path / "crm.py", "import b, pipe")
    put(tmp_path / "b.py", "2")
    with monkeypatch.context() as less:
        less.setattr(packed_module, "MOST_FILES", 1)
        assert run(sys.executable, script) is None
    with monkeypatch.context() as less:
        less.setattr(packed_module, "MOST_BYTES", 1)
        assert run(sys.executable, script) is None
    os.mkfifo(tmp_path / "pipe.py")
    assert run(sys.executable, script) is None


def test_a_command_that_is_not_there_or_is_anything_cannot_be_told(tmp_path: Path) -> None:
    assert run("no-such-command") is None
    assert run("sh", "server.sh") is None
    assert run(program(tmp_path / "server"), cwd=tmp_path) is None


# --- installed for Python ------------------------------------------------------------------------


def test_a_module_and_a_command_of_an_environment_are_its_package(venv: Path) -> None:
    found = run(venv / "bin" / "python", "-m", "notes_mcp", cwd=venv)
    assert found
    assert {**found, "digest": "", "files": {}} == {
        "kind": "pypi",
        "name": "notes-mcp",
        "version": "1.2",
        "digest": "",
        "files": {},
    }
    assert run(venv / "bin" / "notes-mcp", "--all") == found
    assert run("notes-mcp", PATH=f"{venv / 'bin'}") == found
    assert run(venv / "bin" / "python", "-m", "notes_lone", cwd=venv) == found


def test_who_installed_it_makes_no_difference_and_every_other_file_does(venv: Path) -> None:
    before, site = run(venv / "bin" / "notes-mcp"), site_of(venv)
    put(site / "Notes_MCP-1.2.dist-info" / "INSTALLER", "uv")
    put(venv / "bin" / "notes-mcp", SCRIPT.format(python=venv / "bin" / "python3")).chmod(0o755)
    put(site / "notes_mcp" / "__pycache__" / "x.pyc", "1")
    put(site / "elsewhere.py")
    assert run(venv / "bin" / "notes-mcp") == before
    put(site / "notes_mcp" / "added.py")
    added = run(venv / "bin" / "notes-mcp")
    assert added != before
    put(site / "notes_mcp" / "__init__.py", "#")
    assert run(venv / "bin" / "notes-mcp") not in (before, added)


def test_a_module_that_lies_where_it_is_started_is_not_what_is_installed(
    venv: Path, tmp_path: Path
) -> None:
    words = (venv / "bin" / "python", "-m", "notes_mcp")
    assert run(*words, cwd=tmp_path)
    put(tmp_path / "notes_mcp.py")
    assert run(*words, cwd=tmp_path) is None
    (tmp_path / "notes_mcp.py").unlink()
    (tmp_path / "notes_mcp").mkdir()
    assert run(*words, cwd=tmp_path) is None
    (tmp_path / "notes_mcp").rmdir()
    put(tmp_path / "json" / "__init__.py")
    assert run(*words, cwd=tmp_path) is None


def test_what_lies_under_the_name_of_an_installed_module_counts_if_python_may_load_it(
    venv: Path,
) -> None:
    before = run(venv / "bin" / "notes-mcp")
    assert before
    put(site_of(venv) / "notes_lone.txt")
    assert run(venv / "bin" / "notes-mcp") == before
    put(site_of(venv) / "notes_lone" / "inner.py")
    assert run(venv / "bin" / "notes-mcp") != before


def test_what_is_not_installed_as_files_cannot_be_told(venv: Path) -> None:
    info = site_of(venv) / "Notes_MCP-1.2.dist-info"
    put(info / "RECORD", "__editable__.notes.pth,,\nNotes_MCP-1.2.dist-info/METADATA,,\n")
    assert run(venv / "bin" / "notes-mcp") is None
    assert run(venv / "bin" / "python", "-m", "notes_mcp", cwd=venv) is None
    (info / "RECORD").unlink()
    assert run(venv / "bin" / "notes-mcp") is None


def test_a_command_that_does_something_else_is_not_its_package(venv: Path) -> None:
    put(venv / "bin" / "notes-mcp", "#!/a\nimport os\n").chmod(0o755)
    assert run(venv / "bin" / "notes-mcp") is None
    put(venv / "bin" / "other", SCRIPT).chmod(0o755)
    assert run(venv / "bin" / "other") is None
    (venv / "bin" / "notes-mcp").write_bytes(b"\xff\xfe")
    assert run(venv / "bin" / "notes-mcp") is None


def test_packages_in_several_places_cannot_be_told(venv: Path) -> None:
    (venv / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    assert run(venv / "bin" / "notes-mcp") is None
    assert run(venv / "bin" / "python", "-m", "notes_mcp", cwd=venv) is None


def test_outside_of_an_environment_what_the_user_has_installed_may_come_first(
    venv: Path, tmp_path: Path
) -> None:
    (venv / "pyvenv.cfg").unlink()
    words = (venv / "bin" / "python", "-m", "notes_mcp")
    assert run(*words, cwd=tmp_path, HOME=tmp_path / "amy")
    (tmp_path / "amy/.local/lib/python3.11/site-packages").mkdir(parents=True)
    assert run(*words, cwd=tmp_path, HOME=tmp_path / "amy") is None


def test_an_installed_tool_is_what_uvx_runs(venv: Path, tmp_path: Path) -> None:
    uvx = program(tmp_path / "path" / "uvx")
    tools = tmp_path / "amy" / ".local" / "share" / "uv" / "tools"
    assert run(uvx, "notes-mcp", HOME=tmp_path / "amy") is None
    tools.mkdir(parents=True)
    venv.rename(tools / "notes-mcp")
    moved = tools / "notes-mcp" / "bin"
    put(moved / "notes-mcp", SCRIPT.format(python=moved / "python"))
    found = run(uvx, "notes-mcp", "--flag", HOME=tmp_path / "amy")
    assert found
    assert found["name"] == "notes-mcp"
    assert run(uvx, "notes-mcp", UV_TOOL_DIR=tools, HOME="/") == found
    assert run(uvx, "notes-mcp", XDG_DATA_HOME=tools.parent.parent, HOME="/") == found
    for words in (
        (),
        ("notes-mcp@latest",),
        ("--from", "notes-mcp", "notes-mcp"),
        ("../notes-mcp",),
    ):
        assert run(uvx, *words, HOME=tmp_path / "amy") is None


def test_what_was_installed_into_a_folder_is_the_package_that_runs_elsewhere(
    venv: Path, tmp_path: Path
) -> None:
    assert describe_installed("pypi", "notes_mcp", venv) == run(venv / "bin" / "notes-mcp")
    assert describe_installed("pypi", "none", venv) is None
    assert describe_installed("pypi", "notes-mcp", tmp_path) is None
    folder = npm(tmp_path / "node_modules" / "@notes" / "mcp")
    found = run("node", folder / "dist" / "index.js")
    assert describe_installed("npm", "@notes/mcp", tmp_path) == found
    assert describe_installed("npm", "none", tmp_path) is None


# --- installed for Node.js -----------------------------------------------------------------------


def npm(folder: Path, name: str = "@notes/mcp", version: Any = "3.1.0") -> Path:
    put(folder / "package.json", json.dumps({"name": name, "version": version}))
    put(folder / "dist" / "index.js", "serve()")
    return folder


def test_a_program_for_node_is_the_package_around_it(tmp_path: Path) -> None:
    folder = npm(tmp_path / "node_modules" / "@notes" / "mcp")
    found = run("node", folder / "dist" / "index.js")
    assert found
    assert (found["kind"], found["name"], found["version"]) == ("npm", "@notes/mcp", "3.1.0")
    command = tmp_path / "node_modules" / ".bin" / "notes"
    command.parent.mkdir()
    command.symlink_to("../@notes/mcp/dist/index.js")
    (folder / "dist" / "index.js").chmod(0o755)
    assert run(command) == found
    put(folder / ".code.js")
    hidden = run(command)
    assert hidden != found
    put(folder / "node_modules" / "dep" / "x.js")
    assert run(command) != hidden


def test_a_program_for_node_without_a_package_is_a_script() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = run("node", put(Path(folder) / "a.mjs"))
        assert found
        assert (found["kind"], found["name"]) == ("script", "a")


def test_a_script_for_node_counts_links_and_bears_neither_a_pipe_nor_a_whole_home(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        assert run("node", folder / "none.js") is None
        script = put(folder / "a.js", "serve()")
        alone = run("node", script)
        assert alone
        (folder / "lib.js").symlink_to(folder)
        assert run("node", script) != alone
        with monkeypatch.context() as fewer:
            fewer.setattr(packed_module, "MOST_FILES", 1)
            assert run("node", script) is None
        os.mkfifo(folder / "pipe.js")
        assert run("node", script) is None


@pytest.mark.parametrize("text", ["", "[]", '{"name": 7}', '{"name": "n", "version": 1}'])
def test_a_package_without_a_name_or_a_version_cannot_be_told(tmp_path: Path, text: str) -> None:
    put(tmp_path / "package.json", text)
    assert run("node", put(tmp_path / "a.js")) is None


def test_node_without_a_script_cannot_be_told() -> None:
    assert run("node") is None
    assert run("node", "-r", "x", "a.js") is None


def test_what_npx_finds_installed_or_has_fetched_before_is_the_package(tmp_path: Path) -> None:
    npx, home = program(tmp_path / "path" / "npx"), tmp_path / "amy"
    here = tmp_path / "project" / "deep"
    here.mkdir(parents=True)

    def look(*words: str, **env: object) -> dict[str, Any] | None:
        return run(npx, *words, cwd=here, **{"HOME": home, **env})

    assert look("-y", "@notes/mcp") is None
    fetched = home / ".npm" / "_npx" / "a1"
    npm(fetched / "node_modules" / "@notes" / "mcp")
    assert look("-y", "@notes/mcp") is None
    put(fetched / "package.json", '{"_npx": {"packages": ["@notes/mcp"]}}')
    put(home / ".npm" / "_npx" / "b2" / "package.json", '{"_npx": 7}')
    found = look("-y", "@notes/mcp", "/data")
    assert found
    assert found["version"] == "3.1.0"
    assert look("@notes/mcp", npm_config_cache=home / ".npm", HOME="/") == found
    assert look("@notes/mcp@3.1.0") is None  # fetched for other words
    npm(tmp_path / "project" / "node_modules" / "@notes" / "mcp", version="4.0.0")
    local = look("--yes", "@notes/mcp@4.0.0")
    assert local
    assert local["version"] == "4.0.0"
    assert look("@notes/mcp@3.1.0") is None
    for words in ((), ("-p", "x", "y"), ("@notes/mcp@latest",), ("../x",), ("github:a/b",)):
        assert look(*words) is None
