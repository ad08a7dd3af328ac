"""What runs without any extra: the environment has the base dependencies and nothing else."""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Generator
from contextlib import contextmanager
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tools.installed_size import LIMIT_MB, installed

ROOT = Path(__file__).parents[1]
EXTRAS = ("mcp", "mcp_types", "pydantic", "httpx2", "uvloop", "opentelemetry", "rich")


def base() -> dict[str, Distribution]:
    """Return sayso's dependencies without extras, and theirs, by name."""
    found: dict[str, Distribution] = {}
    open_names = ["sayso"]
    while open_names:
        name = open_names.pop()
        package = distribution(name)
        found[package.name] = package
        for line in package.requires or ():
            requirement = Requirement(line)
            is_needed = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if is_needed and distribution(requirement.name).name not in found:
                open_names.append(requirement.name)
    return found


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python whose site-packages has links to the base dependencies."""
    folder = tmp_path_factory.mktemp("minimal") / "venv"
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for package in base().values():
        for top in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
            source = Path(str(package.locate_file(top)))
            if source.exists() and source.suffix != ".pth":
                (site / top).symlink_to(source)
    (site / "sayso").symlink_to(ROOT / "src" / "sayso")
    return folder / "bin" / "python"


def environment(folder: Path) -> dict[str, str]:
    kept = ("PATH", "COVERAGE_PROCESS_CONFIG")
    return {name: os.environ[name] for name in kept if name in os.environ} | {
        "HOME": str(folder),
        "TMPDIR": str(folder),
    }


def run(python: Path, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [python, *words],
        check=False,
        capture_output=True,
        text=True,
        env=environment(folder),
        cwd=folder,
    )


@contextmanager
def serving(python: Path, folder: Path, *words: str) -> Generator[str]:
    """Run a command that serves, and return the MCP address that it prints as JSON."""
    command = [python, "-m", "sayso", *words, "--json", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment(folder), cwd=folder
    ) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["mcp"]
        finally:
            process.terminate()
            assert process.wait(60) == 0


def test_the_extras_are_absent(python: Path, tmp_path: Path) -> None:
    for name in EXTRAS:
        done = run(python, tmp_path, "-c", f"import {name}")
        assert f"No module named '{name}'" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (("inspect",), 0, "migrate_database"),
        (("lint",), 0, "no findings in 8 tools"),
        (("infer",), 0, "open_world"),
        (("prompt",), 0, "customers"),
        (("policy", "check"), 0, ""),
    ],
)
def test_commands_run_on_a_server(
    python: Path, tmp_path: Path, words: tuple[str, ...], code: int, expected: str
) -> None:
    (tmp_path / "policy.toml").write_text('mode = "guarded"\n')
    server = ("--", str(python), "-m", "sayso.demo")

    done = run(python, tmp_path, "-m", "sayso", *words, *server)

    assert (done.returncode, done.stderr) == (code, "")
    assert expected in done.stdout


def test_the_demo_and_its_client_run(python: Path, tmp_path: Path) -> None:
    with serving(python, tmp_path, "demo") as url:
        done = run(python, tmp_path, "-m", "sayso.demo.client", url)

    assert "demo__customer_delete" in done.stdout


def test_the_gateway_and_its_console_run(python: Path, tmp_path: Path) -> None:
    servers = {"crm": {"command": str(python), "args": ["-m", "sayso.demo"]}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    store = f"sqlite:{tmp_path / 'sayso.db'}"
    with serving(python, tmp_path, "gateway", "mcp.json", "--store", store) as url:
        done = run(python, tmp_path, "-m", "sayso.demo.client", url)
        console = url.removesuffix("mcp") + "console/login"
        ask = f"from urllib.request import urlopen; print(urlopen({console!r}).status)"
        page = run(python, tmp_path, "-c", ask)

    assert "crm__customer_delete" in done.stdout
    assert page.stdout == "200\n", page.stderr


@pytest.mark.parametrize("name", ["bind", "wrap", "declare", "Toolset"])
def test_a_name_that_needs_the_sdk_says_how_to_install_it(
    python: Path, tmp_path: Path, name: str
) -> None:
    done = run(python, tmp_path, "-c", f"import sayso; sayso.{name}")

    error = done.stderr.splitlines()[-1]
    assert "the package mcp is not installed. Install it: " in error
    assert "[mcp]" in error


def test_a_server_file_without_the_sdk_is_told_how_to_install_it(
    python: Path, tmp_path: Path
) -> None:
    (tmp_path / "server.py").write_text("from mcp.server import MCPServer\n")

    done = run(python, tmp_path, "-m", "sayso", "inspect", "server.py")

    assert done.returncode == 4
    assert "[mcp]" in done.stderr


@pytest.mark.proof
def test_pip_leaves_at_most_70_megabytes(tmp_path: Path) -> None:
    build = [sys.executable, "tools/build_dist.py"]
    subprocess.run(build, check=True, cwd=ROOT)
    (wheel,) = (ROOT / "dist").glob("*.whl")

    sizes = installed(wheel, [], tmp_path / "venv")

    assert sum(sizes.values()) / 2**20 <= LIMIT_MB, sizes
    assert not {"mcp", "pydantic", "httpx2", "uvloop"} & set(sizes)
