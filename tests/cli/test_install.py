"""`sayso install` at a terminal, and `sayso discover`."""

import json
import os
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from tests.cli.running import SOURCE
from tests.clients import samples
from tests.connect.serving import listed
from tests.terminals import run_on_terminal

from sayso.cli import main
from sayso.cli.app import app
from sayso.cli.commands import Parsed
from sayso.clients.install import gateway_words, program
from sayso.connect import CommandTarget, parse_target

HOME = {"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}}}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with Cursor in it; the working folder is another."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").write_text(json.dumps(HOME))
    return tmp_path


def run(answer: str, *words: str, before: str = "") -> tuple[int, str]:
    command = [sys.executable, "-m", "sayso", *words]
    return run_on_terminal(command, {"[y/N] ": answer}, before=before)


@pytest.mark.parametrize(
    ("answer", "code"),
    [("\n", 5), ("n\n", 5), ("perhaps\n", 5), ("\x04", 5), ("y\n", 0), ("YES\n", 0)],
)
@pytest.mark.process
def test_only_a_clear_yes_changes_the_file(home: Path, answer: str, code: int) -> None:
    path = home / ".cursor" / "mcp.json"
    before = path.read_bytes()
    ended, shown = run(answer, "install", "cursor")
    assert ended == code, shown
    assert '"sayso": {' in shown
    assert "Change ~/.cursor/mcp.json? [y/N]" in shown.replace("\r\n", "")
    assert (path.read_bytes() == before) == (code == 5)
    assert ("nothing was changed" in shown) == (code == 5)


@pytest.mark.process
def test_what_was_typed_before_the_question_does_not_answer_it(home: Path) -> None:
    path = home / ".cursor" / "mcp.json"
    before = path.read_bytes()
    ended, shown = run("n\n", "install", "cursor", before="y\n")
    assert ended == 5, shown
    assert path.read_bytes() == before


@pytest.mark.process
def test_uninstall_asks_too(home: Path) -> None:
    path = home / ".cursor" / "mcp.json"
    before = path.read_bytes()
    assert main(["install", "cursor", "--yes"]) == 0
    after = path.read_bytes()
    ended, shown = run("\n", "uninstall", "cursor")
    assert ended == 5, shown
    assert path.read_bytes() == after
    ended, shown = run("y\n", "uninstall", "cursor")
    assert ended == 0, shown
    assert "The file will be restored byte for byte." in shown
    assert path.read_bytes() == before


def test_what_the_client_will_start_is_a_command_of_this_sayso(home: Path) -> None:
    assert main(["install", "cursor", "--yes"]) == 0
    entry = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["sayso"]
    assert Path(entry["command"]).is_absolute()
    assert os.access(entry["command"], os.X_OK)
    words = entry["args"][entry["args"].index("gateway") :]
    assert (entry["command"], *entry["args"]) == (*program(), *gateway_words(Path(words[1])))
    parsed = app.parse(words)
    assert isinstance(parsed, Parsed)
    assert parsed.function.__name__ == "gateway"
    assert parsed.arguments["target"] == (words[1],)
    assert parsed.arguments["pipe"].stdio
    (target,) = parse_target(parsed.arguments["target"])
    assert target == CommandTarget("git", "uvx", ("mcp-server-git",))


@pytest.mark.process
async def test_the_gateway_starts_the_servers_that_moved(home: Path) -> None:
    demo = {"command": sys.executable, "args": ["-m", "sayso.demo.server"]}
    entries = {"shop": {**demo, "env": {"PYTHONPATH": "${env:SOURCE}"}}}
    (home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": entries}))
    assert main(["install", "cursor", "--yes"]) == 0
    entry = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["sayso"]
    # What the client puts in the place of its variable, sayso passes on.
    assert entry["env"] == {"SAYSO_VAR_ENV_SOURCE": "${env:SOURCE}"}
    environment = {"SAYSO_VAR_ENV_SOURCE": SOURCE, "HOME": str(home), "PYTHONPATH": SOURCE}
    words = StdioServerParameters(command=entry["command"], args=entry["args"], env=environment)
    async with Client(stdio_client(words)) as client:
        tools = await listed(client)
        found = await client.call_tool("shop__customers_list")
    assert "shop__customer_delete" in tools
    assert not found.is_error


def test_a_sayso_that_will_not_last_is_not_installed(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "prefix", str(home / "uv" / "archive-v0" / "x"))
    assert main(["install", "cursor", "--yes"]) == 2
    assert "Install it first: uv tool install " in capsys.readouterr().err
    monkeypatch.setattr(sys, "prefix", str(home / "venv"))
    monkeypatch.setattr(sys, "executable", str(home / "python"))
    assert program() == (str(home / "python"), "-m", "sayso")


def test_discover_lists_all_clients_and_what_is_behind_sayso(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = home / "work"
    (home / ".claude.json").write_text(samples.CLAUDE_CODE % {"work": work})
    (work / ".mcp.json").write_text(samples.MCP_JSON)
    (work / ".vscode").mkdir()
    (work / ".vscode" / "mcp.json").write_text(samples.VSCODE)
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(samples.GEMINI)
    elsewhere = home / "elsewhere.json"
    elsewhere.write_text('{"mcpServers": {"far": {"command": "far"}}}')
    assert main(["install", "cursor", "--yes", "--scope", "user"]) == 0
    assert main(["install", "cursor", "--yes", "--file", str(elsewhere)]) == 0
    capsys.readouterr()
    assert main(["discover", "--json"]) == 0
    shown = capsys.readouterr().out
    rows = [
        (one["client"], one["scope"], one["name"], one["transport"], one["guarded"])
        for one in json.loads(shown)["servers"]
    ]
    assert rows == [
        ("claude-code", "user", "git", "stdio", False),
        ("claude-code", "user", "search", "http", False),
        ("claude-code", "local", "files", "stdio", False),
        ("claude-code", "local", "else", "stdio", False),
        ("claude-code", "project", "tickets", "stdio", False),
        ("cursor", "user", "git", "stdio", True),
        ("vscode", "project", "tickets", "http", False),
        ("vscode", "project", "build", "stdio", False),
        ("gemini", "user", "search", "http", False),
        ("gemini", "user", "files", "stdio", False),
        ("gemini", "user", "old", "stdio", False),
        ("cursor", "file", "far", "stdio", True),
    ]
    assert "sk-live" not in shown
    assert main(["discover"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(lines[0].split()) == "client scope server command or URL sayso file"
    (line,) = [one for one in lines if "cursor" in one and "user" in one]
    expected = "cursor user git uvx mcp-server-git in front ~/.cursor/mcp.json"
    assert " ".join(line.split()) == expected


def test_discover_tells_of_a_broken_file_and_shows_the_rest(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".claude.json").write_text("{")
    assert main(["discover"]) == 2
    shown = capsys.readouterr()
    assert "git" in shown.out
    assert f"{home / '.claude.json'}:1:2" in shown.err
    (home / ".claude.json").unlink()
    (home / ".cursor" / "mcp.json").unlink()
    assert main(["discover"]) == 0
    assert "No MCP servers are configured." in capsys.readouterr().out


def test_discover_lays_out_no_more_of_a_file_than_a_person_reads(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    servers = {f"s{number}": {"command": "x", "args": ["-a" * 5_000]} for number in range(600)}
    (home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    assert main(["discover"]) == 0
    shown = capsys.readouterr().out
    count = json.loads(_discovered(capsys))
    assert f"… and {len(count['servers']) - 500} more (use --json)" in shown
    assert len(shown.replace(" ", "")) < 1_000_000


def _discovered(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["discover", "--json"]) == 0
    return capsys.readouterr().out
