"""A server's source as the linter takes it: what handlers do against their hints, and edits."""

from pathlib import Path

import pytest
from tests.cli.running import sayso

from sayso.cli.lint_input import read_nearby
from sayso.lint.rule import Edit, Finding, Severity
from sayso.lint.source import fix_source, handlers_in

SERVER = """\
from pathlib import Path
from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from shop.notes import wipe
from .gone import nothing
import broken

mcp = MCPServer("shop", log_level="ERROR")


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
def notes_export(path: str) -> str:
    Path(path).write_text("notes")
    return path


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=False, destructiveHint=False))
def notes_rename(name: str) -> str:
    return wipe(name)


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
def notes_list() -> str:
    return ""
"""
NOTES = "import os\n\n\ndef wipe(name):\n    os.remove(name)\n    return name\n"


@pytest.fixture
def server(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text("")
    (tmp_path / "shop" / "notes.py").write_text(NOTES)
    (tmp_path / "broken.py").write_text("def (")
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    return path


def test_the_files_that_a_server_imports_are_read_with_it(server: Path) -> None:
    found = read_nearby(str(server), SERVER)

    names = [Path(item).relative_to(server.parent).as_posix() for item in found]
    assert names[0] == "server.py"
    assert set(names) == {"server.py", "shop/__init__.py", "shop/notes.py"}


def test_a_handler_speaks_against_the_hints_that_it_breaks(server: Path) -> None:
    found = handlers_in(read_nearby(str(server), SERVER))

    (written,) = found["notes_export"].deeds
    assert (written.against, written.line) == ("read_only", 13)
    removed = found["notes_rename"].deeds
    assert {item.against for item in removed} == {"read_only", "destructive"}
    assert {Path(item.file).name for item in removed} == {"notes.py"}
    assert removed[0].what.endswith("via wipe")
    assert found["notes_list"].deeds == ()


@pytest.mark.process
def test_the_linter_tells_it_with_file_and_line(server: Path) -> None:
    server.write_text(SERVER.replace("from .gone import nothing\nimport broken\n", ""))

    done = sayso("lint", str(server), "--select", "handler-contradicts-hint")

    assert done.code == 1
    first, second = (line for line in done.out.splitlines() if "SS116" in line)
    assert "notes_export" in first
    assert f"{server}:11 writes files: Path(path).write_text('notes')" in first
    assert "notes_rename" in second
    assert "notes.py:5 deletes files: os.remove(name)" in second


def test_only_what_is_missing_is_written() -> None:
    def finding(*edits: Edit) -> Finding:
        return Finding("SS1", "x", Severity.ERROR, "shop", "", tool="notes_list", edits=edits)

    found = [
        finding(Edit(("title",), "List notes"), Edit(("annotations", "openWorldHint"), value=True)),
        finding(Edit(("annotations", "readOnlyHint"), value=False)),
        finding(Edit(("annotations", "idempotentHint"))),
        finding(Edit(("inputSchema", "type"), "object")),
    ]

    patch = fix_source("server.py", SERVER.encode(), found)

    (added,) = patch.added
    assert (added.name, dict(added.hints), added.title) == (
        "notes_list",
        {"open_world": True},
        "List notes",
    )
