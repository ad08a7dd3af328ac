"""Readers' judgements of real tools are complete and in the format of docs/judging.md."""

import json
from pathlib import Path

JUDGEMENTS = Path(__file__).resolve().parents[2] / "training" / "judgements.jsonl"
READS = ("read", "compute")
WRITES = (
    *("additive", "field_update", "state", "replacement", "irreversible", "arbitrary", "session"),
)


def test_each_judgement_is_whole_and_of_its_form() -> None:
    lines = [json.loads(line) for line in JUDGEMENTS.read_text(encoding="utf-8").splitlines()]

    assert len({one["id"] for one in lines}) == len(lines) > 2000
    for one in lines:
        assert one["sure"] in (1, 2, 3), one
        assert one["why"].strip(), one
        assert one["open_world"] in (True, False, None), one
        assert one["kind"] in (READS if one["read_only"] else WRITES), one
        for hint in ("destructive", "idempotent"):
            assert (one[hint] is None) is one["read_only"], one
