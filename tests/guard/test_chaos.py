"""A few kills, which every run of the tests can afford, and whether a wrong guard would be seen."""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from tests.databases import Place
from tests.guard.chaos import Chaos, Evidence, faults, unknowns

from sayso.store import RecordRow

pytestmark = pytest.mark.anyio

KILLS: Final = (
    ("after claims.take", "keyed"),
    ("enter execute", "delete"),
    ("ran", "keyed_delete"),
    ("amid the commit of attempt", "write"),
    ("sent", "write"),
    ("before the commit of closing", ""),
    ("waiting", "delete"),
    ("after questions.use", "clear"),
    ("before records.append", "delete"),
    ("amid the commit of outcome", "again"),
)


async def test_a_guard_that_is_killed_again_and_again_does_nothing_twice_or_unseen(
    place: Place, tmp_path: Path
) -> None:
    chaos = Chaos(place.url, tmp_path)
    chaos.run(KILLS)
    found = await chaos.evidence()
    assert faults(found) == []
    assert chaos.kills.total() == len(KILLS)
    assert unknowns(found) >= 3
    assert {run.kind for run in found.runs if run.recorded} >= {"delete", "clear", "keyed_read"}


@pytest.mark.parametrize(
    ("mutant", "kill", "seen"),
    [
        ("late", ("sent", "write"), {"unrecorded"}),
        ("generous", ("ran", "delete"), {"unapproved", "shared"}),
        ("forgetful", ("ran", "keyed"), {"repeated"}),
        ("eager", ("ran", "write"), {"repeated"}),
        ("careless", ("sent", "write"), {"ended"}),
    ],
)
async def test_a_guard_that_is_wrong_is_seen(
    mutant: str, kill: tuple[str, str], seen: set[str], tmp_path: Path
) -> None:
    chaos = Chaos(f"sqlite:{tmp_path / 'sayso.db'}", tmp_path, mutant)
    chaos.run([kill])
    assert _names(faults(await chaos.evidence())) >= seen


async def test_what_was_done_to_the_log_of_a_killed_guard_is_seen(tmp_path: Path) -> None:
    chaos = Chaos(f"sqlite:{tmp_path / 'sayso.db'}", tmp_path)
    chaos.run([("ran", "delete")])
    found = await chaos.evidence()
    assert faults(found) == []
    for name, (change, seen) in CHANGES.items():
        assert _names(faults(change(found))) >= {seen}, name
    last = found.rows[-1].writer
    with sqlite3.connect(tmp_path / "sayso.db") as db:
        db.execute("DELETE FROM records WHERE writer = ? AND idx > 1", (last,))
    db.close()
    assert "kept elsewhere" in " ".join(faults(await chaos.evidence()))


def _names(told: list[str]) -> set[str]:
    return {one.partition(":")[0] for one in told}


def _without_an_end(found: Evidence) -> Evidence:
    ends = [row for row in found.rows if row.event == "outcome"]
    return replace(found, rows=[row for row in found.rows if row is not ends[-1]])


def _with_two_ends(found: Evidence) -> Evidence:
    ends = [row for row in found.rows if row.event == "outcome"]
    return replace(found, rows=[*found.rows, ends[-1]])


def _said_not_to_have_run(found: Evidence) -> Evidence:
    def said(row: RecordRow) -> RecordRow:
        body = json.loads(row.body)
        return replace(row, body=json.dumps(body | {"outcome": "denied"}))

    return replace(found, rows=[said(one) if one.event == "outcome" else one for one in found.rows])


def _run_again(kind: str) -> Callable[[Evidence], Evidence]:
    def again(found: Evidence) -> Evidence:
        run = next(one for one in found.runs if one.kind == kind)
        return replace(found, runs=[*found.runs, replace(run, recorded=2)])

    return again


def _used_by_another(found: Evidence) -> Evidence:
    approvals = {name: replace(one, used_by="x") for name, one in found.approvals.items()}
    return replace(found, approvals=approvals)


def _without_grants(found: Evidence) -> Evidence:
    return replace(found, grants={})


def _not_recorded(found: Evidence) -> Evidence:
    return replace(found, runs=[replace(one, recorded=0) for one in found.runs])


CHANGES: Final[dict[str, tuple[Callable[[Evidence], Evidence], str]]] = {
    "an end is gone": (_without_an_end, "ended"),
    "an end is there twice": (_with_two_ends, "ended"),
    "what ran was denied": (_said_not_to_have_run, "ended"),
    "a write ran twice": (_run_again("write"), "repeated"),
    "a key ran twice": (_run_again("keyed"), "repeated"),
    "an approval was another's": (_used_by_another, "unapproved"),
    "there was no grant": (_without_grants, "unapproved"),
    "no attempt was on disk": (_not_recorded, "unrecorded"),
}
