"""`sayso policy` and `sayso explain`, as a person runs them."""

import json
import sys
from pathlib import Path

import pytest

from sayso.cli import main
from sayso.policy import json_schema

POLICY = """
mode = "guarded"
[operator.tools.customer_list]
read_only = true
[[rules]]
name = "keep"
effect = "deny"
reason = "customers are kept"
when = { tool = "customer_delete", arguments = { id = { range = { min = 5 } } } }
unless = { subject = "root" }
[[rules]]
name = "hidden"
effect = "hide"
when = { role = "guest" }
"""
CASES = """
[[cases]]
name = "kept"
expect = "deny"
tool = { server = "tools", name = "customer_delete" }
arguments = { id = 7 }
[[cases]]
name = "root may"
expect = "allow"
tool = { server = "tools", name = "customer_delete" }
principal = { subject = "root" }
"""
TOOLS = {
    "tools": [
        {"name": "customer_delete", "inputSchema": {}, "annotations": {"destructiveHint": True}},
        {"name": "customer_list", "inputSchema": {}},
    ]
}


SERVER = """
from pathlib import Path
from mcp.server import MCPServer

server = MCPServer("small")


@server.tool()
def drop() -> str:
    Path("called").touch()
    return "done"


server.run()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a policy, its cases and a saved list of tools, to be in."""
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "policy.test.toml").write_text(CASES)
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("place")
def test_check_says_that_a_policy_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "check"]) == 0
    assert capsys.readouterr().out == "policy.toml: mode guarded, 2 rules, no mistakes\n"
    assert main(["policy", "check", "policy.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rules"][0] == {
        "name": "keep",
        "line": 5,
        "effect": "deny",
    }


def test_check_tells_every_mistake_with_its_line(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "bad.toml").write_text('mod = "x"\n[trust]\ncrm = "trustd"')
    assert main(["policy", "check", "bad.toml"]) == 2
    said = capsys.readouterr().err
    assert "bad.toml:1: unknown key “mod”" in said
    assert "bad.toml:3: “trustd” is not one of" in said
    assert main(["policy", "check", "bad.toml", "--json"]) == 2
    errors = json.loads(capsys.readouterr().err)["error"]["errors"]
    assert [one["where"] for one in errors] == ["bad.toml:1", "bad.toml:3"]


@pytest.mark.usefixtures("place")
def test_a_file_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "check", "nope.toml"]) == 2
    assert main(["policy", "check", "."]) == 2
    assert "this is a folder" in capsys.readouterr().err


def test_test_prints_what_comes_out_otherwise(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "test"]) == 1
    said = capsys.readouterr().out
    assert "policy.test.toml:7: root may" in said
    assert "expected allow, got confirm" in said
    assert said.endswith("1 of 2 cases passed\n")
    assert main(["policy", "test", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["failed"] == 1
    (place / "more.toml").write_text(CASES.split('[[cases]]\nname = "root', maxsplit=1)[0])
    assert main(["policy", "test", "policy.toml", "--cases", "more.toml"]) == 0


def test_schema_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "schema"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema()


@pytest.mark.usefixtures("place")
def test_explain_says_which_rule_with_its_line_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["explain", "tools.json", "customer_delete", "--policy", "policy.toml"]
    assert main([*words, "--args", '{"id": 7}', "--as", "amy"]) == 0
    said = capsys.readouterr().out
    assert "tools customer_delete: deny" in said
    assert "because customers are kept (keep, policy.toml:5)" in said
    assert main([*words, "--args", '{"id": 3}', "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["decision"]["effect"] == "confirm"
    assert data["rules"][0]["why_not"] == ["arguments.id is 3, not at least 5"]


@pytest.mark.usefixtures("place")
def test_explain_knows_the_caller_and_the_operators_word(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["explain", "tools.json", "tools__customer_list", "--policy", "policy.toml"]
    assert main([*words, "--role", "guest", "--scope", "a", "--scope", "b"]) == 0
    said = capsys.readouterr().out
    assert "the tool is hidden from this caller" in said
    assert "read_only yes (operator)" in said


@pytest.mark.usefixtures("place")
def test_explain_without_a_policy_is_the_mode_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "tools.json", "customer_delete"]) == 0
    assert "(mode:guarded)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "a tool is required"),
        (["tools.json"], "a target and a tool are required"),
        (["tools.json", "nope"], "no tool “nope”"),
        (["tools.json", "customer_list", "--args", "{"], "--args is not JSON"),
        (["tools.json", "customer_list", "--args", "[]"], "--args must be a JSON object"),
        (["two.json", "x"], "Add the server"),
    ],
)
def test_what_cannot_be_explained_is_told(
    words: list[str], expected: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    servers = {"a": {"command": "x"}, "b": {"command": "y"}}
    (place / "two.json").write_text(json.dumps({"mcpServers": servers}))
    assert main(["explain", *words]) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.process
def test_explain_finds_the_server_in_the_name_of_the_tool(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "server.py").write_text(SERVER)
    small = {"command": sys.executable, "args": ["server.py"]}
    servers = {"other": {"command": "not-there"}, "small": small}
    (place / "two.json").write_text(json.dumps({"mcpServers": servers}))
    assert main(["explain", "two.json", "small__drop"]) == 0
    assert "drop: confirm" in capsys.readouterr().out


@pytest.mark.process
def test_explain_asks_a_server_that_is_a_command_for_its_tools_and_calls_none(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "server.py").write_text(SERVER)
    assert main(["explain", "drop", "--", sys.executable, "server.py"]) == 0
    assert "drop: confirm" in capsys.readouterr().out
    assert not (place / "called").exists()


LISTED = '{"tools": [{"name": "customer_delete", "inputSchema": {"type": "object"}}]}'
MATCHES = '[[rules]]\nname = "r"\neffect = "deny"\nwhen = { tool = "%s" }\n'


@pytest.mark.parametrize(("tool", "code"), [("customer_delete", 0), ("customer_remove", 1)])
def test_a_rule_that_matches_no_tool_of_the_target_fails_the_check(
    place: Path, capsys: pytest.CaptureFixture[str], tool: str, code: int
) -> None:
    (place / "policy.toml").write_text(MATCHES % tool)
    (place / "tools.json").write_text(LISTED)
    for words in (["tools.json"], ["policy.toml", "tools.json"]):
        assert main(["policy", "check", *words]) == code
    assert ("matches no tool" in capsys.readouterr().out) is bool(code)
    assert main(["policy", "check", "tools.json", "--policy", "policy.toml", "--json"]) == code
    assert len(json.loads(capsys.readouterr().out)["unmatched"]) == code


def test_a_dry_run_parameter_that_a_tool_lacks_fails_the_check(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "policy.toml").write_text('[dry_run.tools]\ncustomer_delete = "dryRun"\n')
    (place / "tools.json").write_text(LISTED)
    assert main(["policy", "check", "tools.json"]) == 1
    assert "has no boolean parameter of this name" in capsys.readouterr().out
    switch = '{"type": "object", "properties": {"dryRun": {"type": "boolean"}}}'
    (place / "tools.json").write_text(LISTED.replace('{"type": "object"}', switch))
    assert main(["policy", "check", "tools.json"]) == 0


@pytest.mark.process
def test_a_server_that_does_not_answer_is_unknown(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "policy.toml").write_text(MATCHES % "anything")
    (place / "mcp.json").write_text('{"mcpServers": {"s": {"command": "no-such-command"}}}')
    assert main(["policy", "check", "mcp.json"]) == 0
    assert "its tools are unknown" in capsys.readouterr().out
