"""Tools of real servers, where a folder with their saved lists is named by `SAYSO_TOOLS`."""

import json
import os
import random
import statistics
import time
from pathlib import Path
from typing import Any

import pytest

from sayso.catalog import make_tool
from sayso.schema import Checker
from sayso.verify.inputs.captured_values import CapturedValues
from sayso.verify.inputs.hints import VerifyHints
from sayso.verify.inputs.plan import Plan
from sayso.verify.inputs.world import World

FOLDER = os.environ.get("SAYSO_TOOLS")
FIELDS = ("name", "title", "description", "inputSchema", "annotations")
SAMPLE = 300


def sample() -> list[dict[str, Any]]:
    records = [
        json.loads(line)
        for path in sorted(Path(str(FOLDER)).glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return random.Random(5).sample(records, min(SAMPLE, len(records)))  # noqa: S311 - a sample


@pytest.mark.skipif(FOLDER is None, reason="SAYSO_TOOLS names no folder of saved tools")
def test_a_valid_first_case_is_made_for_every_tool_of_real_servers() -> None:
    without: list[str] = []
    seconds: list[float] = []
    for record in sample():
        one = make_tool("real", {key: record[key] for key in FIELDS if record.get(key) is not None})
        start = time.perf_counter()
        plan = Plan(one, World(Path("w")), CapturedValues(), VerifyHints(), seed=1, budget=25)
        first = next(plan, None)
        seconds.append(time.perf_counter() - start)
        if first is None or not Checker(record["inputSchema"]).is_valid(dict(first.arguments)):
            without.append(record["id"])

    assert without == []
    assert statistics.median(seconds) < 0.05


@pytest.mark.proof
@pytest.mark.skipif(FOLDER is None, reason="SAYSO_TOOLS names no folder of saved tools")
def test_every_case_for_tools_of_real_servers_fits_its_schema() -> None:
    for record in sample():
        one = make_tool("real", {key: record[key] for key in FIELDS if record.get(key) is not None})
        plan = Plan(one, World(Path("w")), CapturedValues(), VerifyHints(), seed=1, budget=25)
        checker = Checker(record["inputSchema"])
        assert all(checker.is_valid(dict(case.arguments)) for case in plan), record["id"]
