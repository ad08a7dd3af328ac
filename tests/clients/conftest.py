"""A machine of its own: a home, a folder to work in, and nothing of whoever runs the tests."""

from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder; the working folder is `work` in it."""
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    for variable in (
        "APPDATA",
        "CLAUDE_CONFIG_DIR",
        "GEMINI_CLI_HOME",
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
        "LOCALAPPDATA",
        "XDG_CONFIG_HOME",
    ):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home / "work")
    return home
