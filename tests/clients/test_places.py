"""Where each client keeps its servers, on three systems."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from sayso.clients.kinds import CLIENTS
from sayso.clients.places import Machine, places


def found(system: str, home: Path, environ: Mapping[str, str]) -> dict[str, list[str]]:
    machine = Machine(system, home, home / "desk", environ)
    return {
        name: [
            f"{one.scope} {'/'.join(one.path.parts).replace('//', '/')}"
            for one in places(machine, client)
        ]
        for name, client in CLIENTS.items()
    }


def test_on_linux(tmp_path: Path) -> None:
    profile = tmp_path / ".config/Code/User/profiles/ab12/mcp.json"
    profile.parent.mkdir(parents=True)
    profile.write_text("{}")
    h = tmp_path
    assert found("linux", h, {}) == {
        "claude-code": [
            f"user {h}/.claude.json",
            f"project {h}/desk/.mcp.json",
            "system /etc/claude-code/managed-mcp.json",
        ],
        "claude-desktop": [f"user {h}/.config/Claude/claude_desktop_config.json"],
        "cursor": [f"user {h}/.cursor/mcp.json", f"project {h}/desk/.cursor/mcp.json"],
        "vscode": [
            f"user {h}/.config/Code/User/mcp.json",
            f"project {h}/desk/.vscode/mcp.json",
            f"profile {h}/.config/Code - Insiders/User/mcp.json",
            f"profile {h}/.config/VSCodium/User/mcp.json",
            f"profile {profile}",
        ],
        "gemini": [
            f"user {h}/.gemini/settings.json",
            f"project {h}/desk/.gemini/settings.json",
            "system /etc/gemini-cli/settings.json",
        ],
    }


def test_on_macos(tmp_path: Path) -> None:
    places_there = found("darwin", tmp_path, {})
    support = f"{tmp_path}/Library/Application Support"
    assert places_there["claude-desktop"] == [f"user {support}/Claude/claude_desktop_config.json"]
    assert places_there["vscode"][0] == f"user {support}/Code/User/mcp.json"
    shared = "/Library/Application Support"
    assert places_there["gemini"][-1] == f"system {shared}/GeminiCli/settings.json"
    assert places_there["claude-code"][-1] == f"system {shared}/ClaudeCode/managed-mcp.json"


def test_on_windows(tmp_path: Path) -> None:
    roaming, local = tmp_path / "AppData" / "Roaming", tmp_path / "AppData" / "Local"
    environ = {"APPDATA": str(roaming), "LOCALAPPDATA": str(local), "PROGRAMDATA": "/ProgramData"}
    places_there = found("win32", tmp_path, environ)
    assert places_there["claude-desktop"] == [f"user {roaming}/Claude/claude_desktop_config.json"]
    assert places_there["vscode"][0] == f"user {roaming}/Code/User/mcp.json"
    assert places_there["gemini"][-1] == "system /ProgramData/gemini-cli/settings.json"
    # The edition from Microsoft's store.
    package = local / "Packages" / "Claude_pzs8sxrjxfjjc"
    package.mkdir(parents=True)
    folder = package / "LocalCache" / "Roaming" / "Claude"
    assert found("win32", tmp_path, environ)["claude-desktop"] == [
        f"user {folder}/claude_desktop_config.json"
    ]
    assert found("win32", tmp_path, {})["vscode"][0] == f"user {roaming}/Code/User/mcp.json"
    assert "C:/ProgramData" in found("win32", tmp_path, {})["gemini"][-1]


@pytest.mark.parametrize(
    ("variable", "client", "at", "expected"),
    [
        ("CLAUDE_CONFIG_DIR", "claude-code", 0, "user /x/.claude.json"),
        ("GEMINI_CLI_HOME", "gemini", 0, "user /x/.gemini/settings.json"),
        ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "gemini", 2, "system /x"),
        ("XDG_CONFIG_HOME", "vscode", 0, "user /x/Code/User/mcp.json"),
    ],
)
def test_variables_move_them(
    tmp_path: Path, variable: str, client: str, at: int, expected: str
) -> None:
    assert found("linux", tmp_path, {variable: "/x"})[client][at] == expected


def test_in_the_home_folder_a_file_counts_once(tmp_path: Path) -> None:
    machine = Machine("linux", tmp_path, tmp_path, {})
    assert [one.scope for one in places(machine, CLIENTS["cursor"])] == ["user"]
    assert json.dumps([one.scope for one in places(machine, CLIENTS["gemini"])]) == (
        '["user", "system"]'
    )
