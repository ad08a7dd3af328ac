"""`sayso quarantine`: what broke its contract is shown with what it tried, and lifted by name."""

import json
from pathlib import Path

import anyio
import pytest

from sayso.audit import AuditLog
from sayso.cli import main
from sayso.keys import load_keys
from sayso.store import QuarantineRow, open_store


async def fill(*places: str) -> None:
    store = open_store()
    for place in places:
        row = QuarantineRow(place, "find", "crm", 1_700_000_000.0, '["write /home/bo/notes.txt"]')
        log = AuditLog(store.records)
        assert await log.quarantine(store.quarantines, row, call="1", subject="bo")
        assert not await log.quarantine(store.quarantines, row, call="2", subject="bo")
    await store.close()


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store, and its keys."""
    path = tmp_path / "sayso.db"
    monkeypatch.setenv("SAYSO_STORE", f"sqlite:{path}")
    load_keys(path, is_made=True)
    return path


@pytest.mark.usefixtures("kept")
def test_what_is_in_quarantine_is_shown_and_lifted_once(capsys: pytest.CaptureFixture[str]) -> None:
    anyio.run(fill, "place1")
    assert main(["quarantine"]) == 1
    told = capsys.readouterr().out
    assert "crm find" in told
    assert "tried: write /home/bo/notes.txt" in told
    assert main(["quarantine", "lift", "crm", "find", "--yes"]) == 0
    assert "released: crm find" in capsys.readouterr().out
    assert main(["quarantine", "lift", "crm", "find", "--yes"]) == 2
    assert "not in quarantine" in capsys.readouterr().err
    assert main(["quarantine"]) == 0
    assert "No tool is in quarantine" in capsys.readouterr().out
    assert main(["audit", "verify"]) == 0


@pytest.mark.usefixtures("kept")
def test_of_two_servers_of_one_name_one_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    anyio.run(fill, "first", "second")
    assert main(["quarantine", "lift", "crm", "find", "--yes"]) == 2
    assert "--place" in capsys.readouterr().err
    assert main(["quarantine", "lift", "crm", "find", "--place", "se", "--json", "--yes"]) == 0
    assert json.loads(capsys.readouterr().out)["lifted"]["place"] == "second"
    assert main(["quarantine", "--json"]) == 1
    (left,) = json.loads(capsys.readouterr().out)["quarantined"]
    assert (left["place"], left["evidence"]) == ("first", ["write /home/bo/notes.txt"])
