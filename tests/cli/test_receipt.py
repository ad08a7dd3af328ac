"""`sayso receipt`, and what `inspect`, `lint` and `gateway` make of receipts."""

import json
import shutil
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import sayso, started
from tests.connect.serving import SERVERS
from tests.gateway.changing import Changing, entry
from tests.receipts.reports import hint, key_in, report, signed, statement, written

from sayso.cli.latest_report import keep_report
from sayso.connect import CommandTarget
from sayso.connect.package import describe_package
from sayso.policy import load_policy
from sayso.receipts import write_receipt
from sayso.verify.verdict import HintVerdict

SHOP = """
from mcp.server import MCPServer

mcp = MCPServer("shop")


@mcp.tool()
def get_total(a: int, b: int) -> int:
    return a + b
"""
LIES = entry({"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False})


def test_a_key_is_made_and_printed_as_it_goes_into_a_policy(tmp_path: Path) -> None:
    done = sayso("receipt", "keygen", "my ci.key", cwd=tmp_path)
    assert done.code == 0
    (key,) = load_policy(done.out).receipt_keys
    assert key.name == "my-ci"
    assert tomllib.loads(done.out)["trust"]["receipt_keys"]["my-ci"] == {"key": key.key}
    assert stat.S_IMODE((tmp_path / "my ci.key").stat().st_mode) == 0o600
    again = sayso("receipt", "keygen", "my ci.key", cwd=tmp_path)
    assert (again.code, again.out) == (2, "")
    assert "the file exists already" in again.err


def test_a_report_is_signed_shown_and_verified(tmp_path: Path) -> None:
    key = key_in(tmp_path)
    written(tmp_path, report().to_dict(), "report.json")
    words = ("receipt", "make", "report.json", "--key", "ci.key", "-o", "r.json")
    assert sayso(*words, cwd=tmp_path).code == 0
    done = sayso("receipt", "verify", "r.json", "--key", key.public, cwd=tmp_path)
    assert done.code == 0
    assert done.out == "r.json: valid, for 1 tool of notes 1.0 (sha256:abababababab…)\n"
    found = sayso("receipt", "verify", "r.json", "--key", key.public, "--json", cwd=tmp_path).json
    assert (found["schema"], found["holds"], found["seed"]) == (1, True, 7)
    assert found["tools"][0]["hints"]["read_only"] == {
        "verdict": "supported",
        "calls": 12,
        "inputs": ["path=file"],
        "observers": ["files"],
    }
    shown = sayso("receipt", "show", "r.json", cwd=tmp_path)
    assert "supported (12)" in shown.out
    assert "Signature not checked" in shown.err
    data = sayso("receipt", "show", "r.json", "--json", cwd=tmp_path).json
    assert data == {name: one for name, one in found.items() if name not in ("holds", "key")}


def test_the_latest_run_is_kept_and_signed_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = key_in(tmp_path)
    words = ("receipt", "make", "--key", "ci.key", "-o", "r.json")
    none = sayso(*words, cwd=tmp_path, XDG_DATA_HOME=str(tmp_path))
    assert none.code == 2
    assert "no report of sayso verify is kept" in none.err

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    file = keep_report(json.dumps(report().to_dict()))
    assert file is not None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    done = sayso(*words, cwd=tmp_path, XDG_DATA_HOME=str(tmp_path))
    assert done.code == 0
    assert "Signed the latest run: notes" in done.err
    assert sayso("receipt", "verify", "r.json", "--key", key.public, cwd=tmp_path).code == 0


def test_a_quick_run_is_not_signed(tmp_path: Path) -> None:
    key_in(tmp_path)
    written(tmp_path, report().to_dict() | {"quick": True}, "report.json")
    words = ("receipt", "make", "report.json", "--key", "ci.key", "-o", "r.json")
    done = sayso(*words, cwd=tmp_path)
    assert done.code != 0
    assert "sayso verify without --quick" in done.err
    assert not (tmp_path / "r.json").exists()
    words = ("verify", "--quick", "--receipt", "r.json", "--key", "ci.key", "--", "true")
    refused = sayso(*words, cwd=tmp_path)
    assert refused.code == 2
    assert "a quick run cannot be signed" in refused.err


def test_what_does_not_hold_is_exit_code_1_and_says_why(tmp_path: Path) -> None:
    key, other = key_in(tmp_path), key_in(tmp_path, "other")
    file = str(written(tmp_path, signed(statement(), key)))
    for words, code, what in (
        ((file, "--key", other.public), 1, "the receipt is not signed by this key"),
        ((file, "--key", "hunter2"), 2, "not an Ed25519 public key"),
        ((str(tmp_path / "ci.key"), "--key", key.public), 1, "not a receipt"),
        ((str(tmp_path / "none"), "--key", key.public), 2, "cannot read the receipt"),
    ):
        done = sayso("receipt", "verify", *words, "--json")
        assert (done.code, done.out) == (code, "")
        assert what in done.error["what"]


def test_what_a_receipt_says_steers_no_terminal(tmp_path: Path) -> None:
    value = statement()
    value["predicate"]["tools"][0]["name"] = "x\x1b[2J"
    value["predicate"]["sayso"] = "\x1b]0;x\x07"
    done = sayso("receipt", "show", str(written(tmp_path, signed(value, key_in(tmp_path)))))
    assert done.code == 0
    assert "\x1b" not in done.out


@pytest.fixture
def world(tmp_path: Path) -> dict[str, Any]:
    """A server that lists one tool, a key, and a policy that trusts it."""
    (tmp_path / "package").mkdir()
    (tmp_path / "receipts").mkdir()
    server = tmp_path / "package" / "server.py"
    server.write_text((SERVERS / "changing.py").read_text())
    command = (str(server), str(tmp_path / "tools.json"))
    key = key_in(tmp_path)
    policy = tmp_path / "policy.toml"
    policy.write_text(f'[trust.receipt_keys]\nci = {{ key = "{key.public}" }}\n')
    target = CommandTarget("c", sys.executable, command)
    return {
        "changing": Changing(tmp_path / "tools.json"),
        "key": key,
        "package": describe_package(target),
        "options": ("--policy", str(policy), "--receipts", str(tmp_path / "receipts")),
        "command": ("--", sys.executable, *command),
        "folder": tmp_path,
    }


def vouch(world: dict[str, Any], raw: dict[str, Any], read_only: HintVerdict | None = None) -> None:
    world["changing"].say(raw)
    found = report(raw, read_only=read_only) if read_only else report(raw)
    told = {**found.to_dict(), "package": world["package"]}
    write_receipt(told, world["key"], world["folder"] / "receipts" / "r.json")


@pytest.mark.process
def test_inspect_marks_what_a_receipt_shows(world: dict[str, Any]) -> None:
    vouch(world, entry({}))
    (world["folder"] / "receipts" / "broken.json").write_text("{")
    done = sayso("inspect", *world["options"], *world["command"])
    assert done.code == 0, done.err
    assert "yes+" in done.out
    assert "+ verified by running it" in done.out
    assert "broken.json: not a receipt" in done.err
    found = sayso("inspect", *world["options"], "--json", *world["command"]).json
    assert found["tools"][0]["hints"]["read_only"] == {"value": True, "source": "verified"}
    server = world["folder"] / "package" / "server.py"
    server.write_text(f"{server.read_text()}\n")
    done = sayso("inspect", *world["options"], *world["command"])
    assert done.code == 1
    assert "+" not in done.out.splitlines()[-2]
    assert "[receipt-dropped]" in done.out


@pytest.mark.process
def test_receipts_without_a_trusted_key_are_a_mistake(world: dict[str, Any]) -> None:
    for command in ("inspect", "lint"):
        done = sayso(command, "--receipts", "x", *world["command"])
        assert done.code == 2
        assert "[trust.receipt_keys]" in done.err


@pytest.mark.process
def test_a_policy_alone_counts_for_inspect(world: dict[str, Any]) -> None:
    world["changing"].say(entry({}))
    (world["folder"] / "p.toml").write_text('[operator."*".note]\nread_only = true\n')
    words = ("--policy", str(world["folder"] / "p.toml"))
    assert "yes!" in sayso("inspect", *words, *world["command"]).out


@pytest.mark.process
def test_lint_finds_the_hint_that_was_refuted(world: dict[str, Any]) -> None:
    vouch(world, LIES, read_only=hint("refuted", 1))
    only = ("--select", "SS109")
    done = sayso("lint", *only, *world["options"], *world["command"])
    assert done.code == 1
    assert "SS109" in done.out
    saved = world["folder"] / "list.json"
    for tool, code in ((LIES, 1), ({**LIES, "description": "other"}, 0)):
        saved.write_text(json.dumps({"tools": [tool]}))
        assert sayso("lint", str(saved), *only, *world["options"]).code == code
    lines = world["folder"] / "list.jsonl"
    lines.write_text(json.dumps(LIES))
    assert sayso("lint", str(lines), *only, *world["options"]).code == 1


@pytest.mark.skipif(not shutil.which("bwrap"), reason="verify needs bubblewrap")
@pytest.mark.process
def test_a_run_is_signed_and_counts_for_what_was_run(tmp_path: Path) -> None:
    key = key_in(tmp_path)
    (tmp_path / "policy.toml").write_text(
        f'[trust.receipt_keys]\nci = {{ key = "{key.public}" }}\n'
    )
    (tmp_path / "shop.py").write_text(SHOP)
    done = sayso("verify", "shop.py", "--receipt", "r.json", "--key", "ci.key", cwd=tmp_path)
    assert done.code == 0, done.err
    words = ("inspect", "shop.py", "--policy", "policy.toml", "--receipts", "r.json")
    assert "yes+" in sayso(*words, cwd=tmp_path).out
    (tmp_path / "shop.py").write_text(f"{SHOP}\n# another\n")
    assert "yes+" not in sayso(*words, cwd=tmp_path).out


@pytest.mark.process
def test_a_gateway_says_what_is_broken_and_goes_on(world: dict[str, Any]) -> None:
    vouch(world, entry({}))
    (world["folder"] / "receipts" / "broken.json").write_text("{")
    store = f"sqlite:{world['folder'] / 'a.db'}"
    words = ("gateway", "--port", "0", "--json", "--store", store)
    with started(*words, *world["options"], *world["command"]) as run:
        assert "mcp" in run.addresses
        told = run.end().err
    assert "broken.json: not a receipt" in told
    assert "no receipt counts" not in told
    with started(*words, *world["options"][2:], *world["command"]) as run:
        assert "the policy trusts no receipt key" in run.end().err
