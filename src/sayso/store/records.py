"""The audit log: records of calls, their writers, and the usage that is stored with them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from sayso.store import (
    apikeys,
    claims,
    definitions,
    grants,
    questions,
    recording,
    tables,
    usage,
)
from sayso.store.prefilter import Prefilter
from sayso.store.recording import COLUMNS, SELECT, Seal, select
from sayso.store.rows import Head, RecordRow, WriterRow, storable
from sayso.store.session import Session
from sayso.store.usage import Lapse, Look, Quota, Usage, Use

if TYPE_CHECKING:
    from sayso.store.executor import Executor

_BEAT: Final = """INSERT INTO writers (writer, owner, lease) VALUES (:writer, :owner, :lease)
    ON CONFLICT (writer) DO UPDATE SET lease = excluded.lease"""
_UNFINISHED: Final = (
    f"{SELECT} AS tried WHERE writer = :writer AND event = 'attempt' AND NOT EXISTS "
    "(SELECT 1 FROM records AS later WHERE later.call = tried.call AND (later.event = 'outcome' "
    "OR (later.event = 'attempt' AND later.seq > tried.seq))) ORDER BY seq"
)
# Selects the last record of each call. Records without a call are about the log itself.
_IS_LAST: Final = (
    "(records.call = '' OR NOT EXISTS (SELECT 1 FROM records AS later "
    "WHERE later.call = records.call AND later.seq > records.seq))"
)

Note = Callable[[Sequence[RecordRow], int], RecordRow]
"""Makes the record of an erasure from the erased records and the number of deleted questions."""

Finish = Callable[[Sequence[RecordRow]], Sequence[RecordRow]]
"""Makes the last records of calls from their attempts."""


class Records:
    """Records of calls, in their writers' chains. Records are added and read, never changed.

    This class also has the operations over several subjects that add records: `begin`,
    `take_over`, `erase` and `prune`.
    """

    def __init__(self, executor: "Executor") -> None:
        self._executor = executor
        self._writer = executor.writer

    async def append(
        self, records: Sequence[RecordRow], *, seal: Seal | None = None, is_deferred: bool = False
    ) -> None:
        """Add records; they are on disk when this returns.

        A new `seal` writes its chain's first record before the first `records`. Without `records`
        it does so only if the log has records, but no chain. Deferred records are on disk a moment
        later, and reads of this process see them. If writing them fails, the next `append` raises.
        """
        if is_deferred:
            await self._writer.defer(records, seal=seal)
        else:
            await self._writer.add(records, seal=seal)

    async def begin(
        self,
        records: Sequence[RecordRow],
        use: Use,
        *,
        quotas: Sequence[Quota] = (),
        seal: Seal | None = None,
        is_deferred: bool = False,
    ) -> Quota | Lapse | None:
        """Add the records of a call that is about to be sent, and its usage.

        The same transaction first checks the quotas, the grant and the idempotency key. It writes
        nothing and returns the quota that would be exceeded, or the `Lapse` of a grant or key that
        is no longer valid. Records are deferred as in `append` only if there is nothing to check.
        """

        def work(session: Session) -> Quota | Lapse | None:
            grant = use.grant
            alive = use.at - use.idle
            if grant is not None and not grants.keep(session, grant, now=use.at, alive=alive):
                return Lapse(grant=grant)
            if use.claim is not None and not claims.keep(session, use.claim, records[0].call):
                return Lapse(claim=use.claim)
            quota = usage.exceeded(session, use, quotas)
            if quota is None:
                recording.add(session, records, seal)
                usage.note(session, [use])
            return quota

        if quotas or use.grant is not None or use.claim is not None:
            return await self._executor.write(work, seal=seal, queue=use.subject)
        if is_deferred:
            await self._writer.defer(records, seal=seal, use=use)
        else:
            await self._writer.add(records, seal=seal, use=use)
        return None

    async def look(self, request: Look) -> Usage:
        return await self._executor.read(lambda session: usage.look(session, request))

    async def newest(self, *, call: str | None = None, limit: int = 100) -> list[RecordRow]:
        where = ""
        if call:
            where = "WHERE call = :call "
        sql = f"{SELECT} {where}ORDER BY seq DESC LIMIT :limit"
        values = {"call": call, "limit": limit}
        return await self._executor.read(lambda session: select(session, sql, values))

    async def scan(self, after: int, limit: int) -> list[RecordRow]:
        return await self._executor.read(lambda session: recording.scan(session, after, limit))

    async def matching(
        self, prefilter: Prefilter, first: int, last: int, *, limit: int, is_rising: bool = False
    ) -> list[RecordRow]:
        """Return the last record of each call that passes a prefilter, newest first.

        Searches the sequence numbers `first` to `last`; `is_rising` begins with the oldest.
        Records without a call are returned too.
        """
        conditions, values = prefilter.conditions()
        where = " AND ".join(("records.seq BETWEEN :first AND :last", *conditions, _IS_LAST))
        order = "ASC" if is_rising else "DESC"
        sql = f"{SELECT} WHERE {where} ORDER BY seq {order} LIMIT :limit"
        values |= {"first": first, "last": last, "limit": limit}
        return await self._executor.read(lambda session: select(session, sql, values))

    async def of_calls(self, calls: Sequence[str]) -> list[RecordRow]:
        return await self._executor.read(lambda session: recording.of_calls(session, calls))

    async def bounds(self) -> tuple[int, int]:
        """Return the first and the last sequence number; for an empty log, 1 and 0."""
        return await self._executor.read(recording.bounds)

    async def place_of(self, at: float) -> int:
        """Return the first sequence number whose record is from `at` (Unix seconds) or later.

        Records of several writers may be out of order, by the difference of their clocks.
        """
        return await self._executor.read(lambda session: _place_of(session, at))

    async def count(self) -> int:
        rows = await self._executor.query("SELECT count(*) FROM records")
        return rows[0][0]

    async def tally(
        self, *, subject: str | None = None, before: float | None = None
    ) -> list[tuple[str | None, int]]:
        """Return each subject with its number of records, largest first; `None` has no person's.

        Only records of `subject`, and from before `before` (Unix seconds), are counted.
        """
        where = "true"
        if subject is not None:
            where += " AND subject = :subject"
        if before is not None:
            where += " AND at < :before"
        sql = (
            f"SELECT subject, count(*) AS number FROM records WHERE {where} "
            "GROUP BY subject ORDER BY number DESC, subject"
        )
        values = {"subject": storable(subject or ""), "before": before}
        return [(name, number) for name, number in await self._executor.query(sql, values)]

    async def heads(self) -> list[Head]:
        return await self._executor.read(
            lambda session: [head for _, head in recording.ends(session)]
        )

    async def beat(self, writer: str, owner: str, *, seconds: float) -> None:
        """Renew a writer's lease. If the lease ends after `seconds`, the writer counts as dead."""

        def work(session: Session) -> None:
            lease = session.now() + seconds
            session.change(_BEAT, {"writer": writer, "owner": owner, "lease": lease})
            self._executor.set_clock(session)

        await self._executor.write(work)

    async def writers(self) -> list[WriterRow]:
        """Return the writers with a lease, valid or expired, the oldest lease first."""

        def work(session: Session) -> list[WriterRow]:
            now = session.now()
            rows = session.query("SELECT writer, owner, lease FROM writers ORDER BY lease, writer")
            return [WriterRow(writer, owner, lease <= now) for writer, owner, lease in rows]

        return await self._executor.read(work)

    async def take_over(self, writer: str, *, finish: Finish, seal: Seal) -> int | None:
        """Delete a writer's lease and finish its calls, in one transaction.

        `finish` gets the last attempts of calls without an outcome, oldest first, and returns the
        records to add. The idempotency keys of calls without an attempt are released. Returns the
        number of records added, or `None` if another process was faster.
        """

        def work(session: Session) -> int | None:
            sql = "DELETE FROM writers WHERE writer = :writer"
            if session.change(sql, {"writer": writer}) != 1:
                return None
            claims.abandon(session, writer)
            return _finish(session, writer, finish, seal)

        return await self._executor.write(work, seal=seal, queue=writer)

    async def finish(self, writer: str, *, finish: Finish, seal: Seal) -> int:
        """Finish a writer's calls without an outcome, as `take_over` does, in one transaction.

        The writer keeps its lease. Returns the number of records added.
        """
        return await self._executor.write(
            lambda session: _finish(session, writer, finish, seal), seal=seal, queue=writer
        )

    async def erase(self, subject: str, *, now: float, note: Note, seal: Seal) -> tuple[int, int]:
        """Erase a subject's payloads and other stored data, and record that, in one transaction.

        Open questions stay. Returns how many records lost their payload, and how many questions
        are still open.
        """

        def work(session: Session) -> tuple[int, int]:
            erased = _erase(session, subject)
            deleted = still_open = 0
            for account in tables.accounts_of(session, subject):
                dropped, remaining = questions.drop_of(session, account, now)
                deleted = deleted + dropped
                still_open = still_open + remaining
                grants.drop_of(session, account, now)
                for part in (usage, claims, apikeys, definitions):
                    part.drop_of(session, account)
            if erased or deleted:
                recording.add(session, [note(erased, deleted)], seal)
            return len(erased), still_open

        return await self._executor.write(work, seal=seal)

    async def prune(
        self, upto: Mapping[str, int], *, before: float, note: RecordRow, seal: Seal
    ) -> int:
        """Delete each writer's records up to an index, and questions from before `before`.

        For the writer `""` (records in no chain), the index is a sequence number. The record `note`
        is added in the same transaction. Returns how many records were deleted.
        """

        def work(session: Session) -> int:
            recording.add(session, [note], seal)
            questions.drop_before(session, before)
            deleted = 0
            for writer, index in upto.items():
                which = "writer = :writer AND idx" if writer else "writer IS NULL AND seq"
                sql = f"DELETE FROM records WHERE {which} <= :index"
                deleted += session.change(sql, {"writer": writer, "index": index})
            return deleted

        return await self._executor.write(work, seal=seal)


def _place_of(session: Session, at: float) -> int:
    low, high = recording.bounds(session)
    high += 1
    while low < high:
        middle = (low + high) // 2
        # Numbers may be missing, so take the next existing one.
        sql = "SELECT seq, at FROM records WHERE seq >= :middle ORDER BY seq LIMIT 1"
        seq, moment = session.query(sql, {"middle": middle})[0]
        if moment < at:
            low = seq + 1
        else:
            high = middle
    return low


def _finish(session: Session, writer: str, finish: Finish, seal: Seal) -> int:
    records = finish(select(session, _UNFINISHED, {"writer": writer}))
    recording.add(session, records, seal)
    return len(records)


def _erase(session: Session, subject: str) -> list[RecordRow]:
    values: dict[str, Any] = {"subject": subject}
    sql = (
        "UPDATE records SET payload = NULL, subject = NULL "
        f"WHERE subject = :subject RETURNING {COLUMNS}"
    )
    return sorted(select(session, sql, values), key=lambda record: record.seq)
