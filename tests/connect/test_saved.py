"""Saved lists of tools: everything a server sent is kept, and what is no tool is pointed out."""

from pathlib import Path
from typing import Any

import pytest

from sayso.connect.kinds import SavedTarget
from sayso.connect.saved import read_saved, read_saved_lines
from sayso.errors import ConfigError
from sayso.settings.json_file import read_json


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def saved(text: str) -> SavedTarget:
    Path("tools.json").write_text(text)
    return read_saved(read_json("tools.json"))


def saved_lines(text: str) -> SavedTarget:
    Path("tools.jsonl").write_text(text)
    return read_saved_lines("tools.jsonl")


def refused(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        saved(text)
    assert caught.value.fix
    return f"{caught.value.where}: {caught.value.what}"


def test_unknown_keys_and_odd_hints_are_kept_as_they_were() -> None:
    target = saved("""{"tools": [{
        "name": "a", "x-own": {"deep": [1]}, "annotations":
        {"readOnlyHint": "true", "destructiveHint": 1, "idempotentHint": null, "other": false}
    }], "nextCursor": "b"}""")

    assert target.name == "tools"
    assert target.path == "tools.json"
    assert target.tools == (
        {
            "name": "a",
            "x-own": {"deep": [1]},
            "annotations": {
                "readOnlyHint": "true",
                "destructiveHint": 1,
                "idempotentHint": None,
                "other": False,
            },
        },
    )
    assert target.tools[0]["annotations"]["destructiveHint"] is not True


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("[]", {}),
        ('{"tools": []}', {}),
        ('{"tools": [], "server": "x", "_meta": 7}', {}),
        ('{"tools": [], "server": {"name": "x"}}', {"name": "x"}),
        ('{"tools": [], "serverInfo": {"name": "y"}, "server": {"name": "x"}}', {"name": "y"}),
        (
            """{"jsonrpc": "2.0", "id": 1, "result": {"tools": [], "_meta":
                {"io.modelcontextprotocol/serverInfo": {"name": "z"}}}}""",
            {"name": "z"},
        ),
    ],
)
def test_what_the_file_says_of_the_server_is_kept(text: str, server: dict[str, Any]) -> None:
    assert saved(text).server == server


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"tools": {}}', "tools.json:1:11: “tools” must be an array, not an object"),
        ('{"tools": null}', "tools.json:1:11: “tools” must be an array, not null"),
        ('[{"name": "a"},\n 7]', "tools.json:2:2: a tool is an object, not a number"),
        ('{"tools": [\n  {"title": "a"}]}', "tools.json:2:3: this tool has no “name”"),
        ('[{"name": true}]', "tools.json:1:11: a tool's name is a string, not a boolean"),
        (
            '{"jsonrpc": "2.0", "result": {"tools": ["a"]}}',
            "tools.json:1:41: a tool is an object, not a string",
        ),
        (
            '{"jsonrpc": "2.0", "error": {"code": 1}}',
            "tools.json:1:1: this JSON-RPC message is an error",
        ),
        (
            '{"jsonrpc": "2.0", "result": {}}',
            "tools.json:1:1: this JSON-RPC message is not the answer to a tools/list",
        ),
        (
            '{"jsonrpc": "2.0", "method": "tools/list"}',
            "tools.json:1:1: this JSON-RPC message is not the answer to a tools/list",
        ),
        (
            '{"schema": 1, "tools": [{"name": "a", "level": "read", "fingerprint": "f"}]}',
            "tools.json:1:25: this is a report of sayso, which has no input schemas",
        ),
    ],
)
def test_what_is_no_tool_is_pointed_out_with_its_place(text: str, error: str) -> None:
    assert refused(text) == error


def test_a_tool_of_a_server_may_have_a_key_called_fingerprint() -> None:
    assert len(saved('[{"name": "a", "fingerprint": "f", "inputSchema": {}}]').tools) == 1


def test_lines_hold_one_tool_each_and_may_be_blank() -> None:
    target = saved_lines('{"name": "a"}\r\n\n  \n{"name": "b", "x": 1}')

    assert target.tools == ({"name": "a"}, {"name": "b", "x": 1})
    assert target.server == {}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"name": "a"}\n\n{"name": "b"', "tools.jsonl:3:13: the file is not JSON: expecting"),
        ('{"name": "a"}\n["b"]', "tools.jsonl:2:1: a tool is an object, not an array"),
        ('\n {"name": 1}', "tools.jsonl:2:11: a tool's name is a string, not a number"),
        ('\n{"a": NaN}', "tools.jsonl:2:7: NaN is not a number that JSON can hold"),
        ('\n{"a": 1, "a": 1}', "tools.jsonl:2:10: duplicate key “a”"),
    ],
)
def test_a_mistake_in_a_line_is_told_with_the_line(text: str, error: str) -> None:
    with pytest.raises(ConfigError) as caught:
        saved_lines(text)

    assert str(caught.value).startswith(error)
