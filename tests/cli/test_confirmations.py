"""Commands that take something away ask first, and change nothing without a yes."""

import json
import sys
from pathlib import Path

import anyio
import pytest
from tests.cli.test_drift import fill as fill_drift
from tests.cli.test_grants import fill as fill_grants
from tests.cli.test_quarantine import fill as fill_quarantine

from sayso.cli import main
from sayso.errors import UsageError
from sayso.store import open_store

COMMANDS = {
    "keys revoke": ("keys revoke ci", "Revoke 2 API keys (ci "),
    "grants revoke": ("grants revoke 1", "Revoke 1 grant (number 1: "),
    "quarantine lift": (
        "quarantine lift crm find",
        "Release 1 tool (crm find, which tried to “write /home/bo/notes.txt”)?",
    ),
    "drift accept": (
        "drift accept crm --all",
        "Accept 2 changes (crm a: destructive → read, crm b: destructive → read)?",
    ),
}


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that holds something for each of the commands."""
    path = tmp_path / "sayso.db"
    monkeypatch.delenv("SAYSO_KEYS", raising=False)
    monkeypatch.setenv("SAYSO_STORE", f"sqlite:{path}")
    for name in ("ci", "ci", "nightly"):
        assert main(["keys", "create", name]) == 0
    anyio.run(fill_grants)
    anyio.run(fill_quarantine, "place1")
    anyio.run(fill_drift, "place1")
    return path


def left() -> dict[str, int]:
    """How much of each kind there is."""

    async def run() -> dict[str, int]:
        store = open_store()
        try:
            return {
                "keys revoke": sum(row.revoked_at is None for row in await store.api_keys.all()),
                "grants revoke": sum(row.revoked_at is None for row in await store.grants.newest()),
                "quarantine lift": len(await store.quarantines.all()),
                "drift accept": sum(row.held is not None for row in await store.definitions.all()),
            }
        finally:
            await store.close()

    return anyio.run(run)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_refuses_without_a_terminal_and_says_what_it_would_do(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words, question = COMMANDS[name]
    before = left()
    assert main(words.split()) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert f"confirmation required: {question}" in told
    assert "--yes" in told
    assert main([*words.split(), "--json"]) == 2
    assert question in json.loads(capsys.readouterr().err)["error"]["what"]
    assert left() == before


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("name", COMMANDS)
def test_only_a_yes_is_acted_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words, question = COMMANDS[name]
    before = left()
    asked: list[str] = []
    answers = [False, True]

    def answer(text: str) -> bool:
        asked.append(text)
        return answers[len(asked) - 1]

    monkeypatch.setattr("sayso.cli.terminal.agrees", answer)
    assert main(words.split()) != 0
    assert left() == before
    assert main(words.split()) == 0
    assert len(asked) == 2
    assert all(one.startswith(question) for one in asked)
    after = left()
    assert after[name] < before[name]
    assert {key: after[key] for key in after if key != name} == {
        key: before[key] for key in before if key != name
    }


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("name", COMMANDS)
def test_with_yes_nothing_is_asked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str) -> bool:
        raise UsageError("asked")

    monkeypatch.setattr("sayso.cli.terminal.agrees", refuse)
    before = left()
    assert main([*COMMANDS[name][0].split(), "--yes"]) == 0
    assert left()[name] < before[name]


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("keys revoke absent", "no valid API key 'absent'"),
        ("grants revoke 9", "no valid grant 9"),
        ("quarantine lift crm absent", "is not in quarantine"),
        ("drift accept crm absent", "no change of “crm absent” waits"),
    ],
)
def test_nothing_is_asked_about_what_is_not_there(
    words: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not sys.stdin.isatty()
    assert main(words.split()) == 2
    assert error in capsys.readouterr().err


@pytest.mark.usefixtures("kept")
def test_of_many_keys_the_first_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(6):
        assert main(["keys", "create", "many"]) == 0
    assert main(["keys", "revoke", "many"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "Revoke 6 API keys (many " in told
    assert ", 1 more)?" in told
