"""A policy file that changes under a running guard."""

from functools import partial
from pathlib import Path

import anyio
import pytest

from avow.errors import ConfigError, PolicyError
from avow.guard import PolicyFile
from avow.policy import Mode

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
            rules.watch, told.append, lambda error: told.append(str(error)), seconds=0.01
        )
        group.start_soon(watch)
        path.write_text('mode = "strict"')
        await _until(lambda: len(told) == 1)
        path.write_text("mode = ")
        await _until(lambda: len(told) == 2)
        path.unlink()
        await _until(lambda: len(told) == 3)
        group.cancel_scope.cancel()
    assert "counts from now on" in told[0]
    assert f"{path}:1" in told[1]
    assert "cannot be read" in told[2]
    assert rules().mode is Mode.STRICT


async def _until(is_so: object) -> None:
    assert callable(is_so)
    with anyio.fail_after(30):
        while not is_so():
            await anyio.lowlevel.checkpoint()
