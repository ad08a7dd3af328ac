"""`sayso` as a process: commands there print what they print in the process of the tests."""

import json
from pathlib import Path

import pytest
from tests.cli.running import python, sayso, sayso_process, started, write_json

pytestmark = [pytest.mark.process, pytest.mark.smoke]

TOOL = {
    "name": "order_delete",
    "description": "Delete an order.",
    "inputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": False, "destructiveHint": True},
}


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        [],
        ["lint", "--help"],
        ["inspekt"],
        ["inspect", "tools.json"],
        ["inspect", "tools.json", "--json"],
        ["inspect", "gone.json", "--json"],
        ["infer", "tools.json"],
        ["lint", "tools.json"],
        ["rule", "no-hints"],
        ["select", "tools.json", "-m", "delete an order"],
    ],
    ids=" ".join,
)
def test_a_process_prints_and_ends_as_a_call_does(words: list[str], tmp_path: Path) -> None:
    write_json(tmp_path / "tools.json", {"tools": [TOOL]})
    assert sayso_process(*words, cwd=tmp_path) == sayso(*words, cwd=tmp_path)


def test_a_gateway_serves_until_it_is_ended(tmp_path: Path) -> None:
    words = ("gateway", "--port", "0", "--json", "--store", f"sqlite:{tmp_path / 'a.db'}")
    with started(*words, "--", *python("plain")) as run:
        assert json.loads(run.first)["mcp"].startswith("http://127.0.0.1:")
        assert run.end().code == 0
