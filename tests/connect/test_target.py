"""Targets on the command line, and the errors about them."""

import contextlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sayso
from sayso.connect import CommandTarget, SavedTarget, UrlTarget, parse_target
from sayso.connect.kinds import origin_of, place_of
from sayso.errors import ConfigError, SaysoError, TargetError

SRC = str(Path(sayso.__file__).parents[1])


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(word: str, *more: str) -> TargetError:
    with pytest.raises(TargetError) as caught:
        parse_target([word, *more])
    return caught.value


def command_name(line: str) -> str:
    (target,) = parse_target(line.split(), is_command=True)
    return target.name


def test_an_http_url_is_a_target_named_after_its_host() -> None:
    assert parse_target(["https://mcp.example.com:8443/mcp"]) == (
        UrlTarget("mcp-example-com", "https://mcp.example.com:8443/mcp"),
    )


def test_words_after_two_dashes_are_a_command_with_its_arguments() -> None:
    (target,) = parse_target(["uvx", "mcp-server-git", "--repository", "x"], is_command=True)

    assert target == CommandTarget("mcp-server-git", "uvx", ("mcp-server-git", "--repository", "x"))


@pytest.mark.parametrize("words", [[], [""]])
def test_two_dashes_without_a_command_are_refused(words: list[str]) -> None:
    with pytest.raises(TargetError, match="no command after --"):
        parse_target(words, is_command=True)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("npx -y @modelcontextprotocol/server-filesystem /tmp", "server-filesystem"),
        ("npx --yes @scope/tool@1.2.3 --flag", "tool"),
        ("npx -p @scope/tool tool-cli", "tool-cli"),
        ("npm exec -- weather-server", "weather-server"),
        ("bunx some-server@latest", "some-server"),
        ("uvx mcp-server-git@2026.1 --repository x", "mcp-server-git"),
        ("uvx mcp-server-git==2026.1", "mcp-server-git"),
        ("uvx --from git+https://example.com/o/repo.git@v1 repo-server", "repo-server"),
        ("uvx git+https://example.com/o/repo.git@v1", "repo"),
        ("uvx server[extra]", "server"),
        ("uv tool run mcp-server-time --local-timezone x", "mcp-server-time"),
        ("uv run --directory /srv server.py", "server"),
        ("uv --directory /srv run python -m mcp_server_git", "mcp_server_git"),
        ("uv run -m package.server", "package-server"),
        ("uv run --with mcp mcp run server.py:app", "server"),
        ("uv pip list", "uv"),
        ("pipx run --spec x mcp-server-git", "mcp-server-git"),
        ("python -m mcp_server_git", "mcp_server_git"),
        ("python3.12 -X dev /srv/weather.py --port 1", "weather"),
        ("/usr/bin/python server.py", "server"),
        ("python -m", "python"),
        ("python -c print()", "python"),
        ("C:\\Python\\python.exe C:\\servers\\notes.py", "notes"),
        ("node --import tsx build/index.js", "index"),
        ("docker run -i --rm -e TOKEN mcp/git:latest", "git"),
        ("docker run registry.example:5000/team/img@sha256:abc", "img"),
        ("env TOKEN=x npx weather", "weather"),
        ("cmd /c npx weather", "weather"),
        ("mcp", "mcp"),
        ("./run.sh", "run"),
        ("npx", "npx"),
        ("+++", "server"),
    ],
)
def test_a_command_is_named_after_what_it_runs(line: str, name: str) -> None:
    assert command_name(line) == name


@pytest.mark.process
def test_a_python_file_is_served_by_the_launcher_in_this_interpreter(tmp_path: Path) -> None:
    (tmp_path / "my server.py").touch()

    launched = ("-m", "sayso.connect.launch", "my server.py")
    assert parse_target(["my server.py"]) == (CommandTarget("my-server", sys.executable, launched),)
    assert parse_target(["my server.py:app"]) == (
        CommandTarget("my-server", sys.executable, (*launched, "app")),
    )


@pytest.mark.parametrize("word", ["server.py:", "server.py:a b", "server.py:a.b"])
def test_an_object_must_be_one_name(tmp_path: Path, word: str) -> None:
    (tmp_path / "server.py").touch()

    assert "cannot be the name of an object" in str(refused(word))


def test_a_configuration_gives_all_its_servers_or_the_one_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text(
        '{"mcpServers": {"git": {"command": "g"}, "web": {"url": "https://example.com/mcp"}}}'
    )

    git = CommandTarget("git", "g")
    web = UrlTarget("web", "https://example.com/mcp")
    assert parse_target(["mcp.json"]) == (git, web)
    assert parse_target(["mcp.json#web"]) == (web,)


def test_an_entry_that_is_not_there_is_met_with_the_names_that_are(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text('{"servers": {"git": {"command": "g"}, "Web": {"url": ""}}}')

    assert str(refused("mcp.json#gitt")) == (
        "mcp.json: the file has no server “gitt”. Did you mean “git”? Its servers are git, Web."
    )
    assert (
        str(refused("mcp.json#"))
        == "mcp.json: the file has no server “”. Its servers are git, Web."
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"tools": [{"name": "a"}]}',
        '[{"name": "a"}]',
        '{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a"}]}}',
    ],
)
def test_a_saved_list_is_known_by_what_is_in_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "tools.json").write_text(text)

    assert parse_target(["tools.json"]) == (
        SavedTarget("tools", "tools.json", {}, ({"name": "a"},)),
    )


def test_a_file_with_servers_and_tools_is_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"tools": [], "servers": {"git": {"command": "g"}}}')

    assert parse_target(["x.json"]) == (CommandTarget("git", "g"),)


def test_lines_of_tools_are_a_saved_list(tmp_path: Path) -> None:
    (tmp_path / "tools.jsonl").write_text('{"name": "a"}\n')

    (target,) = parse_target(["tools.jsonl"])
    assert isinstance(target, SavedTarget)
    assert target.tools == ({"name": "a"},)


@pytest.mark.parametrize(("name", "text"), [("t.json", "[]"), ("t.jsonl", "")])
def test_a_saved_list_has_no_entries_to_name(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)

    assert str(refused(f"{name}#a")) == (
        f"{name}: “#a” names an entry, but the file is a saved tools/list. Name the file alone."
    )


def test_a_json_file_that_is_neither_says_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("7")

    with pytest.raises(ConfigError, match="a configuration must be an object, not a number"):
        parse_target(["x.json"])


def test_without_a_target_the_kinds_of_target_are_told() -> None:
    with pytest.raises(TargetError, match=r"no target is given\. A target is server\.py or"):
        parse_target([])


def test_several_words_are_met_with_how_to_write_a_command() -> None:
    error = refused("npx", "-y", "a server")

    assert error.fix == "Put -- before a command: sayso inspect -- npx -y 'a server'."


def test_a_mistake_is_met_with_the_command_that_was_typed() -> None:
    with pytest.raises(TargetError) as caught:
        parse_target(["npx", "-y", "x"], command="gateway")
    assert caught.value.fix == "Put -- before a command: sayso gateway -- npx -y x."


def test_a_command_without_two_dashes_is_met_with_how_to_write_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "my-mcp-server"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert str(refused("my-mcp-server")) == (
        "“my-mcp-server” is not a target. "
        "To run a command, put -- before it: sayso inspect -- my-mcp-server."
    )
    assert refused("my-mcp-server --flag x").fix == (
        "Write a command without quotes around it: sayso inspect -- my-mcp-server --flag x."
    )


@pytest.mark.parametrize("word", ["localhost:8000/mcp", "localhost", "example.com:80"])
def test_an_address_without_its_scheme_is_met_with_both(word: str) -> None:
    assert refused(word).fix == f"Write http://{word} or https://{word}."


def test_a_folder_and_a_file_of_another_kind_are_met_with_what_to_name(tmp_path: Path) -> None:
    (tmp_path / "sub.json").mkdir()
    (tmp_path / "server.toml").touch()

    assert "Name a file, not a folder" in str(refused("."))
    assert refused("server.toml").fix == (
        "Name the command that runs this file: sayso inspect -- COMMAND server.toml."
    )
    assert "this is not a file" in str(refused("sub.json"))


@pytest.mark.parametrize("word", ["", "nonsense", "two words"])
def test_anything_else_is_met_with_the_kinds_of_target(word: str) -> None:
    assert "A target is server.py" in str(refused(word))


def test_a_missing_file_is_met_with_names_like_it(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("server.py", "servers.py", "notes.py", "server.json"):
        (tmp_path / "sub" / name).touch()

    assert str(refused("sub/sever.py")) == (
        "sub/sever.py: there is no such file. Did you mean sub/server.py, sub/servers.py?"
    )
    assert "A target is" in str(refused("quite-different.json#x"))
    assert str(refused("nowhere/server.py")).startswith("nowhere/server.py: there is no such file")


def test_a_file_that_cannot_be_reached_is_told_with_the_reason() -> None:
    name = "a" * 300 + ".py"

    assert str(refused(name)).startswith(f"{name}: the file cannot be reached: File name too long")


def test_a_word_of_nothing_but_spaces_is_told_what_a_target_is() -> None:
    assert "A target is" in str(refused(" "))


@given(word=st.text(max_size=12), around=st.sampled_from(["{}", "http://{}", "{}.py", "{}.json#a"]))
def test_no_word_is_met_with_anything_but_a_target_or_an_error_of_saysos(
    word: str, around: str
) -> None:
    with contextlib.suppress(SaysoError):
        parse_target([around.format(word.replace("\0", ""))])
    assert parse_target(["run", word], is_command=True)


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("ws://example.com/mcp", "the URL is not http:// or https://"),
        ("https://me:hunter2@example.com/mcp", "the URL holds a user name or a password"),
        ("https://me@example.com/mcp", "the URL holds a user name or a password"),
        ("https:///mcp?hunter2", "the URL names no host"),
        ("https://example.com/mcp#hunter2", "the URL has a part after #, which is never sent"),
        ("https://example.com/mcp#", "the URL has a part after #, which is never sent"),
        ("https://example.com/a b?hunter2", "the URL holds a blank or a control character"),
        ("https://example.com:http/?hunter2", "the URL is invalid: port could not be cast"),
        ("https://[::1/?hunter2", "the URL is invalid: invalid ipv6 url"),
    ],
)
def test_a_url_that_cannot_be_called_is_refused_without_being_shown(url: str, what: str) -> None:
    error = refused(url)

    assert error.what.startswith(what)
    assert error.fix
    assert "hunter2" not in str(error)


def test_credentials_in_a_url_are_sent_to_the_headers_of_a_configuration() -> None:
    assert "headers" in str(refused("https://me:pw@example.com/mcp"))


def test_no_secret_stands_in_the_repr_of_a_target() -> None:
    targets = (
        CommandTarget("a", "run", env={"TOKEN": "hunter2"}),
        UrlTarget("a", "https://example.com/mcp?key=hunter2", {"Authorization": "hunter2"}),
        SavedTarget("a", "a.json", {"name": "hunter2"}),
    )

    assert "hunter2" not in repr(targets)
    assert targets[1].shown == "https://example.com/mcp?…"
    assert UrlTarget("a", "https://example.com/mcp").shown == "https://example.com/mcp"


def test_targets_can_be_kept_in_sets() -> None:
    assert len({CommandTarget("a", "run", env={"A": "1"}), UrlTarget("a", "https://a")}) == 2


@pytest.mark.process
def test_parsing_a_target_imports_no_sdk() -> None:
    code = "import sys, sayso.connect.target; print([m for m in sys.modules if m[:3] == 'mcp'])"

    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": SRC}, capture_output=True, check=True
    )
    assert done.stdout.strip() == b"[]"


def test_two_servers_have_two_origins_whatever_they_are_called() -> None:
    command = CommandTarget("crm", "python", ("server.py",), {"TOKEN": "hunter2"})
    others = [
        command,
        replace(command, args=("server.py", "-v")),
        replace(command, env={"TOKEN": "hunter3"}),
        replace(command, cwd="/srv"),
        UrlTarget("crm", "https://crm.example/mcp"),
        UrlTarget("crm", "https://crm.example/mcp", {"Authorization": "hunter2"}),
    ]
    origins = {origin_of(one) for one in others}
    assert len(origins) == len(others)
    assert origin_of(replace(command, name="other")) == origin_of(command)
    assert not any("hunter" in one for one in origins)


def test_a_place_is_the_same_server_whatever_secrets_it_is_given() -> None:
    command = CommandTarget("one", "run", ("a",), {"KEY": "1"}, "/srv")
    web = UrlTarget("one", "https://a/mcp", {"Authorization": "1"})
    assert place_of(replace(command, env={"KEY": "2"}, is_shared=True)) == place_of(command)
    assert place_of(replace(web, headers={})) == place_of(web)
    others = [
        command,
        replace(command, name="two"),
        replace(command, args=("b",)),
        replace(command, cwd=None),
        web,
        replace(web, url="https://b/mcp"),
        replace(web, name="two"),
    ]
    assert len({place_of(one) for one in others}) == len(others)
