"""Servers that stay with their client, since sayso would run or reach them differently."""

import json
from pathlib import Path

import pytest
from tests.clients.test_install import value, write

from sayso.cli import main

GIT = {"command": "git-server"}


def test_geminis_sse_servers_stay_where_they_are(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sse = {"url": "http://localhost:9/sse", "headers": {"A": "b"}}
    text = json.dumps({"mcpServers": {"git": GIT, "events": sse}})
    path = write(home / ".gemini" / "settings.json", text)

    assert main(["install", "gemini", "--yes"]) == 0

    assert value(path)["mcpServers"]["events"] == sse
    assert "Gemini CLI uses SSE for “url”" in capsys.readouterr().err


@pytest.mark.parametrize("place", [".claude/settings.local.json", ".claude/settings.json"])
def test_a_server_that_claude_codes_user_has_refused_is_not_moved(
    place: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = json.dumps({"disabledMcpjsonServers": ["evil"]})
    write(home / "work" / place, refused)
    text = json.dumps({"mcpServers": {"git": GIT, "evil": {"command": "evil"}}})
    path = write(home / "work" / ".mcp.json", text)

    assert main(["install", "claude-code", "--scope", "project", "--yes"]) == 0

    assert value(path)["mcpServers"]["evil"] == {"command": "evil"}
    assert "you rejected it in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"command": "npx -y a-server"}, "its “command” contains spaces"),
        ({"url": "https://mcp.example.com/mcp"}, "it may require a login"),
    ],
)
def test_what_sayso_would_run_or_reach_differently_stays(
    entry: dict[str, str], reason: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.dumps({"mcpServers": {"git": GIT, "other": entry}})
    path = write(home / ".cursor" / "mcp.json", text)

    assert main(["install", "cursor", "--yes"]) == 0

    assert value(path)["mcpServers"]["other"] == entry
    assert reason in capsys.readouterr().err
