"""`sayso keys`: a key is shown once, listed without itself, and taken back."""

import json
import time
from pathlib import Path

import anyio
import pytest
from tests.access.conftest import request_info

from sayso.access import ApiKeyAuth, RefusedError
from sayso.cli import main
from sayso.keys import load_keys
from sayso.policy import Principal
from sayso.store import open_store


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for a store that is not there yet."""
    path = tmp_path / "sayso.db"
    monkeypatch.delenv("SAYSO_KEYS", raising=False)
    monkeypatch.setenv("SAYSO_STORE", f"sqlite:{path}")
    return path


def identify(path: Path, text: str) -> Principal:
    """Who a gateway on this store takes the holder for."""

    async def run() -> Principal:
        store = open_store()
        try:
            return await ApiKeyAuth(store.api_keys, load_keys(path)).identify(request_info(text))
        finally:
            await store.close()

    return anyio.run(run)


def test_a_key_is_shown_once_and_lets_its_holder_in_until_it_is_taken_back(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--scope", "crm.read", "--scope", "crm.write", "--role", "robot"]
    assert main(["keys", "create", "ci", *words]) == 0
    shown = capsys.readouterr()
    text = shown.out.strip()
    number = text.split("_")[1]
    assert f"sayso keys revoke {number}" in shown.err
    assert text not in shown.err
    assert identify(path, text) == Principal(
        "key:ci", scopes=frozenset({"crm.read", "crm.write"}), roles=frozenset({"robot"})
    )
    assert main(["keys", "list"]) == 0
    line = capsys.readouterr().out.splitlines()[1]
    assert line.split()[:5] == [number, "ci", "crm.read", "crm.write", "robot"]
    assert "valid until" in line
    assert text.split("_")[2] not in line
    assert main(["keys", "revoke", "ci", "--yes"]) == 0
    assert capsys.readouterr().out == "1 key revoked\n"
    with pytest.raises(RefusedError):
        identify(path, text)
    assert main(["keys", "revoke", number, "--yes"]) == 2
    assert "no valid API key" in capsys.readouterr().err
    assert main(["keys", "list"]) == 0
    assert "revoked by" in capsys.readouterr().out


def test_programs_get_documents(capsys: pytest.CaptureFixture[str]) -> None:
    before = time.time()
    for name, expires in (("ci", "12h"), ("ci", "never")):
        assert main(["keys", "create", name, "--expires", expires, "--json"]) == 0
    made = json.loads(capsys.readouterr().out.replace("}\n{", "},{").join("[]"))
    assert made[0]["expires"] == pytest.approx(before + 43_200, abs=60)
    assert made[1]["expires"] is None
    assert main(["keys", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["keys"]
    assert [one["id"] for one in listed] == [one["id"] for one in made]
    assert made[0]["key"].split("_")[2] not in json.dumps(listed)
    assert main(["keys", "revoke", "ci", "--json", "--yes"]) == 0
    assert json.loads(capsys.readouterr().out)["revoked"] == 2


def test_a_key_without_end_and_one_that_has_ended_are_told_apart(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["keys", "create", "a", "--expires", "never"]) == 0
    assert "until you revoke it" in capsys.readouterr().err
    assert main(["keys", "create", "b", "--expires", "30m"]) == 0
    capsys.readouterr()
    later = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: later)
    assert main(["keys", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [one.split()[-1] for one in lines[1:]] == ["valid", "expired"]


@pytest.mark.parametrize(
    "words",
    [["create", "a b"], ["create", "a", "--expires", "soon"], ["create", "a", "--scope", "x y"]],
)
def test_what_makes_no_key_is_told(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", *words]) == 2
    assert capsys.readouterr().out == ""


def test_where_there_are_none_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", "list"]) == 2  # there is no store yet
    anyio.run(open_store().close)
    assert main(["keys", "list"]) == 0
    assert capsys.readouterr().out == "No API keys.\n"
