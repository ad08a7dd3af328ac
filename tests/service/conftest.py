"""A home of its own with a stand-in for systemctl."""

from pathlib import Path

import pytest
from tests.service.stand_in import StandIn

from sayso.service import Place


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / "home").mkdir()
    return Place.of("sayso")


@pytest.fixture
def stand_in(tmp_path: Path, place: Place) -> StandIn:
    return StandIn.made(tmp_path / "bin", place.path)
