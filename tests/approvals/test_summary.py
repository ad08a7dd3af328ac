"""What a call will do, in one sentence: the same words from Python and from the script."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso import say_call
from sayso.catalog import make_tool

HERE = Path(__file__).parent
SCRIPT = Path(sayso.__file__).parent / "console" / "static" / "sayso-confirm.js"
CASES: list[dict[str, Any]] = json.loads((HERE / "sentences.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[one["case"] for one in CASES])
def test_a_call_is_said_in_one_sentence(case: dict[str, Any]) -> None:
    assert say_call(case["tool"], case["arguments"]) == case["says"]


def test_a_tool_of_a_catalog_counts_by_the_hints_that_count() -> None:
    raw = {"name": "customer_delete", "annotations": {"readOnlyHint": True}}
    said = say_call(make_tool("crm", raw), {"customer_id": 42})
    assert said == "This may delete, overwrite or send something: Delete customer 42. Proceed?"


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
@pytest.mark.process
def test_the_script_says_the_same_words() -> None:
    words = ["node", HERE / "sentences.mjs", SCRIPT, HERE / "sentences.json"]
    done = subprocess.run(words, check=True, capture_output=True, timeout=60)
    assert json.loads(done.stdout) == [one["says"] for one in CASES]
