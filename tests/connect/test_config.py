"""Clients' configurations: what they mean, and where they are wrong."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.connect.config import is_config, read_config, read_entry
from sayso.connect.kinds import CommandTarget, UrlTarget
from sayso.errors import ConfigError
from sayso.settings.json_file import LARGEST, read_json
from sayso.settings.json_positions import Position, locate, position_at


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def config(text: str, name: str = "mcp.json") -> tuple[CommandTarget | UrlTarget, ...]:
    Path(name).write_text(text, encoding="utf-8")
    return read_config(read_json(name))


def entry(**fields: Any) -> CommandTarget | UrlTarget:
    (target,) = config(json.dumps({"mcpServers": {"one": fields}}))
    return target


def command(**fields: Any) -> CommandTarget:
    target = entry(command="run", **fields)
    assert isinstance(target, CommandTarget)
    return target


def refused(text: str, name: str = "mcp.json") -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        config(text, name)
    return caught.value


def refused_entry(text: str) -> str:
    """The error for one entry, written from column 24 on."""
    error = refused(f'{{"mcpServers": {{"one": {text}}}}}')
    return f"{error.where}: {error.what}"


# --- What configurations mean


def test_each_family_of_clients_is_read() -> None:
    desktop = config('{"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}}}')
    assert desktop == (CommandTarget("git", "uvx", ("mcp-server-git",)),)

    gemini = config("""{
        // Gemini CLI lets people write comments
        "theme": "dark", "mcpServers": {"web": {
            "httpUrl": "https://example.com/mcp", "url": "https://example.com/sse",
            "headers": {"X-Key": "k"}, "timeout": 5, "trust": false, "includeTools": ["a"]
        }}
    }""")
    assert gemini == (UrlTarget("web", "https://example.com/mcp", {"X-Key": "k"}),)

    vs_code = config("""{
        "inputs": [], /* comments
        and trailing commas */
        "servers": {"web": {"type": "http", "url": "https://example.com//mcp",}, },
    }""")
    assert vs_code == (UrlTarget("web", "https://example.com//mcp"),)


@pytest.mark.parametrize("kind", ["http", "streamable-http", "streamableHttp", "streamable_http"])
def test_streamable_http_has_many_spellings(kind: str) -> None:
    assert entry(url="https://a/mcp", type=kind) == UrlTarget("one", "https://a/mcp")


@pytest.mark.parametrize("key", ["type", "transport", "transportType"])
@pytest.mark.parametrize("kind", ["stdio", "local"])
def test_stdio_may_be_said_or_not(key: str, kind: str) -> None:
    assert command(**{key: kind}) == command() == CommandTarget("one", "run")


def test_windsurfs_server_url_is_a_url() -> None:
    assert entry(serverUrl="https://a/mcp") == UrlTarget("one", "https://a/mcp")


def test_keys_by_which_clients_direct_themselves_are_passed_over() -> None:
    assert command(
        autoApprove=["x"], alwaysAllow=[], timeout=7, trust=True, includeTools=["x"], icon="x",
        excludeTools=[], description="x", dev={"watch": "*"}, gallery=True, version="1",
        oauth={"clientId": "x"}, disabledTools=["x"], tools=["*"],
    ) == CommandTarget("one", "run")  # fmt: skip


def test_disabled_servers_are_passed_over_with_their_mistakes() -> None:
    text = """{"mcpServers": {
        "off": {"disabled": true, "type": "sse"}, "out": {"enabled": false},
        "on": {"command": "run", "disabled": false, "enabled": true}
    }}"""

    assert config(text) == (CommandTarget("on", "run"),)


def test_one_entry_is_read_whatever_is_wrong_with_the_others() -> None:
    Path("x.json").write_text(
        '{"servers": {"bad": 7, "good": {"command": "run"}, "off": {"disabled": true}}}'
    )
    file = read_json("x.json")

    assert read_entry(file, "good") == CommandTarget("good", "run")
    with pytest.raises(ConfigError, match=r"x.json:1:52: off: the server is disabled"):
        read_entry(file, "off")


def test_numbers_in_env_count_as_text_and_null_as_absent() -> None:
    assert command(env={"PORT": 8080, "NONE": None, "A": "b"}).env == {"PORT": "8080", "A": "b"}


def test_null_counts_as_a_key_that_is_missing() -> None:
    assert command(args=None, env=None, cwd=None, url=None, type=None) == CommandTarget(
        "one", "run"
    )


def test_a_folder_is_taken_from_the_configurations_own(tmp_path: Path) -> None:
    assert command(cwd="sub").cwd == str(tmp_path / "sub")
    assert command(cwd="/srv").cwd == "/srv"


def test_names_keep_letters_digits_underscore_and_dash() -> None:
    (target,) = config('{"mcpServers": {"My server (β) v2_x": {"command": "run"}}}')

    assert target.name == "My-server-v2_x"


# --- Variables


def test_variables_are_expanded_wherever_text_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", "value ${NOT_AGAIN}")
    value = "value ${NOT_AGAIN}"

    target = command(args=["-${HERE}-", "${env:HERE}"], env={"A": "${HERE}"}, cwd="/x/${HERE}")
    assert target.args == (f"-{value}-", value)
    assert target.env == {"A": value}
    assert target.cwd == f"/x/{value}"
    assert entry(command="${HERE}") == CommandTarget("one", value)

    monkeypatch.setenv("HERE", "here")
    web = entry(url="https://a/${HERE}", headers={"X": "Bearer ${HERE}"})
    assert web == UrlTarget("one", "https://a/here", {"X": "Bearer here"})


def test_a_secret_may_stand_in_a_file_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("hunter2\n")
    assert command(env={"KEY": "${file:key}"}).env == {"KEY": "hunter2"}
    web = entry(url="https://a/", headers={"X": f"Bearer ${{file:{tmp_path}/key}}"})
    assert web == UrlTarget("one", "https://a/", {"X": "Bearer hunter2"})
    (tmp_path / "key").write_text("two\nlines\n")
    found = refused('{"mcpServers": {"one": {"command": "run", "args": ["${file:key}"]}}}')
    assert "a secret must be one line of text" in str(found)


def test_a_default_stands_in_for_a_variable_that_is_not_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("UNSET", raising=False)
    monkeypatch.setenv("EMPTY", "")

    args = ["${UNSET:-http://a:1}", "${UNSET:-}", "${EMPTY:-x}", "$UNSET", "${", "{}"]
    assert command(args=args).args == ("http://a:1", "", "", "$UNSET", "${", "{}")


def test_the_editors_folders_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    args = [
        "${workspaceFolder}/x",
        "${workspaceFolderBasename}",
        "${userHome}",
        "${pathSeparator}",
        "${/}",
    ]
    expected = (f"{tmp_path}/x", tmp_path.name, "/home/me", os.sep, os.sep)
    text = json.dumps({"servers": {"one": {"command": "run", "args": args}}})

    for name in ("mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"):
        Path(name).parent.mkdir(exist_ok=True)
        (target,) = config(text, name)
        assert isinstance(target, CommandTarget)
        assert target.args == expected


def test_geminis_dollar_names_count_where_they_are_all_of_a_value_and_are_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOKEN", "t")
    env = {"A": "$TOKEN", "B": "a$TOKEN", "C": "$NOT_SET_ANYWHERE"}

    target = command(env=env, args=["$TOKEN"])
    assert target.env == {"A": "t", "B": "a$TOKEN", "C": "$NOT_SET_ANYWHERE"}
    assert target.args == ("$TOKEN",)


KNOWN = (
    "Known are ${NAME}, ${NAME:-default}, ${env:NAME}, ${file:PATH}, ${workspaceFolder} and "
    "${userHome}."
)
UNREADABLE = (
    "mcp.json:1:36: one.command: ${file:missing}: cannot read the secret: No such file or directory"
)


@pytest.mark.parametrize(
    ("text", "error", "fix"),
    [
        (
            '{"command": "run", "env": {"K": "hunter2 ${MISSING}"}}',
            "mcp.json:1:56: one.env.K: the environment variable MISSING is not set",
            "Set MISSING before you start sayso.",
        ),
        (
            '{"command": "run", "args": ["a", "${env:MISSING}"]}',
            "mcp.json:1:57: one.args[1]: the environment variable MISSING is not set",
            "Set MISSING before you start sayso.",
        ),
        (
            '{"url": "${input:api-key}"}',
            "mcp.json:1:32: one.url: ${input:api-key} is a question that only the editor can ask",
            "Put the value into an environment variable and write ${env:API_KEY} instead.",
        ),
        (
            '{"command": "${config:x}"}',
            "mcp.json:1:36: one.command: unknown variable ${config:x}",
            KNOWN,
        ),
        (
            '{"command": "${file:}"}',
            "mcp.json:1:36: one.command: unknown variable ${file:}",
            KNOWN,
        ),
        (
            '{"command": "${file:missing}"}',
            UNREADABLE,
            "Correct the path; it is relative to the configuration's folder.",
        ),
    ],
)
def test_a_variable_without_a_value_is_named_with_its_place(
    text: str, error: str, fix: str
) -> None:
    found = refused(f'{{"mcpServers": {{"one": {text}}}}}')

    assert f"{found.where}: {found.what}" == error
    assert found.fix == fix
    assert "hunter2" not in str(found)


# --- envFile


def test_an_env_file_is_read_and_env_wins_over_it(tmp_path: Path) -> None:
    Path("my.env").write_text(
        "# comment\n\nA=from file\nexport B = plain # comment\nC='single $X \\n'\r\n"
        'D="double \\"q\\" \\n \\x"  # comment\nE=\nF=a#b\nG=it\'s\nA=twice\n'
    )

    target = command(envFile="${workspaceFolder}/my.env", env={"F": "own"})
    assert target.env == {
        "A": "twice",
        "B": "plain",
        "C": "single $X \\n",
        "D": 'double "q" \n x',
        "E": "",
        "F": "own",
        "G": "it's",
    }
    assert command(envFile=str(tmp_path / "my.env")).env["F"] == "a#b"


@pytest.mark.parametrize("line", ["hunter2", 'A="hunter2', "1A=hunter2", '="hunter2"'])
def test_a_line_that_sets_nothing_is_told_by_its_number_and_not_shown(line: str) -> None:
    Path("my.env").write_text(f"A=1\n{line}\n")

    error = refused('{"servers": {"one": {"command": "run", "envFile": "my.env"}}}')
    assert str(error.where).endswith("my.env:2")
    assert error.what == "this line sets no variable"
    assert "hunter2" not in str(error)


def test_an_env_file_that_is_missing_is_told_where_it_is_named(tmp_path: Path) -> None:
    assert refused_entry('{"command": "run", "envFile": "no.env"}') == (
        f"mcp.json:1:54: one.envFile: there is no such file: {tmp_path}/no.env"
    )


# --- What is wrong with an entry


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("7", "mcp.json:1:24: one: must be an object, not a number"),
        ("null", "mcp.json:1:24: one: must be an object, not null"),
        ("{}", "mcp.json:1:24: one: has neither “command” nor “url”"),
        ('{"command": ""}', "mcp.json:1:24: one: has neither “command” nor “url”"),
        ('{"command": 7}', "mcp.json:1:36: one.command: must be a string, not a number"),
        ('{"command": "a\\u0000"}', "mcp.json:1:36: one.command: holds a NUL character"),
        (
            '{"command": "run", "args": "x"}',
            "mcp.json:1:51: one.args: must be an array of strings, not a string",
        ),
        (
            '{"command": "run", "args": ["x", true]}',
            "mcp.json:1:57: one.args[1]: must be a string, not a boolean",
        ),
        (
            '{"command": "run", "env": []}',
            "mcp.json:1:50: one.env: must be an object of strings, not an array",
        ),
        (
            '{"command": "run", "env": {"A": 1.5}}',
            "mcp.json:1:56: one.env.A: must be a string, not a number",
        ),
        (
            '{"command": "run", "env": {"A=": "x"}}',
            "mcp.json:1:51: one.env.A=: is not a valid name",
        ),
        (
            '{"command": "run", "disabled": "yes"}',
            "mcp.json:1:55: one.disabled: must be true or false, not a string",
        ),
        (
            '{"command": "run", "url": "https://a"}',
            "mcp.json:1:24: one: has both “command” and “url”",
        ),
        ('{"type": "http"}', "mcp.json:1:24: one: is an HTTP server without “url”"),
        (
            '{"type": "http", "command": "run"}',
            "mcp.json:1:24: one: is an HTTP server without “url”",
        ),
        (
            '{"type": "stdio", "url": "https://a"}',
            "mcp.json:1:24: one: is a stdio server without “command”",
        ),
        (
            '{"type": "sse", "url": "https://a"}',
            "mcp.json:1:33: one.type: the old HTTP+SSE transport is not supported",
        ),
        (
            '{"type": "ws", "url": "https://a"}',
            "mcp.json:1:33: one.type: unknown transport “ws”",
        ),
        (
            '{"url": "https://a:pw@b/mcp"}',
            "mcp.json:1:32: one.url: the URL holds a user name or a password",
        ),
        ('{"url": ""}', "mcp.json:1:32: one.url: the URL is not http:// or https://"),
        (
            '{"url": "https://a", "headers": {"X Y": "z"}}',
            "mcp.json:1:57: one.headers.X Y: is not a valid name",
        ),
        (
            '{"url": "https://a", "headers": {"X": "z\\n"}}',
            "mcp.json:1:62: one.headers.X: contains a control character",
        ),
        (
            '{"url": "https://a", "headersHelper": "get"}',
            "mcp.json:1:45: one.headersHelper: sayso does not run header programs",
        ),
    ],
)
def test_a_mistake_in_an_entry_is_told_with_its_place(text: str, error: str) -> None:
    assert refused_entry(text) == error


def test_an_unknown_key_is_told_with_its_place_and_what_was_meant() -> None:
    error = refused('{\n  "mcpServers": {\n    "git": {\n      "Comand": "uvx"\n    }\n  }\n}')

    assert str(error) == (
        "mcp.json:4:7: git.Comand: unknown key. Did you mean “command”? Known: args, "
        "sayso, command, cwd, disabled, enabled, env, envFile, headers, httpUrl, serverUrl, "
        "transport, transportType, type, url."
    )
    error = refused('{"servers": {"git": {"zzzz": 1}}}')
    assert str(error.fix).startswith("Known: args")


def test_two_servers_that_would_have_one_name_are_refused() -> None:
    text = '{"mcpServers": {"a b": {"command": "x"}, "a.b": {"command": "x"}}}'

    assert str(refused(text)) == (
        "mcp.json:1:42: “a b” and “a.b” would both be called a-b. Rename one of them."
    )


# --- What is wrong with a file


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{}", "mcp.json:1:1: the file names no servers"),
        ('{"mcpServers": {}}', "mcp.json:1:16: the file names no servers"),
        ('{"servers": []}', "mcp.json:1:13: “servers” must be an object, not an array"),
        ("7", "mcp.json:1:1: a configuration must be an object, not a number"),
        ('{\n "mcpservers": {}}', "mcp.json:2:2: unknown key “mcpservers”"),
        ('{"theme": 1, "Server": {}}', "mcp.json:1:14: unknown key “Server”"),
        (
            '{"theme": 1}',
            "mcp.json:1:1: the file is neither a client's configuration nor a saved tools/list",
        ),
        (
            '{"mcpServers": {"a": {"disabled": true}}}',
            "mcp.json:1:16: each of the 1 servers is disabled",
        ),
    ],
)
def test_a_file_without_servers_is_told_so(text: str, error: str) -> None:
    found = refused(text)

    assert f"{found.where}: {found.what}" == error
    assert found.fix


def test_an_empty_configuration_is_met_with_an_example_and_a_misspelt_key_with_the_right_one() -> (
    None
):
    assert '{"mcpServers": {"git": {"command": "uvx"' in str(refused("{}"))
    assert refused('{"mcpservers": {}}').fix == "Did you mean “mcpServers”?"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "mcp.json: the file is empty"),
        (" \n// only this", "mcp.json: the file is empty"),
        ('{"a": 1\n  "b": 2}', "mcp.json:2:3: the file is not JSON: expecting ',' delimiter"),
        ('{"a": "b', "mcp.json:1:7: the file is not JSON: unterminated string"),
        ('{"a": 1 /* never', "mcp.json:1:9: the file is not JSON: expecting ',' delimiter"),
        (
            '{"mcpServers": {"a": {"command": "x",},\n}}',
            "mcp.json:1:37: the file is not JSON: trailing comma before a closing bracket",
        ),
        ('{"a": NaN}', "mcp.json:1:7: NaN is not a number that JSON can hold"),
        ('{"b": "NaN",\n "a": -Infinity}', "mcp.json:2:7: -Infinity is not a number"),
        ('{"a": ' + "1" * 5000 + "}", "mcp.json:1:7: 111111111111 is not a number"),
        ("[" * 100_000, "mcp.json: the JSON is nested too deeply"),
        (
            '{"a": [1, {"b": 2,\n "b": 3}], "c": {}}',
            "mcp.json:2:2: duplicate key “b”",
        ),
        (
            '{"a": {"b": 1, "b": 2}, "a": 3}',
            "mcp.json:1:25: duplicate key “a”",
        ),
    ],
)
def test_what_is_not_json_is_told_with_its_place(text: str, error: str) -> None:
    assert str(refused(text)).startswith(error)


def test_the_rest_of_a_file_must_be_json_where_trailing_commas_are_allowed() -> None:
    error = refused('{"servers": {"a": {"command": "x",}}, nonsense}')

    assert error.where == "mcp.json:1:35"


def test_a_jsonc_file_may_have_trailing_commas_under_any_key() -> None:
    assert config('{"mcpServers": {"a": {"command": "x",},},}', "mcp.jsonc") == (
        CommandTarget("a", "x"),
    )


def test_a_byte_order_mark_is_passed_over() -> None:
    Path("mcp.json").write_bytes(b'\xef\xbb\xbf{"mcpServers": {"a": {"command": "x"}}}')

    assert read_config(read_json("mcp.json")) == (CommandTarget("a", "x"),)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_bytes_that_are_not_utf8_are_told_with_their_place(mark: bytes) -> None:
    Path("mcp.json").write_bytes(mark + '{"é":\n "ab'.encode() + b'\xff"}')

    with pytest.raises(ConfigError, match=r"mcp.json:2:5: the byte 0xff is not UTF-8\. Save"):
        read_json("mcp.json")


def test_a_file_that_is_too_large_is_refused() -> None:
    Path("mcp.json").write_bytes(b" " * (LARGEST + 1))

    with pytest.raises(ConfigError, match=r"mcp\.json: the file is larger than 10 MB"):
        read_json("mcp.json")


def test_a_file_that_cannot_be_read_is_told_with_the_reason() -> None:
    Path("folder").mkdir()

    with pytest.raises(
        ConfigError, match="folder: the file cannot be read: this is not a regular file"
    ):
        read_json("folder")


@pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd"])
def test_what_a_shell_hands_over_is_read_to_its_end(folder: str) -> None:
    reading, writing = os.pipe()
    os.write(writing, b'{"mcpServers": {"crm": {"command": "crm"}}}')
    os.close(writing)
    try:
        (found,) = read_config(read_json(f"{folder}/{reading}"))
    finally:
        os.close(reading)
    assert found.name == "crm"


def test_the_path_is_shown_as_it_was_typed() -> None:
    Path("sub").mkdir()

    assert refused("{}", "./sub/../sub/mcp.json").where == "./sub/../sub/mcp.json:1:1"


@pytest.mark.parametrize("value", [[], 7, {"mcp": {}}, None])
def test_only_an_object_with_servers_is_a_configuration(value: object) -> None:
    assert not is_config(value)


# --- Positions

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def paths_in(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else []
    items = enumerate(value) if isinstance(value, list) else items
    return [path, *(found for step, one in items for found in paths_in(one, (*path, step)))]


def offset_of(text: str, position: Position) -> int:
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: position.line - 1]) + position.column - 1


@given(
    value=values,
    indent=st.none() | st.integers(0, 3),
    colon=st.sampled_from([":", " : ", ": ", "\n:\t"]),
    comma=st.sampled_from([",", " , ", ",\r\n"]),
    is_ascii=st.booleans(),
    before=st.sampled_from(["", " ", "\n\n "]),
)
def test_every_value_and_every_key_is_found_where_it_stands(
    *, value: Any, indent: int | None, colon: str, comma: str, is_ascii: bool, before: str
) -> None:
    text = before + json.dumps(
        value, indent=indent, separators=(comma, colon), ensure_ascii=is_ascii
    )
    decoder = json.JSONDecoder()

    for path in paths_in(value):
        expected = value
        for step in path:
            expected = expected[step]
        found, _ = decoder.raw_decode(text, offset_of(text, locate(text, path)))
        assert found == expected
        if path and isinstance(path[-1], str):
            key, _ = decoder.raw_decode(text, offset_of(text, locate(text, path, of_key=True)))
            assert key == path[-1]


@pytest.mark.parametrize("path", [["b"], ["a", 0], [0], ["a", "b"]])
def test_a_path_that_leads_nowhere_is_a_mistake_of_the_caller(path: list[str | int]) -> None:
    with pytest.raises(KeyError):
        locate('{"a": 1}', path)


def test_of_a_key_that_stands_twice_the_last_is_found() -> None:
    assert locate('{"a": 1, "a": 2}', ["a"]) == Position(1, 15)


def test_columns_count_characters() -> None:
    assert locate('{"é𝄞": 1}', ["é𝄞"]) == Position(1, 8)
    assert position_at("a\n", 2) == Position(2, 1)


def test_values_far_down_are_found_without_recursion() -> None:
    depth = sys.getrecursionlimit() - 200
    text = "[" * depth + "]" * depth

    assert locate(text, [0] * 5) == Position(1, 6)
