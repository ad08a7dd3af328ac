"""`sayso infer`: what is guessed, as a table, as a document, and as a change to a source."""

import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import COMMAND, configuration, sayso, write_json
from tests.terminals import run_on_terminal

from sayso.infer import guess
from sayso.testing import assert_annotated

HINTS = ["read_only", "destructive", "idempotent", "open_world"]
NOTHING = {"value": None, "confidence": 0.0, "reasons": []}

TOOLS: list[dict[str, Any]] = [
    {"name": "note_delete", "description": "Delete a note. This cannot be undone."},
    {"name": "zq"},
    {"name": "zq", "inputSchema": 7},
    {"name": "", "annotations": 3},
    {"name": "get_note", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": False}},
]

SERVER = '''\
"""Notes."""

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

mcp = MCPServer("notes", log_level="ERROR")


@mcp.tool()
def get_note(number: int) -> str:
    """Get a note."""
    return ""


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=False))
def delete_note(number: int) -> str:
    """Delete a note. This cannot be undone."""
    return ""


@mcp.tool(annotations=ToolAnnotations(destructiveHint=True))
def list_notes() -> str:
    """List notes."""
    return ""


if __name__ == "__main__":
    mcp.run()
'''


@pytest.fixture
def saved(tmp_path: Path) -> str:
    return write_json(tmp_path / "tools.json", {"tools": TOOLS})


@pytest.fixture
def server(tmp_path: Path) -> Path:
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    return path


def test_the_document_has_every_entry_in_its_place_with_all_four_hints(saved: str) -> None:
    done = sayso("infer", saved, "--json")

    assert (done.code, done.err) == (0, "")
    assert set(done.json) == {"schema", "tools"}
    assert done.json["schema"] == 1
    assert [one["name"] for one in done.json["tools"]] == [one["name"] for one in TOOLS]
    for tool, found in zip(TOOLS, done.json["tools"], strict=True):
        said = guess(tool)
        assert list(found["hints"]) == HINTS
        for name, hint in found["hints"].items():
            one = said.get(name)
            assert hint == (
                {"value": one.value, "confidence": one.confidence, "reasons": list(one.reasons)}
                if one
                else NOTHING
            )
    assert done.json["tools"][0]["hints"]["destructive"]["value"] is True
    assert done.json["tools"][1]["hints"] == dict.fromkeys(HINTS, NOTHING)


def test_below_the_threshold_nothing_is_claimed(saved: str) -> None:
    done = sayso("infer", saved, "--json", "--threshold", "1")

    assert done.json["tools"][4]["hints"] == dict.fromkeys(HINTS, NOTHING)


@pytest.mark.parametrize("threshold", ["0.4", "1.1", "nan"])
def test_a_threshold_below_chance_is_a_mistake(saved: str, threshold: str) -> None:
    done = sayso("infer", saved, "--json", "--threshold", threshold)

    assert (done.code, done.error["where"]) == (2, "--threshold")


def test_the_table_says_what_is_inferred_how_surely_and_why(saved: str) -> None:
    done = sayso("infer", saved)

    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "tools: 5 tools"
    said = guess(TOOLS[0])["read_only"]
    row = next(one for one in lines if one.startswith("note_delete"))
    assert row.split()[:3] == ["note_delete", "read_only", "no"]
    assert said.reasons[0].split()[-1] in row
    declared = next(one for one in lines if one.startswith("get_note"))
    assert declared.split()[:4] == ["get_note", "read_only", "no", "yes"]
    assert any("(no name)" in one and "no evidence" in one for one in lines)
    assert "100" not in done.out


@pytest.mark.parametrize(
    ("command", "words"),
    [("infer", ["inferred", "read_only", "why"]), ("inspect", ["level", "destructive"])],
)
@pytest.mark.process
def test_in_a_narrow_terminal_a_long_name_leaves_room_for_the_rest(
    command: str, words: list[str], tmp_path: Path
) -> None:
    name = "organization_repository_branch_protection_rule_update"
    saved = write_json(tmp_path / "tools.json", {"tools": [{"name": name}]})

    _, shown = run_on_terminal(["/usr/bin/env", "COLUMNS=80", *COMMAND, command, saved], {})

    table = shown.partition("1 tool")[2]
    assert all(word in table for word in words), shown
    assert "".join(line[:27].split(" ")[0] for line in table.splitlines()[2:]).find(name) >= 0, (
        table
    )


@pytest.mark.process
def test_several_servers_are_told_each_under_its_name(tmp_path: Path, server: Path) -> None:
    servers = configuration(
        tmp_path / "mcp.json", notes=(sys.executable, str(server)), gone=(sys.executable, "-c", "")
    )

    done = sayso("infer", servers, "--json")

    assert done.code == 4
    assert done.json["schema"] == 1
    notes, gone = done.json["servers"]
    assert (notes["server"], len(notes["tools"])) == ({"name": "notes"}, 3)
    assert (gone["server"], set(gone)) == ({"name": "gone"}, {"server", "error"})
    shown = sayso("infer", servers)
    assert shown.code == 4
    assert "notes: 3 tools" in shown.out
    assert "gone" in shown.err


@pytest.mark.process
def test_a_target_that_cannot_be_asked_prints_no_document() -> None:
    done = sayso("infer", "--json", "--", sys.executable, "-c", "")

    assert (done.code, done.out) == (4, "")
    assert done.error["code"] == "server-exited"


@pytest.mark.parametrize("words", [["tools.json", "--write"], ["--write", "--", "python", "x.py"]])
def test_only_a_python_file_can_be_written_into(words: list[str]) -> None:
    done = sayso("infer", *words)

    assert (done.code, "infer --write server.py" in done.err) == (2, True)


def test_yes_without_write_is_a_mistake(saved: str) -> None:
    assert "requires --write" in sayso("infer", saved, "--yes").err


@pytest.mark.process
def test_a_dry_run_shows_the_change_and_makes_none(server: Path) -> None:
    done = sayso("infer", "--write", "--dry-run", str(server))

    assert done.code == 0, done.err
    assert server.read_text() == SERVER
    assert any(one.startswith("+") and "readOnlyHint=True" in one for one in done.out.splitlines())
    assert "get_note: read_only yes, because " in done.err
    # Its author says that it destroys: no guess of reading beside that.
    assert "list_notes: read_only no, because the tool is declared destructive" in done.err


@pytest.mark.process
def test_nobody_to_ask_is_no_yes(server: Path) -> None:
    done = sayso("infer", "--write", str(server))

    assert (done.code, server.read_text()) == (2, SERVER)
    assert "--yes" in done.err


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("no\n", 5)])
@pytest.mark.process
def test_a_person_at_the_terminal_decides(server: Path, answer: str, code: int) -> None:
    server.chmod(0o750)
    words = ["infer", "--write", str(server)]

    ended, shown = run_on_terminal([*COMMAND, *words], {"[y/N] ": answer})

    assert ended == code, shown
    assert (server.read_text() != SERVER) == (code == 0)
    assert server.stat().st_mode & 0o777 == 0o750


@pytest.mark.process
def test_what_was_written_is_what_the_server_declares(server: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.py"
    link.symlink_to(server)

    done = sayso("infer", "--write", "--yes", "--json", str(link))

    assert done.json["written"] is True
    added = {one["name"]: one["hints"] for one in done.json["added"]}
    assert added["get_note"]["read_only"]["value"] is True
    assert added["delete_note"]["destructive"]["value"] is True
    assert "read_only" not in added["delete_note"]
    assert done.json["diff"].startswith("--- ")
    assert link.is_symlink()
    shown = sayso("inspect", "--json", str(server)).json["tools"]
    hints = {one["name"]: one["hints"] for one in shown}
    assert hints["get_note"]["read_only"] == {"value": True, "source": "declared"}
    assert hints["delete_note"]["destructive"] == {"value": True, "source": "declared"}
    again = sayso("infer", "--write", "--yes", str(server))
    assert (again.code, again.out) == (0, "")
    assert "Nothing to write" in again.err


@pytest.mark.process
def test_as_a_document_nothing_is_written_without_yes(server: Path) -> None:
    done = sayso("infer", "--write", "--json", str(server))

    assert (done.code, done.json["written"], server.read_text()) == (0, False, SERVER)


@pytest.mark.process
def test_a_tool_that_another_file_defines_is_told(server: Path) -> None:
    server.rename(server.with_name("inner.py"))
    server.write_text("from inner import mcp\n")

    done = sayso("infer", "--write", "--json", str(server))

    left = {one["name"]: one["why"] for one in done.json["left"]}
    assert {"get_note", "delete_note"} <= set(left)
    assert set(left.values()) == {"the file has no definition with this name"}


@pytest.mark.process
def test_what_the_source_or_the_words_speak_against_is_not_written(server: Path) -> None:
    server.write_text(
        SERVER.replace(
            'a note."""\n    return', 'a note."""\n    open("/srv/notes", "w")\n    return', 1
        )
        .replace('"""List notes."""', '"""List notes from the internet."""')
        .replace("destructiveHint=True", "readOnlyHint=True")
    )

    done = sayso("infer", "--write", "--yes", str(server))

    assert "get_note: read_only stays undeclared, because " in done.err
    assert "opens " in done.err
    assert (
        "list_notes: open_world stays undeclared, because the description says “from the internet”"
        in done.err
    )
    found = sayso("lint", "--select", "SS115,SS116", str(server))
    assert (found.code, found.out) == (0, "no findings in 3 tools, profile spec\n")
    document = sayso("infer", "--write", "--json", str(server)).json
    assert [one["hint"] for one in document["doubted"]] == ["read_only", "open_world"]


CRM = '''\
"""A small server."""

from typing import Annotated

from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from pydantic import Field

server = MCPServer("crm", log_level="ERROR")
Name = Annotated[str, Field(description="The name of the note", max_length=80)]
Text = Annotated[str, Field(description="The text of the note", max_length=800)]
DryRun = Annotated[bool, Field(description="Only report what would change")]


@server.tool()
def list_notes() -> list[str]:
    """List the notes of this account, sorted by name."""
    return []


@server.tool(title="Search the web")
def search_web(query: Name) -> str:
    """Search the web for pages about something."""
    return query


@server.tool(annotations=ToolAnnotations(readOnlyHint=True, openWorldHint=False))
def get_note(name: Name) -> str:
    """Get the text of one note by its name."""
    return name


@server.tool()
def create_note(name: Name, text: Text) -> str:
    """Create a note with a text. Fails if the name is taken."""
    return name


@server.tool()
def update_note(name: Name, text: Text, dry_run: DryRun = False) -> str:
    """Replace the whole text of a note that is there."""
    return name


@server.tool()
def delete_note(name: Name, dry_run: DryRun = False) -> str:
    """Delete one note for good."""
    return name


@server.tool()
def purge_notes(dry_run: DryRun = False) -> str:
    """Remove all notes of this account. Idempotent."""
    return "gone"
'''


@pytest.mark.process
def test_what_was_written_passes_every_profile_and_assert_annotated(tmp_path: Path) -> None:
    file = tmp_path / "crm.py"
    file.write_text(CRM)

    done = sayso("infer", "--write", "--yes", "--json", str(file))

    assert done.json["left"] == done.json["doubted"] == []
    titles = {one["name"]: one["title"] for one in done.json["added"]}
    assert (titles["search_web"], titles["get_note"]) == ("Search the web", "Get note")
    hints = {one["name"]: one["hints"] for one in done.json["added"]}
    assert hints["delete_note"]["idempotent"]["value"] is False
    assert hints["purge_notes"]["idempotent"]["value"] is True
    assert "idempotent" not in hints["list_notes"]
    for profile in ("spec", "strict", "openai", "anthropic"):
        linted = sayso("lint", "--json", "--profile", profile, str(file))
        found = {(one["code"], one["tool"]) for one in linted.json["servers"][0]["findings"]}
        # That directory calls every write destructive, against the specification.
        meant_otherwise = {("SS703", "create_note")} if profile == "anthropic" else set()
        assert (linted.code, found) == (0, meant_otherwise), profile
    assert_annotated(str(file))


@pytest.mark.process
def test_a_server_that_does_not_start_is_not_changed(server: Path) -> None:
    server.write_text("raise SystemExit(1)\n")

    done = sayso("infer", "--write", "--json", "--yes", str(server))

    assert done.code != 0
    assert server.read_text() == "raise SystemExit(1)\n"


@pytest.mark.process
def test_a_file_that_was_changed_meanwhile_is_not_written(server: Path) -> None:
    ours, theirs = os.openpty()
    words = [*COMMAND, "infer", "--write", str(server)]
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        read_until(ours, "[y/N] ")
        server.write_text("changed = 1\n")
        os.write(ours, b"y\n")
        shown = read_until(ours, "try again")
        os.close(ours)

    assert process.returncode == 2, shown
    assert "the file has changed" in shown
    assert server.read_text() == "changed = 1\n"
    assert [one.name for one in server.parent.glob("*sayso-part")] == []


def read_until(terminal: int, text: str) -> str:
    shown = ""
    while text not in shown:
        assert select.select([terminal], [], [], 60)[0], shown
        shown += os.read(terminal, 65536).decode(errors="replace")
    return shown
