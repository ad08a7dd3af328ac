"""What the repository must not hold: a machine's paths, registries' hosts, unchecked versions."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))

MACHINE_PATH = re.compile(r"(?<![\w.\-/<>$}*])/(?:root|opt|work)(?=/|\b)")
REGISTRY_HOST = re.compile(
    r"\b(?:pypi|pythonhosted|npmjs|yarnpkg|crates|anaconda)[.](?:org|com|io)\b"
)
# The beginning of a requirement; the lines below it hold its hashes.
PINNED = re.compile(
    r"^(?P<name>[a-z0-9.-]+)(?:\[[a-z0-9,-]+\])?==(?P<version>[^\s;]+)", re.MULTILINE
)


def listed(*options: str) -> list[str]:
    """The repository's files as git sees them."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs git and a checkout")
    command = ["git", "ls-files", "-z", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return [name for name in done.stdout.decode().split("\0") if name]


def places(pattern: re.Pattern[str]) -> list[str]:
    """Where a pattern stands in the files that are tracked or would be by `git add`."""
    found: list[str] = []
    for name in listed("--cached", "--others", "--exclude-standard"):
        path = ROOT / name
        if path.is_symlink() or not path.is_file():
            continue
        content = path.read_bytes()
        if b"\0" in content:
            continue
        lines = content.decode("utf-8", errors="replace").splitlines()
        found += [
            f"{name}:{number}: {line.strip()}"
            for number, line in enumerate(lines, start=1)
            if pattern.search(line)
        ]
    return found


def versions(path: Path) -> dict[str, str]:
    found = PINNED.finditer(path.read_text(encoding="utf-8"))
    return {match["name"]: match["version"] for match in found}


def test_no_file_holds_a_path_of_the_machine_it_was_written_on() -> None:
    assert places(MACHINE_PATH) == []


def test_no_file_holds_the_place_of_this_checkout() -> None:
    # A checkout right under the root has a path too short to mean anything.
    if len(ROOT.parts) > 2:
        assert places(re.compile(re.escape(str(ROOT)) + r"\b")) == []


def test_no_file_names_a_registry_host() -> None:
    assert places(REGISTRY_HOST) == []


def test_the_lock_of_uv_is_not_tracked() -> None:
    assert "uv.lock" not in listed("--cached")


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_every_requirement_is_pinned_and_has_hashes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    logical = re.sub(r"\\\n\s*", "", text).splitlines()
    entries = [line for line in logical if line.strip() and not line.lstrip().startswith("#")]

    assert entries
    assert [line for line in entries if not PINNED.match(line)] == []
    assert [line for line in entries if "--hash=sha256:" not in line] == []


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_no_requirement_says_where_to_download_it(path: Path) -> None:
    options = r"--(?!hash=)\S+|://|\bfile:"

    assert re.findall(options, path.read_text(encoding="utf-8")) == []


def test_the_oldest_requirements_are_what_the_extras_allow_at_least() -> None:
    oldest = versions(ROOT / "requirements" / "oldest.txt")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    frameworks = [*extras["pydantic-ai"], *extras["openai-agents"], *extras["langchain"]]

    for line in (line for line in frameworks if line != "sayso[mcp]"):
        name, least = line.split(">=")
        assert f"{oldest[name]}.0.0".startswith(f"{least}."), line


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cd " + "/" + "work/main", True),
        ('"' + "/" + 'opt/tool"', True),
        ("HOME=" + "/" + "root", True),
        ("src/" + "work/item.py", False),
        ("https://example.com/" + "opt/in", False),
        ("${PREFIX}/" + "opt/bin", False),
        ("./" + "root/file", False),
    ],
)
def test_a_machine_path_is_told_from_a_path_inside_the_project(
    *, line: str, expected: bool
) -> None:
    assert bool(MACHINE_PATH.search(line)) is expected
