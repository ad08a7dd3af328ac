"""`sayso policy init`: it writes a policy that holds, and replaces no file without a yes."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import configuration, python, sayso, write_json
from tests.terminals import run_on_terminal

from sayso.cli import main
from sayso.policy import json_schema
from sayso.schema import Checker

TOOLS = {
    "tools": [
        {"name": "customer_delete", "inputSchema": {}, "annotations": {"destructiveHint": True}},
        {"name": "customer_list", "inputSchema": {}, "annotations": {"readOnlyHint": True}},
    ]
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, in a home without clients."""
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    write_json(work / "tools.json", TOOLS)
    return work


def document(folder: Path, name: str = "policy.toml") -> dict[str, Any]:
    return tomllib.loads((folder / name).read_text(encoding="utf-8"))


def test_the_file_it_writes_passes_check_with_the_same_target(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "init", "tools.json"]) == 0
    assert "Wrote policy.toml (1 server, 2 tools)" in capsys.readouterr().err
    assert main(["policy", "check", "tools.json"]) == 0
    assert "no mistakes" in capsys.readouterr().out
    text = (home / "policy.toml").read_text()
    assert "#   destructive  declared  asks     customer_delete" in text
    assert document(home) == {"mode": "guarded", "trust": {"tools": "cautious"}}


def test_its_first_line_names_the_schema_that_it_writes_next_to_it(home: Path) -> None:
    assert main(["policy", "init", "tools.json", "-o", "new/crm.toml"]) == 0

    first = (home / "new" / "crm.toml").read_text().partition("\n")[0]
    assert first == "#:schema ./policy.schema.json"
    schema = json.loads((home / "new" / "policy.schema.json").read_text())
    assert schema == json_schema()
    assert Checker(schema).problems(document(home, "new/crm.toml")) == ()
    for name in ("crm.toml", "policy.schema.json"):
        assert (home / "new" / name).stat().st_mode & 0o077 == 0


def test_several_targets_are_checked_together_too(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_json(home / "others.json", TOOLS)
    assert main(["policy", "init", "tools.json", "others.json", "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["policy"] == "policy.toml"
    assert [server["name"] for server in written["servers"]] == ["tools", "others"]
    assert main(["policy", "check", "tools.json", "others.json"]) == 0
    assert main(["policy", "check", "others.json"]) == 1


@pytest.mark.usefixtures("home")
def test_two_servers_of_one_name_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "init", "tools.json", "./tools.json"]) == 2
    assert "two servers have this name" in capsys.readouterr().err
    assert not Path("policy.toml").exists()


@pytest.mark.parametrize("option", [(), ("--json",)])
def test_a_file_that_differs_stays_where_nobody_can_be_asked(
    home: Path, option: tuple[str, ...]
) -> None:
    (home / "policy.toml").write_text('mode = "strict"\n')

    done = sayso("policy", "init", "tools.json", *option, cwd=home)

    assert done.code == 2
    assert "Overwrite policy.toml?" in done.err
    assert (home / "policy.toml").read_text() == 'mode = "strict"\n'
    assert not (home / "policy.schema.json").exists()
    assert ('-mode = "strict"' in done.out) == (not option)


def test_with_yes_it_is_replaced_and_a_second_run_asks_nothing(home: Path) -> None:
    (home / "policy.toml").write_text('mode = "strict"\n')
    (home / "policy.toml").chmod(0o640)

    assert sayso("policy", "init", "tools.json", "--yes", cwd=home).code == 0
    assert sayso("policy", "init", "tools.json", cwd=home).code == 0
    assert document(home)["mode"] == "guarded"
    assert (home / "policy.toml").stat().st_mode & 0o777 == 0o640


@pytest.mark.process
@pytest.mark.parametrize(("answer", "code"), [("\n", 5), ("y\n", 0)])
def test_at_a_terminal_only_a_yes_replaces_it(home: Path, answer: str, code: int) -> None:
    (home / "policy.toml").write_text('mode = "strict"\n')
    words = [sys.executable, "-m", "sayso", "policy", "init", "tools.json"]

    ended, shown = run_on_terminal(words, {"[y/N] ": answer})

    assert ended == code, shown
    assert '-mode = "strict"' in shown
    assert (document(home)["mode"] == "guarded") == (code == 0)


@pytest.mark.parametrize("there", ["", "x" * 10])
def test_what_cannot_be_a_file_is_an_error_that_names_it(home: Path, there: str) -> None:
    (home / "policy.toml").mkdir()
    (home / "policy.toml" / f"some{there}").touch()

    done = sayso("policy", "init", "tools.json", "--yes", cwd=home)

    assert done.code == 2
    assert "policy.toml cannot be written" in done.err


def test_without_servers_it_writes_a_bare_policy(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "init"]) == 0
    assert "no servers found" in capsys.readouterr().err
    assert document(home) == {"mode": "guarded", "trust": {}}
    assert main(["policy", "check"]) == 0


@pytest.mark.process
def test_without_targets_it_shows_the_configured_servers_and_asks_before_it_starts_them(
    home: Path,
) -> None:
    touched = home / "started"
    program = f"open({str(touched)!r}, 'x')"
    configuration(home / ".mcp.json", crm=python("plain"), rude=(sys.executable, "-c", program))
    words = [sys.executable, "-m", "sayso", "policy", "init"]

    ended, shown = run_on_terminal(words, {"[y/N] ": "n\n"})

    assert ended == 5
    assert "Start 2 servers to list their tools?" in " ".join(shown.split())
    assert "crm:" in shown
    assert not touched.exists()
    assert not (home / "policy.toml").exists()


@pytest.mark.process
def test_with_yes_it_takes_what_discover_finds_and_tells_of_those_that_fail(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "hunter2hunter2"
    entries = {
        "crm": {"command": sys.executable, "args": [python("plain")[1], "plain"]},
        "gone": {"command": "no-such-command-here", "env": {"TOKEN": secret}},
        "off": {"command": "no-such-command-here", "disabled": True},
        "wrong": {"command": 7},
    }
    write_json(home / ".mcp.json", {"mcpServers": entries})

    assert main(["policy", "init", "--yes"]) != 0

    said = capsys.readouterr().err
    assert "“no-such-command-here” was not found" in said
    assert "wrong" in said
    text = (home / "policy.toml").read_text()
    assert document(home)["trust"] == {"crm": "cautious", "gone": "cautious"}
    assert "# gone: its tools are unknown (command-not-found)" in text
    assert "delete_all" in text
    assert secret not in text + said


def test_servers_behind_sayso_are_found_behind_it(home: Path) -> None:
    folder = home.parent / ".cursor"
    folder.mkdir()
    entries = {"git": {"command": "no-such-command-here"}}
    write_json(folder / "mcp.json", {"mcpServers": entries})
    assert main(["install", "cursor", "--yes", "--scope", "user"]) == 0

    done = sayso("policy", "init", cwd=home, HOME=str(home.parent))

    assert done.code == 2
    assert "git: no-such-command-here" in done.err
    assert "Start 1 server to list its tools?" in done.err


@pytest.mark.usefixtures("home")
def test_where_no_server_answers_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "init", "http://127.0.0.1:9/mcp"]) == 4
    assert "127.0.0.1:9" in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["tools.json"]


def test_schema_writes_a_file_and_replaces_another_only_if_asked(home: Path) -> None:
    assert main(["policy", "schema", "-o", "policy.schema.json"]) == 0
    assert json.loads((home / "policy.schema.json").read_text()) == json_schema()
    (home / "policy.schema.json").write_text("{}")

    assert sayso("policy", "schema", "-o", "policy.schema.json", cwd=home).code == 2
    assert (home / "policy.schema.json").read_text() == "{}"
    assert sayso("policy", "schema", "-o", "policy.schema.json", "--yes", cwd=home).code == 0
    assert json.loads((home / "policy.schema.json").read_text()) == json_schema()
