"""`sayso audit` and `sayso db`: what a person and a program get to see."""

import csv
import io
import json
import sqlite3
from pathlib import Path

import anyio
import pytest
from tests.audit.conftest import facts
from tests.store.writing import write

from sayso.audit import AuditLog, Outcome, open_audit
from sayso.cli import main
from sayso.cli.format_record import fields_of
from sayso.keys import load_keys
from sayso.store import open_store
from sayso.store.migrations import VERSION


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log with two calls, one of them without an end, and the keys beside it."""
    path = tmp_path / "sayso.db"
    monkeypatch.delenv("SAYSO_KEYS", raising=False)
    monkeypatch.setenv("SAYSO_STORE", f"sqlite:{path}")

    async def write() -> None:
        store = open_store()
        async with open_audit(store, load_keys(path, is_made=True)) as log:
            await _calls(log)
        await store.close()

    anyio.run(write)
    return path


async def _calls(log: AuditLog) -> None:
    for number in range(2):
        told = facts({"n": number, "note": "=1+1"}, call=f"call{number}")
        await log.attempt(told, None)
        if number:
            await log.outcome(told, Outcome.OK, started=0.0)


def test_a_sound_log_is_said_to_be_sound(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "verify"]) == 0
    assert capsys.readouterr().out.startswith("sound: 5 records in 1 chains")
    assert main(["audit", "verify", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["is_sound"] is True
    heads = kept.with_name("heads")
    heads.write_text("\n".join(json.dumps(one) for one in document["heads"]))
    assert main(["audit", "verify", "--heads", str(heads)]) == 0
    with sqlite3.connect(kept) as db:
        db.execute("DELETE FROM records WHERE seq > 3")
    db.close()
    assert main(["audit", "verify"]) == 0
    capsys.readouterr()
    assert main(["audit", "verify", "--heads", str(heads)]) == 1
    assert "record 4 of chain" in capsys.readouterr().out


def test_the_first_bad_record_is_named(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with sqlite3.connect(kept) as db:
        db.execute("UPDATE records SET at = at + 1 WHERE seq IN (2, 4)")
    db.close()
    assert main(["audit", "verify"]) == 1
    told = capsys.readouterr()
    assert told.out.startswith("record 2 (record 2 of chain")
    assert "1 more" in told.err
    assert main(["db", "move", f"sqlite:{kept}", f"sqlite:{kept.with_name('b.db')}"]) == 1
    assert "not sound: record 2" in capsys.readouterr().out


def test_lines_and_calls_are_shown(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "list"]) == 0
    text = capsys.readouterr().out
    assert "customer_delete" in text
    assert "outcome_unknown" in text
    assert main(["audit", "list", "--json", "--limit", "1"]) == 0
    assert len(json.loads(capsys.readouterr().out)["records"]) == 1
    assert main(["audit", "show", "call1"]) == 0
    assert "arguments_digest" in capsys.readouterr().out
    assert main(["audit", "show", "call", "--json"]) == 0
    assert {one["event"] for one in json.loads(capsys.readouterr().out)["records"]} == {
        "attempt",
        "outcome",
    }
    assert main(["audit", "show", "nothing"]) == 2
    assert kept.exists()


def test_a_call_is_shown_in_words_with_what_matters_first_and_nothing_twice(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "show", "call1"]) == 0
    lines = [" ".join(one.split()) for one in capsys.readouterr().out.splitlines()]
    told = "\n".join(lines)
    assert lines[0].startswith("attempt at 20")
    assert "call call1" in told
    assert "read_only no (declared), destructive yes (declared)" in told
    second = lines[next(i for i, one in enumerate(lines) if one.startswith("outcome at ")) :]
    assert second[1] == "outcome ok"
    assert not any(one.startswith(("hints", "arguments", "call ")) for one in second)
    assert any(one.startswith("mac ") for one in second)
    assert kept.exists()


@pytest.mark.parametrize("hints", ["all", {"read_only": True}, [1], {"read_only": {}}, None])
def test_hints_that_somebody_else_wrote_are_shown_as_they_are(hints: object) -> None:
    ((name, told),) = fields_of({"hints": hints}, {"hints": 0})
    assert name == "hints"
    assert told == (hints if isinstance(hints, str) else json.dumps(hints))


def test_a_call_that_came_to_nothing_is_listed_with_the_name_that_was_given(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def write() -> None:
        store = open_store()
        async with open_audit(store, load_keys(kept)) as log:
            amy = facts().principal
            await log.refused("call9", amy, name="customer_dlete", outcome=Outcome.UNKNOWN_TOOL)
        await store.close()

    anyio.run(write)
    assert main(["audit", "list"]) == 0
    line = next(one for one in capsys.readouterr().out.splitlines() if "refused" in one)
    assert line.split()[-2:] == ["customer_dlete", "unknown_tool"]


def test_the_log_is_exported_in_three_forms(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "export"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["seq"] for one in lines] == [1, 2, 3, 4, 5]
    assert "salt" not in lines[1]
    assert main(["audit", "export", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["event"] for row in rows][:2] == ["opened", "attempt"]
    assert json.loads(rows[1]["arguments"])["note"] == "=1+1"
    out = kept.with_name("events")
    assert main(["audit", "export", "--format", "ocsf", "--output", str(out)]) == 0
    events = [json.loads(line) for line in out.read_text().splitlines()]
    assert {one["class_uid"] for one in events} == {6003}
    assert events[1]["type_uid"] == 600304
    assert [one["status_id"] for one in events] == [0, 0, 0, 1, 0]
    assert main(["audit", "export", "--output", str(kept / "no")]) == 2


def test_a_person_is_erased_and_old_records_are_dropped(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    subject = facts().principal.subject
    assert main(["audit", "erase", subject, "--json", "--yes"]) == 0
    assert json.loads(capsys.readouterr().out) == {"schema": 1, "erased": 4, "still_open": 0}
    assert main(["audit", "erase", subject, "--yes"]) == 0
    assert main(["audit", "prune", "--days", "1", "--yes"]) == 0
    assert main(["audit", "prune", "--days", "1", "--json", "--yes"]) == 0
    assert main(["audit", "prune", "--days", "0"]) == 2
    assert main(["audit", "verify"]) == 0
    assert kept.exists()


def test_nothing_is_erased_or_dropped_without_an_answer(
    kept: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = facts().principal.subject

    async def old() -> None:
        store = open_store(f"sqlite:{kept}")
        await write(store, "UPDATE records SET at = 1")
        await store.close()

    anyio.run(old)
    for words, shown in (
        (["erase", subject], f"Erase 4 records ({subject}: 4)? This cannot be undone."),
        (
            ["prune", "--days", "1"],
            f"Delete 5 records ({subject}: 4, no subject: 1), older than 1 days?",
        ),
    ):
        assert main(["audit", *words]) == 2
        told = capsys.readouterr().err
        assert shown in " ".join(told.split())
        assert "--yes" in told
        asked: list[str] = []

        def refuses(question: str, asked: list[str] = asked) -> bool:
            asked.append(question)
            return False

        with monkeypatch.context() as patched:
            patched.setattr("sayso.cli.terminal.agrees", refuses)
            assert main(["audit", *words]) != 0
        assert asked[0].startswith(shown)

    async def count() -> int:
        store = open_store(f"sqlite:{kept}")
        try:
            return sum(number for _, number in await store.records.tally(subject=subject))
        finally:
            await store.close()

    assert anyio.run(count) == 4


def test_a_store_is_migrated_and_moved(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["db", "migrate"]) == 0
    assert f"has version {VERSION} and 5 records" in capsys.readouterr().out
    assert main(["db", "migrate", "--json"]) == 0
    capsys.readouterr()
    target = f"sqlite:{kept.with_name('b.db')}"
    assert main(["db", "move", f"sqlite:{kept}", target]) == 0
    assert "the copied log verifies" in capsys.readouterr().out
    assert main(["db", "move", f"sqlite:{kept}", f"{target}2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["is_sound"] is True
    assert main(["db", "move", f"sqlite:{kept}", target]) == 2


def test_what_is_not_there_is_told_of_and_not_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = f"sqlite:{tmp_path / 'none.db'}"
    assert main(["audit", "list", "--store", store]) == 2
    assert "store not found" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert main(["audit", "verify", "--store", store, "--heads", str(tmp_path / "no")]) == 2
