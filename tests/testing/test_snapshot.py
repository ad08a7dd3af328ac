import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tests.testing.servers import GIT, READ, bound, plain

from sayso.errors import ConfigError
from sayso.testing import assert_surface
from sayso.testing.run_state import run

SCHEMA = {
    "type": "object",
    "properties": {"limit": {"type": "integer", "minimum": 1, "maximum": 50}},
    "required": ["limit"],
    "additionalProperties": False,
}
TOOL: dict[str, Any] = {
    "name": "notes_list",
    "description": "List notes.",
    "annotations": READ,
    "inputSchema": SCHEMA,
    "outputSchema": {"type": "object", "properties": {"notes": {"type": "array"}}},
    "_meta": {"io.sayso/intent": {"scopes": ["notes.read"], "roles": ["editor"]}},
}
NAME = "surface.json"


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Where the surface of the server with that one tool is recorded."""
    path = tmp_path / NAME
    assert_surface(plain(TOOL), path, update=True)
    return path


@pytest.fixture(autouse=True)
def notes() -> Iterator[list[str]]:
    """What would be said at the end of the run."""
    kept, run.notes = run.notes, []
    yield run.notes
    run.notes = kept


def changed(*path: str, to: Any) -> dict[str, Any]:
    """The tool with one thing in it changed, or with it taken out where that is `None`."""
    tool = deepcopy(TOOL)
    inner = tool
    for one in path[:-1]:
        inner = inner[one]
    inner.pop(path[-1], None)
    if to is not None:
        inner[path[-1]] = to
    return tool


def failure(path: Path, *entries: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_surface(plain(*entries), path)
    return str(caught.value)


def test_the_file_is_sorted_and_ends_with_a_line(recorded: Path) -> None:
    text = recorded.read_text()
    found = json.loads(text)
    assert text == json.dumps(found, indent=2, sort_keys=True) + "\n"
    entry = found["tools"]["notes_list"]
    assert entry["hints"] == {
        "destructive": False,
        "idempotent": True,
        "open_world": False,
        "read_only": True,
    }
    assert (entry["level"], entry["scopes"]) == ("read", ["notes.read"])
    assert len(entry["input"]["fingerprint"]) == 64


def test_writing_it_again_changes_nothing(recorded: Path) -> None:
    before = recorded.read_bytes(), recorded.stat().st_mtime_ns
    assert_surface(plain(TOOL), recorded, update=True)
    assert (recorded.read_bytes(), recorded.stat().st_mtime_ns) == before


def test_a_surface_that_stayed_passes_without_a_word(recorded: Path, notes: list[str]) -> None:
    assert_surface(plain(TOOL), recorded)
    assert notes == []


def test_a_surface_of_a_bound_server_is_recorded_and_held(tmp_path: Path) -> None:
    assert_surface(bound(), tmp_path / NAME, update=True)
    assert_surface(bound("FastMCP"), tmp_path / NAME)


@pytest.mark.process
def test_a_server_of_others_is_recorded_by_its_command(tmp_path: Path) -> None:
    assert_surface([GIT], tmp_path / NAME, update=True)
    assert_surface(f"-- {GIT}", tmp_path / NAME)
    found = json.loads((tmp_path / NAME).read_text())["tools"]
    del found["git_status"]
    (tmp_path / NAME).write_text(json.dumps({"format": 1, "tools": found}))
    with pytest.raises(AssertionError, match=r"git_status: new \(read\), not recorded"):
        assert_surface([GIT], tmp_path / NAME)


def test_without_a_file_the_test_fails_and_says_how_to_make_it(tmp_path: Path) -> None:
    text = failure(tmp_path / NAME, TOOL)
    assert "surface.json does not exist; create it with pytest --sayso-upd" in text


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        (
            changed("_meta", "io.sayso/intent", "scopes", to=[]),
            "notes_list: scope notes.read removed: callers without it see the tool",
        ),
        (
            changed("_meta", "io.sayso/intent", "roles", to=[]),
            "notes_list: role editor no longer required",
        ),
        (
            changed("_meta", "io.sayso/intent", "roles", to=["editor", "guest"]),
            "notes_list: role guest added",
        ),
        (
            changed("inputSchema", "properties", "limit", "maximum", to=100),
            "notes_list: input schema widened: limit: maximum was 50, is 100",
        ),
        (
            changed("inputSchema", "additionalProperties", to=None),
            "notes_list: input schema widened: accepts unknown names",
        ),
        (
            changed("inputSchema", "properties", "force", to={"type": "boolean"}),
            "notes_list: input schema widened: force: is new",
        ),
        (
            changed("inputSchema", "required", to=None),
            "notes_list: input schema widened: limit: was required, is optional",
        ),
        (
            changed("outputSchema", "properties", "secrets", to={"type": "array"}),
            "notes_list: output schema widened: secrets: is new",
        ),
        (changed("outputSchema", to=None), "notes_list: output schema removed"),
    ],
)
def test_whatever_permits_more_fails_with_what_it_is(recorded: Path, tool: Any, words: str) -> None:
    text = failure(recorded, tool)
    assert text.startswith(f"crm: it permits more than surface.json records\n  {words}\n")
    assert text.endswith("If this is intended, run pytest --sayso-update and review surface.json.")


def test_a_hint_that_loosens_fails_with_both_values_and_the_levels(tmp_path: Path) -> None:
    strict = changed("annotations", to={"readOnlyHint": False, "destructiveHint": True})
    assert_surface(plain(strict), tmp_path / NAME, update=True)

    text = failure(tmp_path / NAME, TOOL)
    assert "readOnlyHint loosened: was false, is true (level destructive → read)" in text
    assert "idempotentHint loosened: was not declared, is true" in text


def test_a_new_tool_fails_until_it_is_recorded(recorded: Path) -> None:
    new = {**TOOL, "name": "notes_purge", "annotations": {}}
    assert "notes_purge: new (destructive), not recorded" in failure(recorded, TOOL, new)
    assert_surface(plain(TOOL, new), recorded, update=True)
    assert_surface(plain(TOOL, new), recorded)


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        (changed("annotations", "readOnlyHint", to=False), "readOnlyHint tightened: was true"),
        (changed("annotations", "destructiveHint", to=None), "destructiveHint tightened"),
        (changed("_meta", "io.sayso/intent", "scopes", to=["notes.read", "x"]), "scope x added"),
        (changed("inputSchema", "properties", "limit", "maximum", to=20), "schema narrowed"),
        (changed("inputSchema", "title", to="Arguments"), "texts of the input schema changed"),
        (changed("annotations", "title", to="All notes"), "title was 'List', is 'All notes'"),
    ],
)
def test_what_only_tightens_passes_and_asks_to_be_recorded(
    recorded: Path, notes: list[str], tool: Any, words: str
) -> None:
    assert_surface(plain(tool), recorded)
    assert notes[0].startswith("surface.json: 1 change without loosening; record")
    assert words in notes[1]


def test_a_tool_that_is_gone_permits_no_more(recorded: Path, notes: list[str]) -> None:
    assert_surface(plain(), recorded)
    assert notes[1] == "  notes_list: removed"


def test_both_kinds_of_changes_are_told_apart(recorded: Path) -> None:
    tool = changed("annotations", "title", to="All notes")
    tool["_meta"] = {}
    text = failure(recorded, tool)
    assert "\n  other changes:\n  notes_list: title" in text


def test_two_tools_of_one_name_cannot_be_recorded(tmp_path: Path) -> None:
    assert "invalid entries cannot be recorded" in failure(tmp_path / NAME, TOOL, TOOL)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", r"surface\.json:1:2: invalid JSON"),
        ("[]", "not a recorded surface"),
        ('{"format": 1}', "tools must be an object"),
        ('{"format": 1, "tools": {"a": {}}}', "the entry of 'a' is incomplete"),
    ],
)
def test_a_file_that_records_no_surface_is_a_mistake(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / NAME).write_text(text)
    with pytest.raises(ConfigError, match=words):
        assert_surface(plain(TOOL), tmp_path / NAME)
