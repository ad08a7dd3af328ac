"""The install command that an error about a missing extra names."""

import ast
import sys
import tomllib
from pathlib import Path, PurePosixPath

import pytest

from sayso import extras
from sayso.extras import install_command, install_fix, lasting_command, present_extras
from sayso.install_source import WHEEL, InstallSource, default_source, recorded_source
from sayso.installation import Environment, Installer, command_words, find_installer, shell_line

ROOT = Path(__file__).parents[1]
PYTHON = "/env/bin/python"


def environment(
    prefix: str,
    *,
    files: str = "",
    above: str = "",
    folder: str = "/home/ann",
    is_made_by_uv: bool = False,
    is_active: bool = False,
) -> Environment:
    return Environment(
        PurePosixPath(prefix),
        PYTHON,
        folder=PurePosixPath(folder),
        files=frozenset(files.split()),
        project_files=frozenset(above.split()),
        is_made_by_uv=is_made_by_uv,
        is_active=is_active,
    )


PIPX = "/home/ann/.local/share/pipx"
VENV = environment("/home/ann/project/.venv", is_active=True)
UV_VENV = environment("/home/ann/project/.venv", is_made_by_uv=True)
UV_PROJECT = environment("/home/ann/project/.venv", above="uv.lock", is_made_by_uv=True)


@pytest.mark.parametrize(
    ("running", "command"),
    [
        (VENV, "pip install 'sayso[cel]'"),
        (environment("/home/ann/.venv"), f"{PYTHON} -m pip install 'sayso[cel]'"),
        (environment("/usr", above="uv.lock"), f"{PYTHON} -m pip install 'sayso[cel]'"),
        (UV_VENV, f"uv pip install --python {PYTHON} 'sayso[cel]'"),
        (environment("/env", is_made_by_uv=True, is_active=True), "uv pip install 'sayso[cel]'"),
        (UV_PROJECT, "uv add --project /home/ann/project 'sayso[cel]'"),
        (
            environment("/p/.venv", above="uv.lock", folder="/p/src", is_made_by_uv=True),
            "uv add 'sayso[cel]'",
        ),
        (
            environment("/tools/sayso", files="uv-receipt.toml bin", is_made_by_uv=True),
            "uv tool install 'sayso[cel]'",
        ),
        (
            environment("/home/ann/.cache/uv/archive-v0/x1y2", is_made_by_uv=True),
            "uvx --from 'sayso[cel]' sayso",
        ),
        (
            environment("/home/ann/.cache/uv/environments-v2/x1y2", is_made_by_uv=True),
            "uvx --from 'sayso[cel]' sayso",
        ),
        (
            environment(f"{PIPX}/venvs/sayso", files="pipx_metadata.json"),
            "pipx install --force 'sayso[cel]'",
        ),
        (
            environment(f"{PIPX}/.cache/b1fe31", files="pipx_metadata.json"),
            "pipx run --spec 'sayso[cel]' sayso",
        ),
    ],
)
def test_the_command_installs_into_the_environment_that_is_running(
    running: Environment, command: str
) -> None:
    assert shell_line(command_words(find_installer(running), running, ("sayso[cel]",))) == command


@pytest.mark.parametrize("installer", Installer)
def test_an_editable_source_stays_editable_where_the_installer_can(installer: Installer) -> None:
    words = command_words(installer, VENV, ("--editable", "/src[cel]"))
    is_temporary = installer in (Installer.UVX, Installer.PIPX_RUN)
    assert "/src[cel]" in words
    assert ("--editable" in words) is not is_temporary


def test_a_name_that_a_shell_would_read_is_quoted() -> None:
    assert shell_line(("pip", "install", "/a b/$x.whl[cel]")) == "pip install '/a b/$x.whl[cel]'"


def test_before_the_first_release_the_wheel_is_named_and_later_the_index() -> None:
    assert default_source(is_published=False) == InstallSource(WHEEL)
    assert default_source(is_published=True).requirement("cel") == "sayso[cel]"


COMMIT = "0123456789abcdef0123456789abcdef01234567"
GIT = f'"vcs_info": {{"vcs": "git", "commit_id": "{COMMIT}"}}'


@pytest.mark.parametrize(
    ("record", "requirement"),
    [
        ('{"url": "file:///a%20b/sayso.whl"}', "/a b/sayso.whl[cel]"),
        ('{"url": "file:///src", "dir_info": {"editable": true}}', "/src[cel]"),
        (
            '{"url": "https://example.com/s.whl", "archive_info": {}}',
            "sayso[cel] @ https://example.com/s.whl",
        ),
        (
            f'{{"url": "https://example.com/s", {GIT}}}',
            f"sayso[cel] @ git+https://example.com/s@{COMMIT}",
        ),
        (
            f'{{"url": "ssh://git@example.com/s", {GIT}}}',
            f"sayso[cel] @ git+ssh://git@example.com/s@{COMMIT}",
        ),
    ],
)
def test_a_later_installation_takes_the_recorded_source(record: str, requirement: str) -> None:
    source = recorded_source(record)
    assert source is not None
    assert source.requirement("cel") == requirement
    assert source.is_editable is ("editable" in record)


@pytest.mark.parametrize(
    "record",
    [
        None,
        "",
        "{",
        "[]",
        '{"url": 1}',
        '{"url": "https://[broken"}',
        '{"url": "ftp://example.com/s.whl"}',
        '{"url": "https://example.com/s.whl?token=secret"}',
        '{"url": "https://secret@example.com/s.whl"}',
        '{"url": "ssh://git:secret@example.com/s"}',
        '{"url": "https://example.com/s", "vcs_info": {}}',
    ],
)
def test_a_damaged_record_and_one_with_a_secret_are_not_used(record: str | None) -> None:
    assert recorded_source(record) is None


class Package:
    """What `importlib.metadata` says of an installed sayso."""

    requires = ("anyio", 'msgspec; extra == "kept"', 'not-here; extra == "absent"')

    def __init__(self, source: Path) -> None:
        self.source = source

    def read_text(self, name: str) -> str:
        assert name == "direct_url.json"
        return f'{{"url": "{self.source.as_uri()}"}}'


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment of `uv tool`, with sayso from a wheel and one extra."""
    prefix = tmp_path / "tools" / "sayso"
    prefix.mkdir(parents=True)
    (prefix / "uv-receipt.toml").touch()
    wheel = tmp_path / "sayso.whl"
    wheel.touch()

    def metadata() -> tuple[list[str], str]:
        package = Package(wheel)
        return list(package.requires), package.read_text("direct_url.json")

    monkeypatch.setattr(extras, "_metadata", metadata)
    monkeypatch.setattr(sys, "prefix", str(prefix))
    return wheel


def test_a_tool_keeps_its_extras_and_its_source(tool: Path) -> None:
    assert install_command("cel") == f"uv tool install '{tool}[kept,cel]'"
    assert install_fix("kept") == f"Install it: uv tool install '{tool}[kept]'."
    assert lasting_command() is None


def test_a_source_that_is_gone_is_not_named(tool: Path) -> None:
    tool.unlink()
    expected = default_source().requirement("kept", "cel")
    assert install_command("cel") == f"uv tool install '{expected}'"


def test_a_cache_is_told_from_an_installation(
    tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "archive-v0" / "x"))
    assert lasting_command() == f"uv tool install '{tool}[kept]'"
    assert install_command("cel") == f"uvx --from '{tool}[kept,cel]' sayso"


def test_an_environment_of_uv_is_known_by_its_configuration(
    tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\nuv = 0.13.8\n")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    assert install_command("cel") == f"uv pip install '{tool}[cel]'"
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\nprompt = uv\n")
    assert install_command("cel") == f"pip install '{tool}[cel]'"


def test_a_sayso_without_metadata_names_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert install_command("cel").endswith(f" install '{default_source().requirement('cel')}'")


def test_an_extra_is_present_only_with_all_its_dependencies() -> None:
    requirements = ["a; extra == 'x'", "b[c]>=1; python_version > '3' and extra == \"x\"", "d"]
    assert present_extras(requirements, lambda _: True) == ("x",)
    assert present_extras(requirements, lambda name: name == "a") == ()


def test_several_extras_are_one_requirement() -> None:
    assert install_command("verify", "verify-postgres").endswith("[verify,verify-postgres]'")


def test_every_extra_that_a_message_names_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {
        argument.value
        for file in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in ("install_fix", "install_command")
        for argument in node.args
        if isinstance(argument, ast.Constant)
    }
    assert len(named) >= 10
    assert named <= set(project["optional-dependencies"])


def test_no_message_writes_its_own_install_command() -> None:
    own = {"extras.py", "install_source.py", "installation.py"}
    for file in (ROOT / "src").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if file.name not in own:
            assert "pip install" not in text, file
            assert "install sayso" not in text, file
