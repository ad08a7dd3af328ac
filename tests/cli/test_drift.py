"""`sayso drift`: what waits is shown with what it changes, and is accepted by name."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.gateway.changing import DESTROYS, READS, entry

from sayso.catalog import make_tool
from sayso.cli import main
from sayso.gateway.drift import DriftDetector
from sayso.keys import load_keys
from sayso.policy import Policy
from sayso.store import open_store


async def fill(*places: str) -> None:
    store = open_store()
    for place in places:
        for annotations in (DESTROYS, READS):
            raws = [entry(annotations, name, description=f"{annotations}") for name in ("a", "b")]
            tools = [make_tool("crm", raw) for raw in raws]
            await DriftDetector(store.definitions, place, "crm", Policy).judge(tools)
    await store.close()


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store, and its keys."""
    path = tmp_path / "sayso.db"
    monkeypatch.setenv("SAYSO_STORE", f"sqlite:{path}")
    load_keys(path, is_made=True)
    return path


def shown(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return json.loads(capsys.readouterr().out)


def test_what_waits_is_shown_and_accepted_once(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    anyio.run(fill, "place1")
    assert main(["drift"]) == 1
    told = capsys.readouterr().out
    assert "crm a  destructive → read" in told
    assert "+ readOnlyHint: counted as false, would count as true (declared)" in told
    assert "~ the description was “" in told
    assert main(["drift", "accept", "crm", "a", "--yes"]) == 0
    assert "accepted: crm a (destructive → read)" in capsys.readouterr().out
    assert main(["drift", "accept", "crm", "a", "--yes"]) == 2
    assert "no change of “crm a” waits" in capsys.readouterr().err
    assert main(["drift", "--json"]) == 1
    (held,) = shown(capsys)["held"]
    assert (held["server"], held["tool"]) == ("crm", "b")
    assert held["level"] == {"was": "destructive", "would_be": "read"}
    assert held["changes"][0]["is_looser"] is True
    assert held["is"]["annotations"] == READS
    assert main(["audit", "list", "--json"]) == 0
    events = [one["event"] for one in shown(capsys)["records"]]
    assert "accepted" in events
    assert main(["audit", "verify"]) == 0
    assert kept.exists()


def test_all_of_a_server_are_accepted_together(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    anyio.run(fill, "place1")
    assert main(["drift", "accept", "--all", "crm", "--json", "--yes"]) == 0
    assert [one["tool"] for one in shown(capsys)["accepted"]] == ["a", "b"]
    assert main(["drift"]) == 0
    assert "No change waits for a person in " in capsys.readouterr().out
    assert main(["drift", "--json"]) == 0
    assert shown(capsys)["held"] == []
    assert kept.exists()


def test_of_two_servers_of_one_name_it_must_be_said_which(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    anyio.run(fill, "place1", "spot2")
    assert main(["drift", "accept", "crm", "a", "--yes"]) == 2
    assert "two servers have the name “crm”" in capsys.readouterr().err
    assert main(["drift", "accept", "crm", "a", "--place", "sp", "--yes"]) == 0
    capsys.readouterr()
    assert main(["drift", "--json"]) == 1
    left = {(one["place"], one["tool"]) for one in shown(capsys)["held"]}
    assert left == {("place1", "a"), ("place1", "b"), ("spot2", "b")}
    assert kept.exists()


@pytest.mark.parametrize("words", [["crm"], ["crm", "a", "--all"]])
def test_one_tool_or_all_is_said(
    kept: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    anyio.run(fill, "place1")
    assert main(["drift", "accept", *words, "--yes"]) == 2
    assert "name one tool, or use --all" in capsys.readouterr().err
    assert kept.exists()
