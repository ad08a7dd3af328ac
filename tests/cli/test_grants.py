"""`sayso grants`: what stands is listed, and can be taken back."""

import json
from pathlib import Path

import anyio
import pytest
from tests.sample_tools import AMY, DELETE, tool

from sayso.approvals import Answer, Approvals, make_question
from sayso.cli import main
from sayso.intent import Span
from sayso.keys import load_keys
from sayso.policy import Decision, Effect
from sayso.schema import digest
from sayso.store import open_store, store_path


async def fill() -> None:
    store = open_store()
    approvals = Approvals.of(store, keys=load_keys(store_path(), is_made=True))
    decision = Decision(Effect.CONFIRM, "r", "it destroys", grant=Span.ALWAYS)
    question = make_question(
        AMY, tool("tag_delete", DELETE), {"id": 7}, decision, digest({"id": 7})
    )
    asked = await approvals.ask(question)
    given = Answer(is_allowed=True, by="console", channel="console", span=Span.ALWAYS)
    assert await approvals.answer(asked.number, given)
    await store.close()


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with one standing answer."""
    path = tmp_path / "sayso.db"
    monkeypatch.setenv("SAYSO_STORE", f"sqlite:{path}")
    anyio.run(fill)
    return path


def test_a_grant_is_listed_and_taken_back_once(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kept.exists()
    assert main(["grants", "list"]) == 0
    line = capsys.readouterr().out
    assert "tag_delete" in line
    assert "valid" in line
    assert main(["grants", "revoke", "1", "--yes"]) == 0
    assert "revoked" in capsys.readouterr().out
    assert main(["grants", "list", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["grants"]
    assert (found["number"], found["span"], found["tool"]) == (1, "always", "tag_delete")
    assert found["revoked_by"]
    assert main(["grants", "list"]) == 0
    assert "revoked by" in capsys.readouterr().out
    assert main(["grants", "revoke", "1", "--json", "--yes"]) == 2
    assert "no valid grant 1" in capsys.readouterr().err


def test_where_nothing_stands_it_says_so(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kept.exists()
    assert main(["grants", "revoke", "9", "--yes"]) == 2
    assert main(["grants", "revoke", "1", "--json", "--yes"]) == 0
    assert json.loads(capsys.readouterr().out)["revoked"] == 1
    empty = f"sqlite:{tmp_path / 'empty.db'}"
    assert main(["db", "move", empty, f"sqlite:{tmp_path / 'other.db'}"]) == 2  # there is none yet
    anyio.run(open_store(empty).close)
    load_keys(store_path(empty), is_made=True)
    assert main(["grants", "list", "--store", empty]) == 0
    assert "No standing approvals" in capsys.readouterr().out
