"""`sayso install` and `sayso uninstall`, by the files of each client."""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.clients import samples

from sayso.cli import main
from sayso.clients.record import records


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def value(path: Path) -> Any:
    """The JSON in a file whose comments and last commas sayso has not touched."""
    from sayso.clients.document import Document

    return Document.of(str(path), path.read_bytes()).file.value


def servers() -> dict[str, Any]:
    (record,) = records()
    return json.loads(record.servers.read_bytes())["mcpServers"]


def test_claude_code_gives_up_its_servers_and_gets_them_back(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = samples.CLAUDE_CODE % {"work": home / "work"}
    path = write(home / ".claude.json", text)
    assert main(["install", "claude-code", "--scope", "user", "--yes"]) == 0
    shown = capsys.readouterr()
    new = value(path)
    entry = new["mcpServers"].pop("sayso")
    assert entry["type"] == "stdio"
    assert entry["args"] == ["gateway", str(records()[0].servers), "--stdio"]
    assert entry["env"] == {"SAYSO_VAR_GIT_TOKEN_NONE": "${GIT_TOKEN:-none}"}
    old = json.loads(text)
    assert new["mcpServers"] == {"search": old["mcpServers"].pop("search")}
    assert {**new, "mcpServers": 0} == {**old, "mcpServers": 0}
    assert servers()["git"]["env"] == {"GIT_TOKEN": "${SAYSO_VAR_GIT_TOKEN_NONE}"}
    assert f"Not behind sayso: search, because it is disabled in {home / 'work'}." in shown.err
    assert "sk-live" not in shown.out + shown.err
    assert "mcp__sayso__SERVER__TOOL" in shown.err
    assert main(["uninstall", "claude-code", "--yes"]) == 0
    assert path.read_bytes() == text.encode()
    assert not records()


def test_of_several_places_one_must_be_named(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = samples.CLAUDE_CODE % {"work": home / "work"}
    path = write(home / ".claude.json", text)
    shared = write(home / "work" / ".mcp.json", samples.MCP_JSON)
    assert main(["install", "claude-code", "--yes"]) == 2
    error = capsys.readouterr().err
    assert "Claude Code has servers in 3 places (user: " in error
    assert main(["install", "claude-code", "--scope", "local", "--yes"]) == 0
    projects = value(path)["projects"]
    assert [*projects[str(home / "work")]["mcpServers"]] == ["sayso"]
    assert [*projects["/srv/other"]["mcpServers"]] == ["else"]
    assert main(["install", "claude-code", "--scope", "project", "--yes"]) == 0
    assert "does not work for other people" in capsys.readouterr().err
    assert [*value(shared)["mcpServers"]] == ["sayso"]
    assert main(["uninstall", "claude-code", "--scope", "project", "--yes"]) == 0
    assert shared.read_bytes() == samples.MCP_JSON.encode()
    assert main(["uninstall", "claude-code", "--yes"]) == 0
    assert path.read_bytes() == text.encode()


def test_claude_desktop_expands_nothing_so_what_sayso_would_expand_stays(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = home / ".config" / "Claude"
    if os.uname().sysname == "Darwin":
        folder = home / "Library" / "Application Support" / "Claude"
    path = write(folder / "claude_desktop_config.json", samples.CLAUDE_DESKTOP)
    assert main(["install", "claude-desktop", "--yes"]) == 0
    shown = capsys.readouterr()
    assert [*value(path)["mcpServers"]] == ["sayso", "odd"]
    assert "type" not in value(path)["mcpServers"]["sayso"]
    assert "“${HOME}” is literal text in Claude Desktop" in shown.err
    assert "very-secret-token" not in shown.out + shown.err
    assert servers()["git"]["env"] == {"GIT_TOKEN": "very-secret-token"}
    assert main(["uninstall", "claude-desktop", "--yes"]) == 0
    assert path.read_bytes() == samples.CLAUDE_DESKTOP.encode()
    assert main(["install", "claude-desktop", "--yes", "--url", "http://127.0.0.1:8321/mcp"]) == 2
    assert "does not support servers with a URL" in capsys.readouterr().err


def test_cursor_keeps_comments_and_a_folder_that_only_it_knows(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(home / ".cursor" / "mcp.json", samples.CURSOR)
    assert main(["install", "cursor", "--yes"]) == 0
    text = path.read_text()
    assert text.startswith(
        '{\n\t// what I use every day\n\t"mcpServers": {\n\t\t"sayso": {\n\t\t\t"'
    )
    assert '"here": { "command": "here", "args": ["${workspaceFolder}"] }' in text
    assert "only the client knows the value of ${workspaceFolder}" in capsys.readouterr().err
    assert main(["uninstall", "cursor", "--yes"]) == 0
    assert path.read_bytes() == samples.CURSOR.encode()
    # In a project's own file the folder is known, and the client still puts it in.
    path.unlink()
    shared = write(home / "work" / ".cursor" / "mcp.json", samples.CURSOR)
    assert main(["install", "cursor", "--yes"]) == 0
    entry = value(shared)["mcpServers"]["sayso"]
    assert entry["env"] == {
        "SAYSO_VAR_ENV_GIT_TOKEN": "${env:GIT_TOKEN}",
        "SAYSO_VAR_WORKSPACEFOLDER": "${workspaceFolder}",
    }


def test_vs_code_still_asks_its_own_questions(home: Path) -> None:
    write(home / "work" / ".env", "KEY=1\n")
    path = write(home / "work" / ".vscode" / "mcp.json", samples.VSCODE)
    assert main(["install", "vscode", "--yes"]) == 0
    new = value(path)
    assert new["servers"]["sayso"]["env"] == {
        "SAYSO_VAR_INPUT_API_KEY": "${input:api-key}",
        "SAYSO_VAR_WORKSPACEFOLDER": "${workspaceFolder}",
    }
    assert new["inputs"][0]["id"] == "api-key"
    assert "// asked for once" in path.read_text()
    moved = servers()
    assert moved["tickets"]["headers"] == {"Authorization": "Bearer ${SAYSO_VAR_INPUT_API_KEY}"}
    assert moved["build"]["envFile"] == "${SAYSO_VAR_WORKSPACEFOLDER}/.env"
    assert main(["uninstall", "vscode", "--yes"]) == 0
    assert path.read_bytes() == samples.VSCODE.encode()


def test_gemini_keeps_what_it_limits_and_what_it_switches_off(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(home / ".gemini" / "settings.json", samples.GEMINI)
    assert main(["install", "gemini", "--yes"]) == 0
    shown = capsys.readouterr()
    assert [*value(path)["mcpServers"]] == ["sayso", "files", "old"]
    assert "the client limits it with “includeTools”, which would be lost" in shown.err
    assert "it is disabled under “mcp”" in shown.err
    assert servers()["search"]["headers"] == {"Authorization": "Bearer ${SAYSO_VAR_SEARCH_TOKEN}"}
    assert value(path)["mcpServers"]["sayso"]["env"] == {"SAYSO_VAR_SEARCH_TOKEN": "$SEARCH_TOKEN"}
    assert main(["uninstall", "gemini", "--yes"]) == 0
    assert path.read_bytes() == samples.GEMINI.encode()


def test_gemini_that_starts_only_some_servers_must_start_sayso(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '{"mcp": {"allowed": ["a"%s]}, "mcpServers": {"a": {"command": "a"}, "b": {}}}'
    path = write(home / ".gemini" / "settings.json", text % "")
    assert main(["install", "gemini", "--yes"]) == 2
    assert 'Add "sayso" there' in capsys.readouterr().err
    write(path, text % ', "sayso"')
    assert main(["install", "gemini", "--yes"]) == 0
    assert [*value(path)["mcpServers"]] == ["sayso", "b"]


def test_a_running_gateway_is_pointed_to(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = "http://127.0.0.1:8321/mcp"
    for client, path, entry in (
        ("cursor", home / ".cursor" / "mcp.json", {"url": url}),
        ("vscode", home / "work" / ".vscode" / "mcp.json", {"type": "http", "url": url}),
        ("gemini", home / ".gemini" / "settings.json", {"httpUrl": url}),
    ):
        text = {"cursor": samples.CURSOR, "vscode": samples.VSCODE, "gemini": samples.GEMINI}
        if client == "vscode":
            write(path, '{"servers": {"a": {"command": "a"}, "b": {"command": "${input:b}"}}}')
        else:
            write(path, text[client])
        assert main(["install", client, "--yes", "--url", url]) == 0
        key = "servers" if client == "vscode" else "mcpServers"
        assert value(path)[key]["sayso"] == entry
        shown = capsys.readouterr().err
        record = next(one for one in records() if one.client == client)
        assert f"Start the gateway with: sayso gateway {record.servers}" in shown
        assert main(["install", client, "--yes", "--url", url]) == 0
        assert "nothing to change" in capsys.readouterr().err
    kept = {one.client: json.loads(one.servers.read_bytes())["mcpServers"] for one in records()}
    assert kept["gemini"]["search"]["headers"] == {"Authorization": "Bearer ${SEARCH_TOKEN}"}
    assert kept["cursor"]["git"]["env"] == {"GIT_TOKEN": "${env:GIT_TOKEN}"}
    assert [*kept["vscode"]] == ["a"]
    assert main(["install", "cursor", "--yes", "--url", "nowhere"]) == 2
    assert main(["install", "cursor", "--yes", "--url", url, "--policy", "p.toml"]) == 2


def simple(home: Path, **entries: Any) -> Path:
    found = {name: {"command": name} for name in ("git", "notes", "files")} | entries
    return write(home / ".cursor" / "mcp.json", json.dumps({"mcpServers": found}, indent=2))


def test_some_servers_only_or_all_but_some(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = simple(home)
    before = path.read_bytes()
    assert main(["install", "cursor", "--yes", "--only", "git", "--only", "files"]) == 0
    assert [*value(path)["mcpServers"]] == ["sayso", "notes"]
    # The selection of the second time counts, from the file as it was.
    assert main(["install", "cursor", "--yes", "--except", "git"]) == 0
    assert [*value(path)["mcpServers"]] == ["git", "sayso"]
    assert [*servers()] == ["notes", "files"]
    assert main(["uninstall", "cursor", "--yes"]) == 0
    assert path.read_bytes() == before
    capsys.readouterr()
    assert main(["install", "cursor", "--yes", "--only", "notse"]) == 2
    assert "Did you mean “notes”?" in capsys.readouterr().err
    assert main(["install", "cursor", "--yes", "--except", "x"]) == 2
    assert "Its servers: git, notes, files." in capsys.readouterr().err


def test_installing_twice_changes_nothing_and_says_so(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = simple(home)
    assert main(["install", "cursor", "--yes"]) == 0
    once = path.read_bytes(), path.stat().st_mtime_ns
    capsys.readouterr()
    assert main(["install", "cursor"]) == 0  # and nobody is asked
    assert "Already installed: nothing to change" in capsys.readouterr().err
    assert (path.read_bytes(), path.stat().st_mtime_ns) == once


def test_a_server_that_came_later_moves_too_and_comes_back_too(home: Path) -> None:
    path = simple(home)
    before = json.loads(path.read_bytes())
    assert main(["install", "cursor", "--yes"]) == 0
    new = value(path)
    new["mcpServers"]["late"] = {"command": "late"}
    write(path, json.dumps(new, indent=2))
    assert main(["install", "cursor", "--yes"]) == 0
    assert [*value(path)["mcpServers"]] == ["sayso"]
    assert [*servers()] == ["git", "notes", "files", "late"]
    assert main(["uninstall", "cursor", "--yes"]) == 0
    before["mcpServers"]["late"] = {"command": "late"}
    assert value(path) == before


def test_what_the_client_wrote_since_stays_when_the_servers_come_back(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = samples.CLAUDE_CODE % {"work": home / "work"}
    path = write(home / ".claude.json", text)
    assert main(["install", "claude-code", "--scope", "user", "--yes"]) == 0
    new = value(path)
    new["numStartups"] = 42
    write(path, json.dumps(new, indent=2))
    capsys.readouterr()
    assert main(["uninstall", "claude-code", "--yes"]) == 0
    assert value(path) == {**json.loads(text), "numStartups": 42}
    shown = capsys.readouterr().err
    assert "The file has changed: its servers come back, and the other changes stay." in shown
    kept = Path(shown.split("is in ")[1].split(";")[0])
    assert json.loads(min(kept.glob("original-*")).read_bytes())
    assert not records()


def test_an_entry_that_a_person_took_out_does_not_keep_the_servers_from_coming_back(
    home: Path,
) -> None:
    path = simple(home)
    before = value(path)
    assert main(["install", "cursor", "--yes"]) == 0
    write(path, '{"mcpServers": {}}')
    assert main(["install", "cursor", "--yes"]) == 0
    assert [*value(path)["mcpServers"]] == ["sayso"]
    write(path, '{"mcpServers": {}}')
    assert main(["uninstall", "cursor", "--yes"]) == 0
    assert value(path) == before


def test_servers_that_a_person_put_back_by_hand_stay_as_they_are(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = simple(home)
    assert main(["install", "cursor", "--yes"]) == 0
    text = simple(home, git={"command": "other"}).read_text()
    assert main(["uninstall", "cursor"]) == 0  # and nobody is asked
    assert "sayso was no longer in the file" in capsys.readouterr().err
    assert path.read_text() == text
    assert not records()


def test_an_entry_for_a_running_gateway_may_have_been_added_to(home: Path) -> None:
    path = simple(home)
    before = value(path)
    url = "http://127.0.0.1:8321/mcp"
    assert main(["install", "cursor", "--yes", "--url", url]) == 0
    write(path, path.read_text().replace(f'"{url}"', f'"{url}", "headers": {{"A": "b"}}'))
    assert main(["uninstall", "cursor", "--yes"]) == 0
    assert value(path) == before


def test_a_server_that_stands_there_again_and_is_another_is_not_overwritten(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = simple(home)
    before = value(path)
    assert main(["install", "cursor", "--yes"]) == 0
    new = value(path)
    new["mcpServers"]["git"] = {"command": "other"}
    text = json.dumps(new)
    write(path, text)
    assert main(["uninstall", "cursor", "--yes"]) == 2
    error = capsys.readouterr().err
    assert "“git” was added again" in error
    assert "is kept in" in error
    assert path.read_text() == text
    # One that is the same is no other.
    new["mcpServers"]["git"] = before["mcpServers"]["git"]
    write(path, json.dumps(new))
    assert main(["uninstall", "cursor", "--yes"]) == 0
    assert value(path) == before


def test_a_backup_that_somebody_changed_is_not_taken_for_the_file(home: Path) -> None:
    path = simple(home)
    before = value(path)
    assert main(["install", "cursor", "--yes"]) == 0
    (record,) = records()
    for one in record.folder.glob("original-*"):
        one.write_text('{"mcpServers": {"evil": {}}}')
    assert main(["uninstall", "cursor", "--yes"]) == 0
    assert value(path) == before


def test_where_there_is_nothing_to_do_it_says_why(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, expected in (
        (["install", "cursor"], "Cursor has no MCP servers configured"),
        (["install", "cursor", "--scope", "user"], "no such file"),
        (["install", "cursor", "--scope", "local"], "no servers in scope local"),
        (["install", "cursor", "--file", "nowhere.json"], "no such file"),
        (["install", "emacs"], "emacs"),
        (["uninstall", "cursor"], "sayso is not installed for cursor"),
    ):
        assert main([*words, "--yes"]) == 2
        assert expected in capsys.readouterr().err
    path = write(home / ".cursor" / "mcp.json", '{"mcpServers": {}}')
    assert main(["install", "cursor", "--yes"]) == 2
    assert main(["install", "cursor", "--scope", "user", "--yes"]) == 2
    assert "Cursor has no servers in this file" in capsys.readouterr().err
    write(path, '{"mcpServers": {"a": {"command": "a", "disabled": true}}}')
    assert main(["install", "cursor", "--yes"]) == 2
    assert "(a: it is disabled)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"mcpServers": {"a": }}', "mcp.json:1:22: the file is not JSON"),
        ('{"mcpServers": []}', "“mcpServers” must be an object, not an array"),
        ("[1]", "a configuration must be an object, not an array"),
        ("", "the file is empty"),
        (
            '{"mcpServers": {"sayso": {"command": "x"}, "a": {}}}',
            "the entry “sayso” was not written",
        ),
        (
            '{"mcpServers": {"a b": {"command": "x"}, "a-b": {"command": "y"}}}',
            "“a b” and “a-b” would both be named a-b",
        ),
        ('{"mcpServers": {"a": {}, "a": {}}}', "duplicate key"),
    ],
)
def test_a_file_with_a_mistake_is_told_and_left_alone(
    home: Path, capsys: pytest.CaptureFixture[str], text: str, expected: str
) -> None:
    path = write(home / ".cursor" / "mcp.json", text)
    assert main(["install", "cursor", "--yes", "--scope", "user"]) == 2
    assert expected in capsys.readouterr().err
    assert path.read_text() == text
    assert not records()


def test_what_cannot_move_stays_with_its_reason(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simple(
        home,
        login={"url": "https://a.example.com/mcp", "auth": {"CLIENT_ID": "x"}},
        old={"type": "sse", "url": "https://a.example.com/sse"},
        typo={"comand": "x"},
        mine={"command": "/usr/bin/sayso", "args": ["gateway", "x.json"]},
        text="x",
        number={"command": "x", "args": [1]},
        all={"command": "x", "tools": ["*"]},
    )
    assert main(["install", "cursor", "--yes"]) == 0
    shown = capsys.readouterr().err
    for line in (
        "login, because the client logs in to it (“auth”)",
        "old, because type: the old HTTP+SSE transport is not supported",
        "typo, because comand: unknown key",
        "mine, because it is sayso's gateway itself",
        "text, because it is not an object",
        "number, because args[0]: must be a string, not a number",
    ):
        assert f"Not behind sayso: {line}" in shown
    assert [*servers()] == ["git", "notes", "files", "all"]


def test_paths_still_start_from_where_they_did(home: Path) -> None:
    write(home / "work" / "x.env", "A=1\n")
    text = '{"mcpServers": {"a": {"command": "a", "cwd": "sub", "envFile": "x.env"}}}'
    write(home / "work" / ".cursor" / "mcp.json", text)
    assert main(["install", "cursor", "--yes"]) == 0
    assert servers()["a"]["cwd"] == str(home / "work" / "sub")
    assert servers()["a"]["envFile"] == str(home / "work" / "x.env")


def test_a_file_elsewhere_can_be_named(home: Path) -> None:
    path = write(home / "portable" / "mcp.json", samples.CURSOR)
    assert main(["install", "cursor", "--yes", "--file", str(path)]) == 0
    assert "sayso" in value(path)["mcpServers"]
    assert main(["uninstall", "cursor", "--yes"]) == 0
    assert path.read_bytes() == samples.CURSOR.encode()


def test_mode_links_and_line_ends_stay_and_what_sayso_keeps_is_private(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    real = write(home / "dotfiles" / "mcp.json", "\ufeff" + samples.CURSOR.replace("\n", "\r\n"))
    before = real.read_bytes()
    real.chmod(0o640)
    link = home / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(real)
    assert main(["install", "cursor", "--yes"]) == 0
    assert "mcp.json, a link to ~/dotfiles/mcp.json" in capsys.readouterr().err
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    new = real.read_bytes()
    assert new.startswith(b"\xef\xbb\xbf")
    assert new.count(b"\n") == new.count(b"\r\n")
    (record,) = records()
    for one in [*record.folder.parent.rglob("*")]:
        assert stat.S_IMODE(one.stat().st_mode) & 0o077 == 0
    assert [one.name for one in real.parent.iterdir()] == ["mcp.json"]
    assert main(["uninstall", "cursor", "--yes"]) == 0
    assert real.read_bytes() == before
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_the_owner_stays(home: Path) -> None:
    path = simple(home)
    if os.geteuid() == 0:  # nobody else may give a file away
        os.chown(path, 1234, 1235)
    owner = path.stat().st_uid, path.stat().st_gid
    assert main(["install", "cursor", "--yes"]) == 0
    assert (path.stat().st_uid, path.stat().st_gid) == owner


def no_access(_path: Path, _mode: int, **_: object) -> bool:
    return False


def test_a_file_that_cannot_be_read_or_written_is_told(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["install", "cursor", "--yes", "--file", str(home)]) == 2
    assert "this is not a file" in capsys.readouterr().err
    (home / "loop").symlink_to(home / "loop")
    assert main(["install", "cursor", "--yes", "--file", str(home / "loop")]) == 2
    path = simple(home)
    # Root may write everything, so the answer is given in the place of the system.
    monkeypatch.setattr(os, "access", no_access)
    assert main(["install", "cursor", "--yes"]) == 2
    assert "the file is read-only" in capsys.readouterr().err
    assert "sayso" not in value(path)["mcpServers"]


def test_on_windows_nothing_is_changed(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    simple(home)
    monkeypatch.setattr(sys, "platform", "win32")
    assert main(["install", "cursor", "--yes"]) == 2
    assert "does not support Windows" in capsys.readouterr().err


def test_a_file_with_a_second_name_is_not_replaced(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = simple(home)
    (home / "second.json").hardlink_to(path)
    assert main(["install", "cursor", "--yes"]) == 2
    assert "hard link" in capsys.readouterr().err
    assert not records()
    assert "sayso" not in value(path)["mcpServers"]


def test_a_policy_goes_along_and_must_be_sound(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = simple(home)
    policy = write(home / "work" / "policy.toml", 'mode = "strict"\n')
    assert main(["install", "cursor", "--yes", "--policy", "policy.toml"]) == 0
    assert value(path)["mcpServers"]["sayso"]["args"][-2:] == ["--policy", str(policy)]
    assert main(["install", "cursor", "--yes", "--policy", "missing.toml"]) == 2
    assert "missing.toml" in capsys.readouterr().err
    # An entry that a person has changed is still sayso's.
    new = value(path)
    new["mcpServers"]["sayso"]["args"] += ["--timeout", "5"]
    write(path, json.dumps(new))
    assert main(["uninstall", "cursor", "--yes"]) == 0
    assert [*value(path)["mcpServers"]] == ["git", "notes", "files"]


def test_a_dry_run_and_a_missing_person_change_nothing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = simple(home)
    before = path.read_bytes()
    assert main(["install", "cursor", "--dry-run"]) == 0
    assert '+    "sayso": {' in capsys.readouterr().out
    assert path.read_bytes() == before
    assert not records()
    assert main(["install", "cursor", "--yes"]) == 0
    after = path.read_bytes()
    assert main(["uninstall", "cursor", "--dry-run"]) == 0
    assert path.read_bytes() == after


def test_names_that_could_steer_a_terminal_are_spelt_out(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(
        home / ".cursor" / "mcp.json",
        json.dumps(
            {
                "mcpServers": {
                    "git\x1b[2J\n+ fake": {"command": "a\x1b[31m", "args": ["[bold]", "\u202e"]},
                    "[red]": {"command": "b", "disabled": True},
                }
            }
        ),
    )
    before = path.read_bytes()
    assert main(["install", "cursor", "--yes"]) == 0
    assert main(["discover"]) == 0
    shown = capsys.readouterr()
    assert "\x1b[2J" not in shown.out + shown.err
    assert "\x1b[31m" not in shown.out
    assert "\u202e" not in shown.out
    assert "[red]" in shown.err
    assert main(["uninstall", "cursor", "--yes"]) == 0
    assert path.read_bytes() == before


def test_a_file_whose_client_is_gone_says_where_it_is_kept(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = simple(home)
    assert main(["install", "cursor", "--yes"]) == 0
    (record,) = records()
    path.unlink()
    assert main(["uninstall", "cursor", "--yes"]) == 2
    assert str(record.folder) in capsys.readouterr().err
    assert records()


def test_a_record_of_another_form_is_not_guessed_at(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simple(home)
    assert main(["install", "cursor", "--yes"]) == 0
    (record,) = records()
    (record.folder / "record.json").write_text('{"schema": 2}')
    for words in (["uninstall", "cursor"], ["install", "cursor"]):
        assert main([*words, "--yes"]) == 2
        assert "invalid record" in capsys.readouterr().err
