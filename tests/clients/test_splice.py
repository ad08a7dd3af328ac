"""Edits of a configuration: what is not meant stays, byte for byte."""

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.clients.jsonc import files
from tests.tiers import examples

from sayso.clients.document import Document
from sayso.clients.splice import put_back, raw_members, take_out
from sayso.errors import ConfigError

STEPS = ("mcpServers",)
ENTRY = {"command": "/usr/bin/sayso", "args": ["gateway"]}


def document(text: str) -> Document:
    return Document.of("mcp.json", text.encode())


def taken(text: str, *names: str) -> str:
    return take_out(document(text), STEPS, taken=names, name="sayso", entry=ENTRY).text


@settings(max_examples=examples(150))
@given(files(), st.data())
def test_servers_that_are_taken_out_and_put_back_are_there_as_they_were(
    file: tuple[bytes, dict[str, Any]], data: st.DataObject
) -> None:
    before, servers = file
    names = data.draw(st.lists(st.sampled_from(sorted(servers)), min_size=1, unique=True))
    old = Document.of("mcp.json", before)
    new = take_out(old, STEPS, taken=names, name="sayso", entry=ENTRY)
    assert new.file.value["mcpServers"] == {
        **{key: value for key, value in servers.items() if key not in names},
        "sayso": ENTRY,
    }
    assert new.data[:3] == before[:3] or not before.startswith(b"\xef\xbb\xbf")
    raw = raw_members(old, STEPS)
    back = put_back(new, STEPS, name="sayso", raw=[raw[name] for name in names])
    assert back.file.value == old.file.value


def test_the_entry_takes_the_place_and_the_manner_of_the_first_server() -> None:
    text = """{
    // mine
    "theme": "dark",
    "mcpServers": {
        // code
        "git": {"command": "uvx"},
        "notes": {"command": "notes"}, // by hand
        "files": {
            "command": "npx"
        }
    },
    "last": [1,2]
}
"""
    assert (
        taken(text, "git", "files")
        == """{
    // mine
    "theme": "dark",
    "mcpServers": {
        // code
        "sayso": {
            "command": "/usr/bin/sayso",
            "args": [
                "gateway"
            ]
        },
        "notes": {"command": "notes"} // by hand
    },
    "last": [1,2]
}
"""
    )


def test_a_file_on_one_line_stays_on_one_line() -> None:
    assert taken('{"mcpServers": {"a": {}, "b": {}}}', "a", "b") == (
        '{"mcpServers": {"sayso": {"command": "/usr/bin/sayso", "args": ["gateway"]}}}'
    )


def test_line_ends_and_tabs_are_those_of_the_file() -> None:
    text = '{\r\n\t"mcpServers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n'
    new = taken(text, "a")
    assert new.replace("\r\n", "").count("\n") == 0
    assert '\r\n\t\t"sayso": {\r\n\t\t\t"command"' in new


def test_a_comma_before_a_closing_bracket_stays() -> None:
    text = '{"servers": {\n    "a": {},\n    "b": {},\n  },}'
    new = take_out(document(text), ("servers",), taken=["a", "b"], name="sayso", entry={"x": 1})
    assert new.text == '{"servers": {\n    "sayso": {\n      "x": 1\n    },\n  },}'


@pytest.mark.parametrize(
    ("text", "raw", "expected"),
    [
        ('{"mcpServers": {}}', ['"a": 1', '"b": 2'], '{"mcpServers": {"a": 1, "b": 2}}'),
        ('{"mcpServers": {"c": 3}}', ['"a": 1'], '{"mcpServers": {"c": 3, "a": 1}}'),
        ('{"mcpServers": {\n "c": 3}}', ['"a": 1'], '{"mcpServers": {\n "c": 3,\n "a": 1}}'),
        ('{"mcpServers": {"sayso": {}}}', ['"a": 1'], '{"mcpServers": {"a": 1}}'),
        ('{"mcpServers": {"sayso": {}}}', [], '{"mcpServers": {}}'),
        ('{"mcpServers": {"sayso": {}, "c": 3}}', [], '{"mcpServers": { "c": 3}}'),
        ('{"mcpServers": {"c": 3, "sayso": {}}}', [], '{"mcpServers": {"c": 3}}'),
        ('{"mcpServers": {"c": 3}}', [], '{"mcpServers": {"c": 3}}'),
    ],
)
def test_servers_come_back_where_sayso_stood_or_else_last(
    text: str, raw: list[str], expected: str
) -> None:
    name = "sayso" if "sayso" in text else None
    assert put_back(document(text), STEPS, name=name, raw=raw).text == expected


def test_a_last_comma_goes_with_its_only_server() -> None:
    text = '{"servers": {"sayso": {} /* , */ ,}}'
    new = put_back(document(text), ("servers",), name="sayso", raw=[])
    assert new.text == '{"servers": { /* , */ }}'


def test_a_comma_in_a_comment_is_none_however_many_comments_there_are() -> None:
    comment = "// a, b" + " // c" * 40
    text = f'{{"servers": {{"sayso": {{}} {comment}\n}}}}'
    new = put_back(document(text), ("servers",), name="sayso", raw=[])
    assert comment in new.text


HOSTILE = ("/*", '\\"', '"\\"', "//", ", ", "[", '{"a":', "-Inf", "1" * 999 + ",", "${", "\n\r")


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("start", ["", '{"a": ', '{"servers": {"a": {'])
def test_no_file_takes_long_to_be_refused(start: str, piece: str) -> None:
    """A project's file is anybody's: each of these took minutes, or for ever."""
    data = (start + piece * (300_000 // len(piece))).encode()
    began = time.process_time()
    with pytest.raises(ConfigError):
        Document.of("mcp.jsonc", data)
    assert time.process_time() - began < 5


def test_an_object_that_is_gone_is_told() -> None:
    with pytest.raises(ConfigError, match="“mcpServers” is missing"):
        put_back(document("{}"), STEPS, name="sayso", raw=['"a": 1'])


def test_an_edit_that_would_read_otherwise_is_not_handed_out() -> None:
    text = '{"mcpServers": {"a": {}, "sayso": {}}}'
    with pytest.raises(ConfigError, match="without changing other parts"):
        put_back(document(text), STEPS, name="sayso", raw=['"a": 1'])


@pytest.mark.parametrize("other", ["\r", "\u2028", "\u2029"])
def test_a_comment_that_ends_for_some_readers_alone_hides_no_server(other: str) -> None:
    text = f'{{\n"mcpServers": {{ // shell{other} "hidden": {{"command": "a"}},\n}}}}'

    with pytest.raises(ConfigError, match="the comment ends") as caught:
        Document.of("mcp.json", text.encode())

    assert caught.value.where == "mcp.json:2:25"


def test_line_ends_that_all_readers_know_end_a_comment() -> None:
    text = '{ // one\r\n"a": "\u2028", /* \r \u2028 */\r"b": 1 // two\r\n}\r\n// three\r'

    assert Document.of("mcp.json", text.encode()).file.value == {"a": "\u2028", "b": 1}
