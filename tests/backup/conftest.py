"""Keys of this installation, and a store with data that backups are made of."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.guard.world import KEYS, World
from tests.sample_tools import AMY, READ

from sayso.approvals import Approvals
from sayso.audit import open_audit
from sayso.guard import Guard
from sayso.keys import passphrase
from sayso.store import Database

WORDS = "correct horse battery staple"


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys that the guard of these tests signs with."""
    monkeypatch.setenv("SAYSO_KEYS", " ".join(KEYS.lines()))
    monkeypatch.delenv("SAYSO_KEYS_FILE", raising=False)
    # The real cost is tested with the keys.
    monkeypatch.setattr(passphrase, "_COST", 2)


@asynccontextmanager
async def recording(store: Database) -> AsyncGenerator[Guard]:
    """A guard that records its calls in the store."""
    world = World(store)
    world.add("read", READ)
    async with open_audit(store, KEYS) as log:
        yield Guard(world.find, world.run, Approvals.of(store), log, store.claims, keys=KEYS)


async def fill(guard: Guard, store: Database) -> None:
    """Make some calls, and leave a question open."""
    for number in range(5):
        await guard.call(AMY, "read", {"n": number})
    await store.questions.open("b", '{"subject": "amy"}', now=store.clock(), expires=9e9)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "backups" / "monday.sayso"
