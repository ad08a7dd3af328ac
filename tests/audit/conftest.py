"""Logs with chains, on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.sample_tools import AMY, DELETE, tool

from sayso.audit import AuditLog, Facts, open_audit
from sayso.keys import Keyring
from sayso.policy import Decision, Effect, Principal
from sayso.schema import digest
from sayso.store import Database

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
async def log(store: Database) -> AsyncIterator[AuditLog]:
    """A chained log on an empty store."""
    async with open_audit(store, KEYS) as opened:
        yield opened
