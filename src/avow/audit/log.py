"""The log that calls are written to."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from avow.audit.record import Event, Facts, Outcome, record, record_refused, severity
from avow.policy import Principal
from avow.store import RecordRow, Store


@dataclass(frozen=True, slots=True)
class AuditLog:
    """Writes what happens to calls; each method returns when its line is on disk.

    Every method raises `StoreError` when the line could not be written.
    """

    store: Store
    clock: Callable[[], float] = time.time

    async def asked(self, facts: Facts, approval: int) -> None:
        """A person is asked about a call."""
        await self._append(record(facts, self.clock(), Event.ASKED, approval=approval))

    async def attempt(self, facts: Facts, approval: int | None) -> None:
        """A call is about to be sent to its server."""
        await self._append(record(facts, self.clock(), Event.ATTEMPT, approval=approval))

    async def outcome(
        self,
        facts: Facts,
        outcome: Outcome,
        *,
        started: float,
        approval: int | None = None,
        result: Mapping[str, Any] | None = None,
        incident: str | None = None,
    ) -> None:
        """A call has ended; `started` is the clock's time when it came in."""
        now = self.clock()
        row = record(
            facts,
            now,
            Event.OUTCOME,
            outcome=str(outcome),
            severity=severity(facts.tool.level, outcome),
            milliseconds=round((now - started) * 1000, 3),
            approval=approval,
            result_digest=None if result is None else _digest(result),
            incident=incident,
        )
        await self._append(row)

    async def refused(
        self, call: str, principal: Principal, *, name: str, outcome: Outcome
    ) -> None:
        """A call of `name` came to nothing before there was anything to decide."""
        row = record_refused(call, self.clock(), principal, name=name, outcome=outcome)
        await self._append(row)

    async def newest(self, *, call: str | None = None, limit: int = 100) -> list[RecordRow]:
        """The newest lines, newest first."""
        return await self.store.records(call=call, limit=limit)

    async def _append(self, row: RecordRow) -> None:
        await self.store.append([row])


def _digest(result: Mapping[str, Any]) -> str:
    """SHA-256 of a result with sorted keys; also of one that holds what JSON cannot say.

    A result may be large, and is a server's to choose: this is fast and refuses nothing.
    """
    text = json.dumps(result, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()
