"""`sayso lint` and `sayso rule`: what a person, a build and a code scanner get, and how it ends."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import configuration, python, sayso, write_json

SERVER = '''
from mcp.server import MCPServer
from mcp_types import ToolAnnotations

mcp = MCPServer("shop")


# sayso: allow title-missing: our clients show the name
@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True, openWorldHint=False))
def delete_order() -> str:
    """Deletes an order. {}"""
    return "gone"
'''
BROKEN: dict[str, Any] = {
    "name": "a_b",
    "title": "Two words",
    "description": "Does \u202ewhat it says.",
    "inputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": False, "idempotentHint": None},
}


@pytest.fixture
def saved(tmp_path: Path) -> str:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps({"tools": [BROKEN]}, indent=2), encoding="utf-8")
    return str(file)


def test_findings_of_a_saved_list_have_lines_and_fail_the_build(saved: str) -> None:
    done = sayso("lint", saved)
    assert done.code == 1
    assert f"{saved}:3: error SS103 [hint-not-a-boolean] a_b: idempotentHint" in done.out
    assert "SS304" in done.out
    assert done.out.splitlines()[-1] == (
        "2 errors, 1 warning in 1 tool, profile spec; --fix can fix 2 of them"
    )


def test_a_fix_shows_the_difference_and_a_diff_leaves_the_file_alone(saved: str) -> None:
    before = Path(saved).read_text(encoding="utf-8")
    shown = sayso("lint", saved, "--diff", "--ignore", "SS304")
    assert Path(saved).read_text(encoding="utf-8") == before
    both = sayso("lint", saved, "--fix", "--diff", "--ignore", "SS304")
    assert Path(saved).read_text(encoding="utf-8") == before
    assert (both.code, both.out, both.err) == (shown.code, shown.out, shown.err)
    assert '+        "destructiveHint": true,' in shown.err
    done = sayso("lint", saved, "--fix", "--ignore", "SS304")
    assert (done.code, done.err) == (0, shown.err)
    assert json.loads(Path(saved).read_text(encoding="utf-8"))["tools"][0]["annotations"] == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    }


def test_a_document_is_asked_for_as_of_every_command(saved: str) -> None:
    short, long = sayso("lint", saved, "--json"), sayso("lint", saved, "--format", "json")
    assert (short.code, short.json) == (long.code, long.json)
    assert sayso("lint", saved, "--json", "--format", "sarif").code == 2


def test_a_fix_keeps_the_files_mark_and_line_breaks(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    text = json.dumps({"tools": [{**BROKEN, "description": "x"}]}, indent=1)
    file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert sayso("lint", str(file), "--fix", "--select", "SS103").code == 0
    written = file.read_bytes()
    assert written.startswith(b'\xef\xbb\xbf{\r\n "tools": [\r\n')
    assert b"idempotentHint" not in written
    assert written.count(b"\n") == written.count(b"\r\n") > 10


def test_a_baseline_is_written_and_then_only_what_is_new_is_told(
    saved: str, tmp_path: Path
) -> None:
    known = str(tmp_path / "known.json")
    assert sayso("lint", saved, "--baseline", known, "--write-baseline").code == 0
    document = {"tools": [{**BROKEN, "name": "new_one"}, {**BROKEN, "annotations": None}]}
    write_json(Path(saved), document)
    done = sayso("lint", saved, "--baseline", known, "--format", "json", "--select", "SS1,SS304")
    (server,) = done.json["servers"]
    assert done.code == 1
    assert [one["tool"] for one in server["findings"]] == ["new_one"] * 3 + ["a_b"]
    assert [one["rule"] for one in server["gone"]] == ["SS102", "SS103"]
    assert server["known"] == 1


@pytest.mark.process
def test_a_python_server_is_told_with_the_lines_of_its_functions(tmp_path: Path) -> None:
    file = tmp_path / "shop.py"
    file.write_text(SERVER, encoding="utf-8")
    done = sayso("lint", str(file), "--fail-on", "warning", "--select", "SS110,SS201,SS9")
    assert done.code == 1
    assert f"{file}:10: warning SS110 [read-only-contradicted] delete_order: " in done.out
    assert "shop: allowed SS201 [title-missing] delete_order: our clients show the name" in done.out
    mended = sayso("lint", str(file), "--fix", "--no-allow", "--select", "SS101,SS102,SS201")
    assert "+@mcp.tool(" in mended.err
    assert (mended.code, "0 errors" in mended.out or "no findings" in mended.out) == (0, True)
    assert "title=" in file.read_text(encoding="utf-8")


@pytest.mark.process
def test_servers_of_one_configuration_are_told_at_their_own_lines(tmp_path: Path) -> None:
    source = SERVER.replace("{}", "") + "\n\nmcp.run()\n"
    (tmp_path / "shop.py").write_text(source, encoding="utf-8")
    launch = [sys.executable, str(tmp_path / "shop.py")]
    entry = {"command": launch[0], "args": launch[1:]}
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"a": entry, "the b": entry}}, indent=1))
    done = sayso("lint", str(file), "--select", "SS110", "--format", "json")
    lines = {one["name"]: one["findings"][0]["line"] for one in done.json["servers"]}
    assert lines == {"a": 3, "the-b": 9}


@pytest.mark.process
def test_what_a_fix_has_left_is_not_promised_to_the_next(tmp_path: Path) -> None:
    file = tmp_path / "shop.py"
    source = (
        "from mcp.server import MCPServer\n\nmcp = MCPServer('shop')\nMORE = {'name': 'find'}\n"
    )
    source += "if True:\n\t@mcp.tool()\n\tdef orders_list(): ...\n"
    source += "\t@mcp.tool(**MORE)\n\tdef find(): ...\n"
    file.write_text(source)
    assert "; --fix can fix 2 of them" in sayso("lint", str(file), "--select", "SS201").out
    done = sayso("lint", str(file), "--select", "SS201", "--fix")
    assert '\n+\t@mcp.tool(title="List orders")\n' in done.err
    assert "find: unchanged" in done.err
    assert done.out.endswith("1 note in 2 tools, profile spec\n")


@pytest.mark.process
def test_servers_of_one_configuration_know_each_others_tools(tmp_path: Path) -> None:
    for name, text in (("shop", "Or use hang_up."), ("phone", "")):
        source = SERVER.replace("{}", text).replace("delete_order", "hang_up" if not text else "x")
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    launch = (*python("")[:1], "-m", "sayso.connect.launch")
    servers = {name: (*launch, str(tmp_path / f"{name}.py")) for name in ("shop", "phone")}
    file = configuration(tmp_path / "mcp.json", **servers, dead=("/nowhere/at-all",))
    done = sayso("lint", file, "--format", "github", "--select", "SS306")
    assert done.code == 4
    assert done.out == (
        f"::warning file={file},line=1,title=SS306 names-other-servers-tools::"
        "x: the description names hang_up, a tool of server phone\n"
    )
    assert done.error["code"] == "command-not-found"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--profile", "apple"], "spec, strict, openai, anthropic"),
        (["--select", "no-hint"], "Did you mean SS101 (no-hints)?"),
        (["--write-baseline"], "--baseline FILE"),
        (["--baseline", "nowhere.json"], "nowhere.json"),
    ],
)
def test_words_that_cannot_be_understood_end_with_two(
    saved: str, words: list[str], said: str
) -> None:
    done = sayso("lint", saved, *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_rule_is_shown_and_all_are_listed() -> None:
    shown = sayso("rule", "no-hints")
    assert shown.code == 0
    assert shown.out.startswith("## SS101 no-hints\n")
    listed = sayso("rule")
    assert "SS503  destructive-without-confirmation  note" in listed.out
    assert len(sayso("rule", "--json").json["rules"]) == len(listed.out.splitlines()) - 1
    assert "Did you mean" in sayso("rule", "SS10").err


def test_a_list_with_a_tool_on_each_line_is_told_by_line(tmp_path: Path) -> None:
    file = tmp_path / "tools.jsonl"
    file.write_text(f"\n{json.dumps(BROKEN)}\n\n{json.dumps(BROKEN)}\n", encoding="utf-8")
    done = sayso("lint", str(file), "--select", "SS103,SS208")
    assert [line.split(" ")[0] for line in done.out.splitlines()[:-1]] == [
        f"{file}:2:",
        f"{file}:2:",
        f"{file}:4:",
    ]
