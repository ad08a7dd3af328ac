"""A policy file that changes under a running guard."""

import os
from functools import partial
from pathlib import Path

import anyio
import pytest

from sayso.errors import ConfigError, PolicyError, SaysoError
from sayso.guard import PolicyFile
from sayso.policy import Mode

pytestmark = pytest.mark.anyio


def test_a_file_with_a_mistake_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    with pytest.raises(ConfigError, match="cannot be read"):
        PolicyFile.open(path)
    path.write_text('mode = "stric"')
    with pytest.raises(PolicyError, match="strict"):
        PolicyFile.open(path)


def test_a_change_counts_and_a_mistake_leaves_the_last_good_policy(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('mode = "plan"')
    rules = PolicyFile.open(path)
    assert not rules.reload()
    path.write_text('mode = "stric"')
    with pytest.raises(PolicyError):
        rules.reload()
    assert not rules.reload()  # told once
    assert rules().mode is Mode.PLAN
    path.write_text('mode = "strict"')
    assert rules.reload()
    assert rules().mode is Mode.STRICT
    path.unlink()
    with pytest.raises(ConfigError):
        rules.reload()
    assert not rules.reload()
    assert rules().mode is Mode.STRICT


async def test_a_running_guard_hears_of_changes_and_of_mistakes(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('mode = "plan"')
    rules = PolicyFile.open(path)
    told: list[str] = []
    async with anyio.create_task_group() as group:
        watch = partial(
            rules.watch,
            told.append,
            lambda error: told.append(str(error)),
            seconds=0.01,
            settle=0.01,
        )
        group.start_soon(watch)
        path.write_text('mode = "strict"')
        await _until(lambda: len(told) == 1)
        path.write_text("mode = ")
        await _until(lambda: len(told) == 2)
        path.unlink()
        await _until(lambda: len(told) == 3)
        group.cancel_scope.cancel()
    assert "is in effect" in told[0]
    assert f"{path}:1" in told[1]
    assert "cannot be read" in told[2]
    assert rules().mode is Mode.STRICT


async def test_no_number_in_the_file_ends_the_watch(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('mode = "plan"')
    rules = PolicyFile.open(path)
    told: list[str] = []
    async with anyio.create_task_group() as group:
        watch = partial(
            rules.watch,
            told.append,
            lambda error: told.append(str(error)),
            seconds=0.01,
            settle=0.01,
        )
        group.start_soon(watch)
        for long in ("9" * 5_000, "0x" + "f" * 5_000):
            before = len(told)
            path.write_text(f"max_result_characters = {long}")
            await _until(lambda before=before: len(told) > before)
        path.write_text('mode = "strict"')
        await _until(lambda: "is in effect" in told[-1])
        group.cancel_scope.cancel()
    assert all("64 bits" in one for one in told[:-1])
    assert rules().mode is Mode.STRICT


RULES = """mode = "strict"

[[rules]]
name = "never"
effect = "deny"
"""


@pytest.mark.parametrize("text", ["", "\n \n", "# all rules are gone\n", "\ufeff"])
def test_a_file_without_content_does_not_replace_rules(tmp_path: Path, text: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(RULES)
    rules = PolicyFile.open(path)
    path.write_text(text)
    with pytest.raises(ConfigError, match="the file is empty"):
        rules.reload()
    assert not rules.reload()
    assert rules().rules[0].name == "never"
    assert rules.trouble is not None
    path.write_text('mode = "guarded"')
    assert rules.reload()
    assert rules().rules == ()


def test_a_file_that_never_held_rules_may_stay_empty(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text("# nothing yet\n")
    rules = PolicyFile.open(path)
    path.write_text("")
    assert rules.reload()


async def test_a_file_that_is_being_written_does_not_count_until_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(RULES)
    rules = PolicyFile.open(path)
    whole = RULES.replace("never", "always")
    # Each length of this file is a policy of its own, until the name of the rule.
    parts = [whole[:length] for length in (0, 5, 16, 17, 18, 27)]
    told: list[str] = []
    names: list[str] = []

    async def write_more(_: float) -> None:
        if path.read_text() != whole:
            names.extend(rule.name for rule in rules().rules)
        if parts:
            path.write_text(parts.pop(0))
        elif path.read_text() != whole:
            path.write_text(whole)
        await anyio.lowlevel.checkpoint()

    monkeypatch.setattr("sayso.guard.policy_file.anyio.sleep", write_more)
    async with anyio.create_task_group() as group:
        group.start_soon(partial(rules.watch, told.append, _fail))
        await _until(lambda: told)
        group.cancel_scope.cancel()
    assert set(names) == {"never"}
    assert [rule.name for rule in rules().rules] == ["always"]


@pytest.mark.parametrize("kind", ["fifo", "folder", "dangling", "huge", "device"])
def test_what_is_not_a_file_leaves_the_policy_and_does_not_hang(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(RULES)
    rules = PolicyFile.open(path)
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "dangling":
        path.symlink_to(tmp_path / "nowhere")
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(20_000_000_000)
    with pytest.raises(ConfigError):
        rules.reload()
    assert not rules.reload()
    assert rules().rules[0].name == "never"


def _fail(error: SaysoError) -> None:
    raise error


async def _until(is_so: object) -> None:
    assert callable(is_so)
    with anyio.fail_after(30):
        while not is_so():
            await anyio.sleep(0.005)
