"""What a release says of itself, in each place, comes from one place."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from tools.release_check import problems
from tools.write_metadata import install_lines, readme, registry_name, written

from sayso.cli.app import app
from sayso.cli.commands import Parsed
from sayso.connect import HANDSHAKE_VERSIONS, MODERN
from sayso.install_source import default_source
from sayso.store import VERSION
from sayso.version import __version__

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = default_source(is_published=True)
WHEEL = default_source(is_published=False)
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOW: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("path", "content"), written().items(), ids=lambda value: str(value)[-10:])
def test_what_follows_from_the_version_and_the_source_is_up_to_date(
    path: Path, content: str
) -> None:
    assert path.read_text(encoding="utf-8") == content, "run make metadata"


def test_the_readme_changes_with_the_one_value() -> None:
    before = readme(README, WHEEL)
    after = readme(README, PUBLISHED)
    assert "No version is published yet" in before
    assert "dist/" not in install_lines(PUBLISHED)
    for command in ("pip install sayso", "uv add sayso", "uv tool install sayso", "uvx sayso demo"):
        assert f"`{command}`" in after
        assert f"`{command}`" not in before
    assert readme(after, WHEEL) == before


def test_a_readme_without_its_section_is_refused() -> None:
    with pytest.raises(SystemExit, match="one install section"):
        readme("# sayso\n", WHEEL)


def test_only_the_readme_says_how_to_install_sayso() -> None:
    own = re.compile(r"(install|add|uvx|--from|--spec) '?sayso\b(?! (install|--))")
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    assert own.search(install_lines(PUBLISHED))
    assert own.search(install_lines(WHEEL)) is None
    for page in pages:
        commands = re.findall(
            r"^(?:\$ )?((?:pip|uv|uvx|pipx) .*)$|`([^`\n]+)`", page.read_text(), re.MULTILINE
        )
        for command in map("".join, commands):
            if command.startswith(("pip", "uv")) and page.name != "README.md":
                assert own.search(command) is None, f"{page.name}: {command}"


def test_documents_for_builds_name_the_version_and_the_repository() -> None:
    text = (ROOT / "docs" / "guides" / "ci.md").read_text(encoding="utf-8")
    repository = PROJECT["urls"]["Repository"].removeprefix("https://github.com/")
    assert f"uses: {repository}@v{__version__}" in text
    assert f"repo: https://github.com/{repository}\n    rev: v{__version__}" in text


def test_the_changelog_names_the_version_of_the_tables_for_its_upgrade_notes() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = text.split("\n## ")[1]
    assert newest.startswith(f"{__version__} (")
    notes = newest.split("\n### Upgrade notes\n")[1].split("\n### ")[0]
    assert f"tables have version {VERSION}." in " ".join(notes.split())


def test_the_supported_versions_are_those_of_the_code() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    section = " ".join(text.split("\n## Supported versions\n")[1].split("\n## ")[0].split())
    names = [name.rpartition(" :: ")[2] for name in PROJECT["classifiers"]]
    pythons = [name for name in names if re.fullmatch(r"3\.\d+", name)]
    assert PROJECT["requires-python"] == f">={pythons[0]}"
    assert f"Python from {pythons[0]} to {pythons[-1]}" in section
    assert f"MCP version from {HANDSHAKE_VERSIONS[0]} to {MODERN}" in section


def test_the_entry_for_the_registry_keeps_the_registrys_limits() -> None:
    entry = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    (package,) = entry["packages"]
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 1 <= len(entry["description"]) <= 100
    assert entry["version"] == package["version"] == __version__
    assert package["identifier"] == PROJECT["name"]
    assert f"<!-- mcp-name: {registry_name()} -->" in README
    words = [argument.get("value", "mcp.json") for argument in package["packageArguments"]]
    parsed = app.parse(words)
    assert isinstance(parsed, Parsed)
    assert parsed.arguments["pipe"].stdio is True


READY = {"CHANGELOG.md": f"# Changelog\n\n## {__version__} (2026-12-01)\n"}


def test_nothing_stands_in_the_way_of_a_release_that_is_ready() -> None:
    assert problems(f"v{__version__}", READY, is_published=True) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"tag": "v9.9.9"}, "the tag is v9.9.9"),
        ({"is_published": False}, "set IS_PUBLISHED to True"),
        ({"files": {"CHANGELOG.md": "## Unreleased\n"}}, "no heading “##"),
        ({"files": {"CHANGELOG.md": f"## {__version__} (unreleased)\n"}}, "no heading “##"),
        ({"files": {**READY, "docs/x.md": "uses: OWNER/sayso@v1"}}, "docs/x.md still names OWNER"),
        ({"stale": ["server.json"]}, "server.json is out of date"),
    ],
)
def test_a_release_that_would_say_something_untrue_is_refused(
    change: dict[str, Any], problem: str
) -> None:
    ready: dict[str, Any] = {"tag": f"v{__version__}", "files": READY, "is_published": True}
    (found,) = problems(**(ready | change))
    assert problem in found


def steps(job: str) -> list[dict[str, Any]]:
    return WORKFLOW["jobs"][job]["steps"]


def test_only_the_job_that_publishes_may_speak_for_the_project() -> None:
    assert WORKFLOW["permissions"] == {}
    rights = {name: job["permissions"] for name, job in WORKFLOW["jobs"].items()}
    assert rights["build"] == {"contents": "read"}
    speaking = {name for name, allowed in rights.items() if "id-token" in allowed}
    assert speaking == {"attest", "publish"}
    for name in speaking:
        assert not any("checkout" in step.get("uses", "") or "run" in step for step in steps(name))
    assert WORKFLOW["jobs"]["publish"]["environment"] == "release"


def test_every_action_is_pinned_and_no_step_reads_a_secret() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)", text)
    assert len(used) >= 5
    assert all(re.search(r"@v\d|@release/v\d|@[0-9a-f]{40}$", name) for name in used)
    assert "secrets." not in text
    assert re.findall(r"run: .*\$\{\{", text) == []


def test_the_workflow_checks_and_builds_with_the_commands_of_the_makefile() -> None:
    commands = " ".join(step.get("run", "") for step in steps("build"))
    targets = re.findall(r"make ([a-z]+)", commands)
    rules = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"release", "dist", "sbom"} <= set(targets) <= set(rules)
