"""Crashes, races and files of any form: what is there afterwards is the old state or the new."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import COMMAND, environment
from tests.clients.jsonc import files, values
from tests.tiers import examples

from sayso.cli import main
from sayso.clients.choice import Selection
from sayso.clients.discovery import pick
from sayso.clients.install import Plan, carry_out, plan_install, plan_removal, remove
from sayso.clients.kinds import client_of
from sayso.clients.places import Machine
from sayso.clients.record import alone, folder_of, record_in, records
from sayso.errors import ConfigError, UsageError

FIRST = {"git": {"command": "uvx", "args": ["mcp-server-git"]}, "notes": {"command": "notes"}}


def write(path: Path, servers: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"theme": "dark", "mcpServers": servers}, indent=2) + "\n")
    return path


def planned(path: Path, *left_out: str) -> Plan:
    place = pick(Machine.here(), client_of("cursor"), path=path)
    return plan_install(place, Selection(left_out=left_out))


class Crash(BaseException):
    """The power goes off."""


def crashing(monkeypatch: pytest.MonkeyPatch, at: int, work: Callable[[], object]) -> bool:
    """Do `work`, and crash before its step number `at`; whether it came that far.

    A step is each thing that changes the disk.
    """
    count = 0

    def step(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count > at:
                raise Crash
            return real(*args, **options)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", step(os.replace))
        patch.setattr(os, "open", step(os.open))
        patch.setattr(os, "fsync", step(os.fsync))
        for name in ("replace", "unlink", "rmdir"):
            patch.setattr(Path, name, step(getattr(Path, name)))
        try:
            work()
        except Crash:
            return True
    return False


def reached(path: Path) -> set[str]:
    """The servers that the client can reach, by itself or through sayso's entry."""
    servers: dict[str, Any] = json.loads(path.read_text())["mcpServers"]
    entry = servers.pop("sayso", None)
    if entry is None:
        return {*servers}
    return {*servers, *json.loads(Path(entry["args"][1]).read_text())["mcpServers"]}


def test_a_crash_at_any_step_of_the_first_install_loses_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / ".cursor" / "mcp.json"
    at = 0
    while True:
        shutil.rmtree(home / ".config", ignore_errors=True)
        before = write(path, FIRST).read_bytes()
        plan = planned(path)
        has_crashed = crashing(monkeypatch, at, lambda plan=plan: carry_out(plan))
        assert path.read_bytes() in (before, plan.then.data)
        assert reached(path) == {*FIRST}
        # Both ways lead on from there.
        for record in records():
            remove(plan_removal(record))
        assert path.read_bytes() == before
        carry_out(planned(path))
        assert reached(path) == {*FIRST}
        if not has_crashed:
            break
        at += 1
    assert at > 12


def test_a_crash_at_any_step_of_a_second_install_loses_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / ".cursor" / "mcp.json"
    wanted = {**FIRST, "late": {"command": "late"}}
    at = 0
    while True:
        shutil.rmtree(home / ".config", ignore_errors=True)
        write(path, FIRST)
        carry_out(planned(path))
        new = json.loads(path.read_text())
        new["mcpServers"]["late"] = wanted["late"]
        path.write_text(json.dumps(new, indent=2) + "\n")
        plan = planned(path, "git")  # one comes, another goes back
        has_crashed = crashing(monkeypatch, at, lambda plan=plan: carry_out(plan))
        assert path.read_bytes() in (plan.now.data, plan.then.data)
        assert reached(path) == {*wanted}
        again = planned(path, "git")
        carry_out(again)
        assert reached(path) == {*wanted}
        (record,) = records()
        assert {*json.loads(record.servers.read_text())["mcpServers"]} == {"notes", "late"}
        remove(plan_removal(record))
        assert json.loads(path.read_text()) == {"theme": "dark", "mcpServers": wanted}
        if not has_crashed:
            break
        at += 1
    assert at > 12


def test_a_crash_at_any_step_of_an_uninstall_loses_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / ".cursor" / "mcp.json"
    at = 0
    while True:
        shutil.rmtree(home / ".config", ignore_errors=True)
        before = write(path, FIRST).read_bytes()
        carry_out(planned(path))
        after = path.read_bytes()
        (record,) = records()
        removal = plan_removal(record)
        has_crashed = crashing(monkeypatch, at, lambda removal=removal: remove(removal))
        assert path.read_bytes() in (before, after)
        if path.read_bytes() == after:
            assert reached(path) == {*FIRST}
        for one in records():
            remove(plan_removal(one))
        assert path.read_bytes() == before
        assert not records()
        if not has_crashed:
            break
        at += 1
    assert at > 6


@pytest.mark.process
def test_a_killed_install_can_be_done_again_and_undone(home: Path) -> None:
    path = write(home / ".cursor" / "mcp.json", FIRST)
    before = path.read_bytes()
    # Killed by itself just before the client's file is replaced: no `finally` runs.
    code = (
        "import os, signal, sys\n"
        "from sayso.clients import swap\n"
        "swap._copy_attributes = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from sayso.cli import main\n"
        "main(['install', 'cursor', '--yes'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(HOME=str(home)),
        cwd=home / "work",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    assert records()
    assert [*path.parent.iterdir()] != [path]
    assert main(["install", "cursor", "--yes"]) == 0
    assert [*path.parent.iterdir()] == [path]
    assert main(["uninstall", "cursor", "--yes"]) == 0
    assert path.read_bytes() == before


def test_a_file_that_changed_after_the_diff_is_not_written(home: Path) -> None:
    path = write(home / ".cursor" / "mcp.json", FIRST)
    plan = planned(path)
    changed = write(path, {**FIRST, "new": {"command": "new"}}).read_bytes()
    with pytest.raises(ConfigError, match="file has changed"):
        carry_out(plan)
    assert path.read_bytes() == changed
    assert not records()
    carry_out(planned(path))
    (record,) = records()
    kept = record.servers.read_bytes()
    late = planned(path, "git")
    other = path.read_text().replace("dark", "light")
    path.write_text(other)
    with pytest.raises(ConfigError, match="file has changed"):
        carry_out(late)
    assert path.read_text() == other
    assert record.servers.read_bytes() == kept
    removal = plan_removal(record)
    path.write_text(other.replace("light", "grey"))
    with pytest.raises(ConfigError, match="file has changed"):
        remove(removal)
    assert reached(path) == {*FIRST, "new"}


def test_a_server_that_was_deleted_after_a_failed_install_stays_deleted(home: Path) -> None:
    path = write(home / ".cursor" / "mcp.json", FIRST)
    plan = planned(path)
    write(path, {"notes": FIRST["notes"]})
    with pytest.raises(ConfigError):
        carry_out(plan)
    carry_out(planned(path))
    assert reached(path) == {"notes"}


def test_two_at_once_are_refused(home: Path) -> None:
    write(home / ".cursor" / "mcp.json", FIRST)
    with alone():
        seen: list[BaseException] = []

        def other() -> None:
            try:
                with alone():
                    pass
            except UsageError as error:
                seen.append(error)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join(60)
    assert "is running" in str(seen[0])
    with alone():
        pass


def test_a_disk_that_cannot_be_written_changes_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(home / ".cursor" / "mcp.json", FIRST)
    before = path.read_bytes()
    plan = planned(path)

    def full(_number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match="No space left on device"):
        carry_out(plan)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == ["mcp.json"]


commands = st.fixed_dictionaries(
    {
        "command": st.text(
            st.characters(exclude_characters="\0$", exclude_categories=["Cs"]), min_size=1
        ),
        "args": st.lists(st.sampled_from(["-y", "${env:TOKEN}", "é\u202e", "a b"]), max_size=2),
    }
)
plain = st.from_regex(r"[a-z]{1,8}", fullmatch=True)


@settings(max_examples=examples(100))
@given(files(plain, commands | values))
def test_any_file_comes_back_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, file: tuple[bytes, dict[str, Any]]
) -> None:
    """Files of any form, with servers that can move among whatever may stand beside them."""
    data, servers = file
    folder = tmp_path_factory.mktemp("any")
    path = folder / "mcp.json"
    path.write_bytes(data)
    can_move = {
        name
        for name, entry in servers.items()
        # Clients split a command that holds spaces differently, so it stays.
        if isinstance(entry, dict) and "args" in entry and " " not in entry["command"].strip()
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        patch.setenv("HOME", str(folder))
        if not can_move:
            with pytest.raises(UsageError):
                planned(path)
            assert path.read_bytes() == data
            return
        plan = planned(path)
        carry_out(plan)
        assert path.read_bytes() == plan.then.data != data
        assert {*plan.choice.moved} == can_move
        record = record_in(folder_of(plan.place))
        assert record is not None
        assert planned(path).is_needed is False
        assert remove(plan_removal(record)) is None
        assert path.read_bytes() == data


@pytest.mark.process
def test_the_real_program_ends_the_same_way(home: Path) -> None:
    path = write(home / ".cursor" / "mcp.json", FIRST)
    before = path.read_bytes()
    for words, code in ((["install", "cursor"], 2), (["install", "cursor", "--yes"], 0)):
        done = subprocess.run(
            [*COMMAND, *words],
            env=environment(HOME=str(home)),
            cwd=home / "work",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code
    assert path.read_bytes() != before


def test_a_command_that_is_too_long_for_a_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"long": {"command": "a " * 400, "args": []}}}))
    with pytest.raises(UsageError):
        planned(path)
