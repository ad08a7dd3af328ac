"""A ledger on a real store, by a clock that can be set."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.approvals.questions import Clock

from sayso.approvals import Approvals
from sayso.store import open_store


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def approvals(tmp_path: Path, clock: Clock) -> AsyncIterator[Approvals]:
    store = open_store(f"sqlite:{tmp_path / 'sayso.db'}")
    yield Approvals.of(store, clock=clock)
    await store.close()
