import json
import shutil
import tarfile
from pathlib import Path

import pytest
from tests.sandbox.boxes import start

from sayso.errors import UnreachableError, UsageError
from sayso.sandbox.box import SandboxSpec, open_box
from sayso.sandbox.fetched import Fetched, read_fetched
from sayso.sandbox.prepare import prepare_by, prepare_fetched
from sayso.sandbox.spec import Layer


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npx -y @a/b@1.0 --port 1", Fetched("npm", ("@a/b@1.0",), "", ("--port", "1"))),
        ("npx --package=c -- d", Fetched("npm", ("c",), "d", ())),
        ("uvx e@2.0 -v", Fetched("pypi", ("e==2.0",), "e", ("-v",))),
        ("uvx e@latest", Fetched("pypi", ("e",), "e", ())),
        ("uvx --from f[x]==1 --with g h", Fetched("pypi", ("f[x]==1", "g"), "h", ())),
        ("uv tool run e", Fetched("pypi", ("e",), "e", ())),
    ],
)
def test_what_a_command_would_fetch_is_read_from_its_words(command: str, expected: Fetched) -> None:
    assert read_fetched(command.split()) == expected


@pytest.mark.parametrize("command", ["npx --node-options=x a", "npx", "uvx --from . a", "npx ./a"])
def test_what_may_install_something_else_is_refused(command: str) -> None:
    with pytest.raises(UsageError):
        read_fetched(command.split())


def test_other_commands_fetch_nothing() -> None:
    assert read_fetched(["node", "a.js"]) is None


def packed(folder: Path) -> Path:
    """A package of npm with a script that runs when it is installed."""
    package = {
        "name": "a-server",
        "version": "1.2.3",
        "bin": {"a-server": "serve.js"},
        "scripts": {"postinstall": "touch ran"},
    }
    source = folder / "package"
    source.mkdir()
    (source / "package.json").write_text(json.dumps(package))
    (source / "serve.js").write_text("#!/usr/bin/env node\nconsole.log('serves', process.argv[2])")
    with tarfile.open(folder / "a.tgz", "w:gz") as file:
        file.add(source, "package")
    return folder / "a.tgz"


@pytest.mark.process
async def test_a_package_is_installed_and_seen_by_the_box(
    layers: tuple[Layer, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shutil.which("npm"):
        pytest.skip("needs npm")
    # A package on the disk needs no registry. A setting that names it lets the installer see it.
    archive = packed(tmp_path)
    monkeypatch.setenv("SSL_CERT_DIR", str(archive))
    into = tmp_path / "into"
    into.mkdir()
    command = ("npx", "-p", f"file:{archive}", "a-server", "amy")
    prepared = await prepare_fetched(command, into, layers=layers)

    assert prepared is not None
    assert not (into / "node_modules" / "a-server" / "ran").exists()
    async with open_box(SandboxSpec(command, prepared=prepared), layers) as box:
        assert (await start(box)).said == "serves amy\n"


@pytest.mark.process
@pytest.mark.parametrize("runs_scripts", [False, True])
async def test_install_scripts_run_in_the_prepare_step_only_if_they_are_allowed(
    layers: tuple[Layer, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    runs_scripts: bool,
) -> None:
    if not shutil.which("npm"):
        pytest.skip("needs npm")
    archive = packed(tmp_path)
    monkeypatch.setenv("SSL_CERT_DIR", str(archive))
    into = tmp_path / "into"
    into.mkdir()
    command = ("npx", "-p", f"file:{archive}", "a-server")
    prepared = await prepare_fetched(command, into, layers=layers, runs_scripts=runs_scripts)

    assert prepared is not None
    assert (into / "node_modules" / "a-server" / "ran").exists() is runs_scripts
    assert prepared.unscripted == (() if runs_scripts else ("a-server",))


@pytest.mark.process
async def test_a_package_that_cannot_be_had_is_told_in_the_installers_words(
    layers: tuple[Layer, ...], tmp_path: Path
) -> None:
    if not shutil.which("npm"):
        pytest.skip("needs npm")
    (tmp_path / "into").mkdir()
    with pytest.raises(UnreachableError, match="ENOENT"):
        await prepare_fetched(
            ["npx", "-p", "file:/no/such/file.tgz", "a"], tmp_path / "into", layers=layers
        )


@pytest.mark.process
async def test_a_line_of_the_operators_own_works_on_a_copy_of_the_project(
    layers: tuple[Layer, ...], tmp_path: Path
) -> None:
    project, into = tmp_path / "project", tmp_path / "into"
    project.mkdir()
    into.mkdir()
    (project / "serve.sh").write_text("cat made")
    command = ("/bin/sh", str(project / "serve.sh"))
    prepared = await prepare_by(
        "echo built > made; touch ~/x", into, command, layers=layers, project=project
    )

    assert not (project / "made").exists()
    async with open_box(SandboxSpec(command, cwd=str(project), prepared=prepared), layers) as box:
        assert (await start(box)).said == "built\n"
