"""Logs with chains, on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.sample_tools import AMY, DELETE, tool

from avow.audit import AuditLog, Facts, open_audit
from avow.keys import Keyring
from avow.policy import Decision, Effect, Principal
from avow.schema import digest
from avow.store import Store

KEYS = Keyring.of([b"k" * 32])


def facts(
    arguments: dict[str, Any] | None = None,
    *,
    call: str = "c1",
    principal: Principal = AMY,
    annotations: Any = DELETE,
) -> Facts:
    """A call as the guard tells it."""
    decision = Decision(Effect.CONFIRM, "mode:guarded", "it may destroy something")
    found = tool(annotations=annotations)
    given = arguments or {}
    return Facts(call, principal, found, given, digest(given), decision)


@pytest.fixture
async def log(store: Store) -> AsyncIterator[AuditLog]:
    """A chained log on an empty store."""
    async with open_audit(store, KEYS) as opened:
        yield opened
