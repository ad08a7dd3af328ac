"""The audit log, which records the events of calls."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import msgspec
from anyio import to_thread

from sayso.audit.chain import Chain
from sayso.audit.deferred import DeferredOutcomes
from sayso.audit.record import (
    Event,
    Facts,
    Outcome,
    make_row,
    merged,
    record,
    record_refused,
    severity,
)
from sayso.errors import StoreError
from sayso.intent import Level
from sayso.keys import Keyring
from sayso.policy import Principal
from sayso.schema import Path
from sayso.store import (
    ApprovalRow,
    Asked,
    DefinitionRow,
    Definitions,
    Grants,
    Lapse,
    QuarantineRow,
    Quarantines,
    Quota,
    RecordRow,
    Records,
    Use,
)

if TYPE_CHECKING:
    from sayso.store import Database

_MAX_LOCAL_BYTES: Final = 1024 * 1024
_sorted: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class AuditLog:
    """Writes the events of calls; each method returns when its record is on disk.

    Records of a call that only reads may reach the disk a moment later. Every method raises
    `StoreError` if this record, or an earlier one, could not be written. Without a `chain` the
    records are not chained, and `verify` reports that. Arguments are masked at the `hidden` paths.
    `deferred` keeps outcomes that could not be written. `keys` are the chain's keys. `open_audit`
    sets `database`.
    """

    records: Records
    clock: Callable[[], float] = time.time
    chain: Chain | None = None
    hidden: Sequence[Path] = ()
    deferred: DeferredOutcomes | None = None
    keys: Keyring | None = field(default=None, repr=False)
    database: "Database | None" = field(default=None, repr=False)

    @property
    def writer(self) -> str:
        return self.chain.writer if self.chain else ""

    @property
    def required_chain(self) -> Chain:
        """The chain. Raises `StoreError` for a log without one."""
        if self.chain is None:
            raise StoreError("the log has no chain", where=self.database and self.database.where)
        return self.chain

    def asking(self, facts: Facts, known: int | None) -> Asked:

        def asked(row: ApprovalRow) -> RecordRow | None:
            if row.number == known:
                return None
            return self._record(facts, Event.ASKED, approval=row.number)

        return asked

    async def attempt(self, facts: Facts, approval: int | None) -> None:
        row = self._record(facts, Event.ATTEMPT, approval=approval)
        await self.records.append([row], seal=self.chain)

    async def begin(
        self,
        facts: Facts,
        approval: int | None,
        use: Use,
        quotas: Sequence[Quota] = (),
        *,
        may_wait: bool = True,
    ) -> Quota | Lapse | None:
        """Record that a call is about to be sent, and count it for the limits of later calls.

        Writes nothing and returns the quota that the call would exceed, or the grant or idempotency
        key that is no longer valid. With `may_wait`, the record of a read that needed no approval
        may reach the disk a moment later.
        """
        row = self._record(facts, Event.ATTEMPT, approval=approval)
        return await self.records.begin(
            [row],
            use,
            quotas=quotas,
            seal=self.chain,
            is_deferred=may_wait and facts.tool.level is Level.READ and approval is None,
        )

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
        """Record the outcome of a call; `started` is the time when the call came in.

        If this raises, the record is deferred and written later if possible.
        """
        result_digest = None if result is None else await _digest_of(result)
        row = self._record(
            facts,
            Event.OUTCOME,
            outcome=str(outcome),
            severity=severity(facts.tool.level, outcome),
            milliseconds=round((self.clock() - started) * 1000, 3),
            approval=approval,
            result_digest=result_digest,
            incident=incident,
        )
        is_deferred = may_wait(facts.tool.level, outcome)
        try:
            await self.records.append([row], seal=self.chain, is_deferred=is_deferred)
        except StoreError:
            if self.deferred is not None:
                self.deferred.keep(row)
            raise

    async def refused(
        self,
        call: str,
        principal: Principal,
        *,
        name: str,
        outcome: Outcome,
        through: str | None = None,
    ) -> None:
        row = record_refused(
            call, self.clock(), principal, name=name, outcome=outcome, through=through
        )
        await self.records.append([row], seal=self.chain)

    async def accept(
        self, definitions: Definitions, row: DefinitionRow, *, changes: Sequence[str], by: str
    ) -> bool:
        now = self.clock()
        body = {
            "server": row.server,
            "tool": row.tool,
            "was": row.mark,
            "is": row.held_mark,
            "changes": [*changes],
            "severity": "notice",
        }
        record = make_row("", now, Event.ACCEPTED, body, {"subject": by})
        return await definitions.accept(row, by=by, now=now, record=record, seal=self.chain)

    async def quarantine(
        self, quarantines: Quarantines, row: QuarantineRow, *, call: str, subject: str
    ) -> bool:
        body = {"server": row.server, "tool": row.tool, "broken_by": call, "severity": "critical"}
        payload = {"subject": subject, "evidence": json.loads(row.evidence)}
        record = make_row("", self.clock(), Event.QUARANTINED, body, payload)
        return await quarantines.add(row, record=record, seal=self.chain)

    async def lift(self, quarantines: Quarantines, row: QuarantineRow, *, by: str) -> bool:
        """Lift a quarantine for a person; return `False` if it was already lifted."""
        body = {"server": row.server, "tool": row.tool, "since": row.since, "severity": "notice"}
        record = make_row("", self.clock(), Event.LIFTED, body, {"subject": by})
        return await quarantines.lift(row, record=record, seal=self.chain)

    async def revoke(
        self,
        grants: Grants,
        grant: int,
        about: Mapping[str, Any],
        *,
        by: str,
        token: str | None = None,
    ) -> bool:
        """Revoke a grant for a person; return `False` if it is revoked or does not exist.

        `about` describes the grant in the record, in addition to its number. `token` comes from
        `Approvals.grant_token`.
        """
        now = self.clock()
        body = {**about, "grant": grant, "severity": "notice"}
        record = make_row("", now, Event.REVOKED, body, {"subject": by})
        return await grants.revoke(
            grant, by=by, now=now, token=token, record=record, seal=self.chain
        )

    async def newest(self, *, call: str | None = None, limit: int = 100) -> list[RecordRow]:
        return [merged(row) for row in await self.records.newest(call=call, limit=limit)]

    def _record(self, facts: Facts, event: Event, **more: Any) -> RecordRow:
        return record(facts, self.clock(), event, hidden=self.hidden, **more)


def may_wait(level: Level, outcome: Outcome) -> bool:
    """Return whether an outcome may reach the disk later: true for successful reads only."""
    return level is Level.READ and outcome is Outcome.OK


async def _digest_of(result: Mapping[str, Any]) -> str:
    sizes = (len(member) for member in result.values() if isinstance(member, msgspec.Raw))
    if sum(sizes) <= _MAX_LOCAL_BYTES:
        return _digest(result)
    # A thread helps, because hashing releases the interpreter lock.
    return await to_thread.run_sync(_digest, result)


def _digest(result: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a result as it is sent. The result may hold values outside JSON."""
    try:
        return sha256(msgspec.json.encode(result)).hexdigest()
    except (TypeError, ValueError):
        return sha256(_sorted(result).encode()).hexdigest()
