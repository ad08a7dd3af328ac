"""The judgements of the linter's findings are complete and match the rules' pages."""

import json
from pathlib import Path

from sayso.lint import find_rule
from sayso.lint.handbook import evidence

FOLDER = Path(__file__).resolve().parents[2] / "training" / "findings"


def test_each_judgement_is_whole_and_counted_on_its_rules_page() -> None:
    files = sorted(FOLDER.glob("*.jsonl"))
    assert len(files) > 20
    for file in files:
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        assert all(set(line) == {"server", "tool", "about", "false", "why"} for line in lines)
        assert all(line["why"].strip() and len(line["why"]) < 120 for line in lines)
        assert len({(line["server"], line["tool"], line["about"]) for line in lines}) == len(lines)
        said = evidence()[find_rule(file.stem).code]
        assert said["judged"] == len(lines)
        assert said["false"] == sum(line["false"] for line in lines)


def test_no_rule_is_said_to_be_judged_without_its_file() -> None:
    for code, said in evidence().items():
        assert bool(said["judged"]) is (FOLDER / f"{code}.jsonl").exists(), code
