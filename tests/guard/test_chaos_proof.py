"""Killed at every step of every kind of call: nothing runs twice, unasked or off the record."""

import time
from pathlib import Path
from typing import Final

import pytest
from tests.databases import Place
from tests.guard.chaos import Chaos, faults, told, unknowns
from tests.guard.lives import KINDS, plan, points

pytestmark = [pytest.mark.anyio, pytest.mark.proof]

SEED: Final = 20261121


async def test_wherever_the_guard_is_killed_nothing_runs_twice_unasked_or_off_the_record(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    chaos = Chaos(place.url, tmp_path)
    chaos.run(plan(SEED))
    found = await chaos.evidence()
    with capsys.disabled():
        seconds = time.monotonic() - began
        print(f"\n{place.kind}, seed {SEED}: {told(chaos, found, seconds)}")  # noqa: T201 - the figures are what it is run for
    assert faults(found) == []
    assert {run.kind for run in found.runs} == set(KINDS)
    assert all(chaos.kills[point] >= len(kinds) for point, kinds in points().items())
    assert unknowns(found) > chaos.kills.total() / 2
