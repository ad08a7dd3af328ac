"""`sayso infer --reader`: asked once for each tool, kept, and told of where it fails."""

import json
from pathlib import Path

from tests.cli.running import Done, sayso, write_json

from sayso.infer.opinion import rules

TOOLS = [
    {"name": "note_get", "description": "Get a note by its id.", "inputSchema": {"type": "object"}},
    {"name": "frobnicate", "description": "Frobnicates.", "inputSchema": {"type": "object"}},
]
READER = """
from pathlib import Path


async def read(question):
    with Path("asked.txt").open("a") as file:
        file.write("x")
    if "frobnicate" in question:
        raise RuntimeError("a secret")
    return '{"read_only": false, "destructive": true, "why": "it says so"}'
"""


def infer(folder: Path, *words: str) -> Done:
    (folder / "reads.py").write_text(READER, encoding="utf-8")
    path = write_json(folder / "tools.json", {"tools": TOOLS})
    return sayso("infer", str(path), "--json", *words, cwd=folder)


def test_a_reader_makes_stricter_is_asked_once_and_told_of_where_it_fails(tmp_path: Path) -> None:
    alone = infer(tmp_path).json["tools"]
    first = infer(tmp_path, "--reader", "reads:read", "--opinions", "kept.jsonl")
    again = infer(tmp_path, "--reader", "reads:read", "--opinions", "kept.jsonl")
    kept = infer(tmp_path, "--opinions", "kept.jsonl")

    assert alone[0]["hints"]["read_only"]["value"] is True
    for done in (first, again, kept):
        hints = done.json["tools"][0]["hints"]
        assert hints["read_only"]["value"] is False
        assert hints["destructive"] == {
            "value": True,
            "confidence": 0.9,
            "reasons": ["the reader: it says so"],
        }
        assert done.json["tools"][1] == alone[1]
    assert "frobnicate: no second opinion, the reader failed: RuntimeError" in first.err
    assert "secret" not in first.err
    assert (tmp_path / "asked.txt").read_text(encoding="utf-8") == "xxx"
    lines = (tmp_path / "kept.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["note_get"]
    assert rules() not in lines[0]


def test_what_is_no_reader_and_what_is_no_opinion_is_told(tmp_path: Path) -> None:
    (tmp_path / "kept.jsonl").write_text('{"fingerprint": "a"}\n', encoding="utf-8")

    assert "'nowhere:read' not found" in infer(tmp_path, "--reader", "nowhere:read").err
    assert "'reads' not found" in infer(tmp_path, "--reader", "reads").err
    odd = infer(tmp_path, "--opinions", "kept.jsonl")
    assert odd.code == 2
    assert "kept.jsonl:1" in odd.err
