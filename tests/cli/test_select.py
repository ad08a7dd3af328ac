"""`sayso select`: one message, a conversation, or a file of messages."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import sayso, write_json
from tests.connect.serving import SERVERS

DESTROYS = {"readOnlyHint": False, "destructiveHint": True}
TOOLS: list[dict[str, Any]] = [
    {"name": "customer_list", "description": "List customers."},
    {"name": "customer_delete", "description": "Delete a customer.", "annotations": DESTROYS},
    {"name": "report_export", "description": "Export a report as PDF."},
]
RECORDS: list[dict[str, Any]] = [
    {
        "id": f"made/{one['name']}",
        "server": "crm",
        "category": "Business/Sales",
        "name": one["name"],
        "description": one["description"],
        "schema": {"type": "object", "properties": {}},
    }
    for one in TOOLS
]
TWIN = {**RECORDS[0], "id": "made/twin"}
QUERIES: list[dict[str, Any]] = [
    {"id": "q1", "query": "delete a customer", "relevant": [["made/customer_delete", "other"]]},
    {"id": 2, "query": "export the report", "relevant": [["made/report_export"], ["made/none"]]},
    {"id": "q3", "query": "?!"},
]


@pytest.fixture
def saved(tmp_path: Path) -> str:
    return write_json(tmp_path / "crm.json", {"tools": TOOLS})


def write_lines(path: Path, records: list[Any]) -> str:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    tools = write_lines(tmp_path / "tools.jsonl", [*RECORDS, TWIN])
    return tools, write_lines(tmp_path / "queries.jsonl", QUERIES)


def test_a_table_says_which_tools_why_and_how_many_there_were(saved: str) -> None:
    done = sayso("select", saved, "-m", "remove the customer", "--why", "--exclude", "write")

    assert (done.code, done.err) == (0, "")
    head, _, first, *_ = done.out.splitlines()
    assert head == "3 of 3 tools"
    assert first.split()[:2] == ["crm__customer_delete", "destructive"]
    assert "“customer” is in its name" in first


def test_the_document_has_levels_scores_and_what_was_left_out(saved: str) -> None:
    words = ("--always", "report_export", "--unless-asked", "destructive", "--tokens", "500")
    done = sayso("select", saved, "-m", "hello", "-m", "list customers", *words, "--why", "--json")

    assert (done.code, done.err) == (0, "")
    assert done.json["total"] == 3
    assert done.json["left_out"] == {"not asked for": 1}
    pinned, found = done.json["tools"]
    assert (pinned["name"], pinned["pinned"], pinned["reasons"]) == (
        "crm__report_export",
        True,
        ["pinned"],
    )
    assert (found["name"], found["level"]) == ("crm__customer_list", "read")
    assert 0 < found["score"] <= 1
    assert "reasons" not in sayso("select", saved, "-m", "x", "--json").json["tools"][0]


def test_few_tools_are_all_shown_and_that_is_said(saved: str) -> None:
    done = sayso("select", saved, "-m", "remove the customer", "-k", "1")

    head, note, columns, *rows = done.out.splitlines()
    assert head == "3 of 3 tools"
    assert note == "More than 1: with fewer than 20 tools, -k leaves out no tool."
    assert (columns.split(), len(rows)) == (["tool", "level", "score"], 3)
    assert not any(line.endswith(" ") for line in (columns, *rows))


def test_nothing_may_be_left(saved: str) -> None:
    levels = ("--exclude", "read", "--exclude", "write", "--exclude", "destructive")
    done = sayso("select", saved, "-m", "x", *levels)

    assert (done.code, done.out) == (0, "0 of 3 tools; left out: 3 excluded\n")


def test_several_targets_are_one_catalog(saved: str, tmp_path: Path) -> None:
    other = write_json(tmp_path / "mail.json", [{"name": "mail_send"}, {"name": ""}])
    done = sayso("select", saved, other, "-m", "send a mail", "--json")

    assert done.json["total"] == 4
    assert "mail: mail: tool without a name" in done.err
    assert done.json["tools"][0]["name"] == "mail__mail_send"


@pytest.mark.process
def test_a_running_server_is_asked_for_its_tools() -> None:
    words = ("-m", "how heavy is the needle", "--json", "-k", "1")
    done = sayso("select", *words, "--", sys.executable, str(SERVERS / "many.py"), "30")

    assert done.code == 0, done.err
    assert done.json["total"] == 30
    assert done.json["tools"][0]["name"].endswith("__find_needle")


def test_a_file_of_messages_is_answered_line_by_line(files: tuple[str, str]) -> None:
    tools, queries = files
    done = sayso("select", tools, "--queries", queries, "--json", "-k", "2")

    assert (done.code, done.err) == (0, "")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [one["id"] for one in lines] == ["q1", 2, "q3"]
    assert lines[0]["tools"][0] == "made/customer_delete"
    assert len(lines[0]["tools"]) == 2
    assert lines[1]["tools"] == ["made/report_export"]
    assert lines[2]["tools"] == []


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ((), "--message or --queries is required"),
        (("-m", " "), "--message or --queries is required"),
        (("-m", "x", "-k", "0"), "k must be at least 1, got 0"),
        (("-m", "x", "--tokens", "0"), "tokens must be at least 1, got 0"),
        (("-m", "x", "--exclude", "mad"), "unknown level 'mad'"),
        (("-m", "x", "--always", "customer_lst"), "no tool is called 'customer_lst'"),
        (("-m", "x", "--queries", "y"), "--queries and --message exclude each other"),
    ],
)
def test_what_cannot_be_is_told(saved: str, words: tuple[str, ...], what: str) -> None:
    done = sayso("select", saved, "--json", *words)

    assert (done.code, done.out) == (2, "")
    assert done.error["what"] == what


def test_without_anything_to_select_from_it_says_so() -> None:
    done = sayso("select", "-m", "x", "--json")

    assert done.code == 2
    assert done.error["what"] == "a target is required"


@pytest.mark.process
def test_a_server_that_cannot_be_asked_is_told(saved: str) -> None:
    done = sayso("select", saved, "-m", "x", "--json", "--", "no-such-command-here")

    assert (done.code, done.out) == (4, "")
    assert done.error["code"] == "command-not-found"
    assert sayso("select", saved, "-m", "x", "--", "no-such-command-here").code == 4


@pytest.mark.parametrize("line", [{"query": "x"}, {"id": "x"}, 7])
def test_a_line_that_is_no_query_is_told_with_its_place(
    saved: str, tmp_path: Path, line: object
) -> None:
    done = sayso("select", saved, "--json", "--queries", write_lines(tmp_path / "q.jsonl", [line]))

    assert done.code == 2
    assert done.error["what"] == "invalid query"
    assert done.error["where"].endswith("q.jsonl:1:1")
