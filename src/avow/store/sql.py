"""The store on a SQL database: what is asked in statements, whichever database it is."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import anyio
import anyio.to_thread

from avow.errors import StoreError
from avow.store import (
    apikeys,
    claims,
    definitions,
    grants,
    lines,
    living,
    past,
    quarantines,
    questions,
    replicas,
    tables,
)
from avow.store.claims import Claim
from avow.store.group import GroupWriter
from avow.store.interface import Asked, Commit, Finish, Note, Seal
from avow.store.past import Lapse, Look, Past, Quota, Use
from avow.store.questions import Said
from avow.store.rows import (
    AnswerRow,
    ApiKeyRow,
    ApprovalRow,
    ApprovalState,
    DefinitionRow,
    GrantRow,
    Head,
    Known,
    QuarantineRow,
    RecordRow,
    ReplicaRow,
    WriterRow,
    storable,
)
from avow.store.session import Driver, Row, Session
from avow.store.sieve import Sieve

T = TypeVar("T")


class SqlStore:
    """A `Store` on two sessions: one reads, and one writes in groups."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._reader: Session | None = None
        self._turn = anyio.CapacityLimiter(1)
        self._writer = GroupWriter(driver, driver.open())
        self._is_closed = False

    @property
    def where(self) -> str:
        """See `Store.where`."""
        return self._driver.where

    @property
    def queued(self) -> int:
        """See `Store.queued`."""
        return self._writer.queued

    def measure(self, told: Callable[[Commit], None]) -> None:
        """See `Store.measure`."""
        self._writer.watch = told

    async def append(
        self, records: Sequence[RecordRow], *, seal: Seal | None = None, is_deferred: bool = False
    ) -> None:
        """See `Store.append`."""
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
        """See `Store.begin`."""

        def work(session: Session) -> Quota | Lapse | None:
            grant, alive = use.grant, use.at - use.idle
            if grant is not None and not grants.keep(session, grant, now=use.at, alive=alive):
                return Lapse(grant=grant)
            if use.claim is not None and not claims.keep(session, use.claim, records[0].call):
                return Lapse(claim=use.claim)
            quota = past.exceeded(session, use, quotas)
            if quota is None:
                lines.add(session, records, seal)
                past.note(session, [use])
            return quota

        if quotas or use.grant is not None or use.claim is not None:
            return await self._writer.run(work, seal=seal, queue=use.subject)
        if is_deferred:
            await self._writer.defer(records, seal=seal, use=use)
        else:
            await self._writer.add(records, seal=seal, use=use)
        return None

    async def look(self, at: Look) -> Past:
        """See `Store.look`."""
        return await self._read(lambda session: past.look(session, at))

    async def records(self, *, call: str | None = None, limit: int = 100) -> list[RecordRow]:
        """See `Store.records`."""
        return await self._read(lambda session: lines.newest(session, call, limit))

    async def scan(self, after: int, limit: int) -> list[RecordRow]:
        """See `Store.scan`."""
        return await self._read(lambda session: lines.scan(session, after, limit))

    async def sift(
        self, sieve: Sieve, first: int, last: int, *, limit: int, is_rising: bool = False
    ) -> list[RecordRow]:
        """See `Store.sift`."""
        return await self._read(
            lambda session: lines.sift(
                session, sieve, first, last, limit=limit, is_rising=is_rising
            )
        )

    async def of_calls(self, calls: Sequence[str]) -> list[RecordRow]:
        """See `Store.of_calls`."""
        return await self._read(lambda session: lines.of_calls(session, calls))

    async def bounds(self) -> tuple[int, int]:
        """See `Store.bounds`."""
        return await self._read(lines.bounds)

    async def place_of(self, at: float) -> int:
        """See `Store.place_of`."""
        return await self._read(lambda session: lines.place_of(session, at))

    async def count(self) -> int:
        """See `Store.count`."""
        return await self._read(lines.count)

    async def load(
        self,
        records: Sequence[RecordRow],
        approvals: Sequence[ApprovalRow] = (),
        others: Mapping[str, Sequence[Row]] | None = None,
    ) -> None:
        """See `Store.load`."""
        rows = [
            (*(getattr(one, name) for name in one.__slots__), _asker(one.body)[0])
            for one in approvals
        ]

        def work(session: Session) -> None:
            lines.load(session, records)
            questions.load(session, rows)
            tables.restore(session, others or {})
            session.renumber()

        await self._writer.run(work)

    async def dump(self) -> dict[str, list[Row]]:
        """See `Store.dump`."""
        return await self._read(tables.dump)

    async def heads(self) -> list[Head]:
        """See `Store.heads`."""
        return await self._read(lines.heads)

    async def beat(self, writer: str, owner: str, *, seconds: float) -> None:
        """See `Store.beat`."""
        await self._writer.run(lambda session: living.beat(session, writer, owner, seconds=seconds))

    async def writers(self) -> list[WriterRow]:
        """See `Store.writers`."""
        return await self._read(living.writers)

    async def take_over(self, writer: str, *, finish: Finish, seal: Seal) -> int | None:
        """See `Store.take_over`."""

        def work(session: Session) -> int | None:
            if not living.forget(session, writer):
                return None
            claims.abandon(session, writer)
            records = finish(lines.unfinished(session, writer))
            lines.add(session, records, seal)
            return len(records)

        return await self._writer.run(work, seal=seal, queue=writer)

    async def finish(self, writer: str, *, finish: Finish, seal: Seal) -> int:
        """See `Store.finish`."""

        def work(session: Session) -> int:
            records = finish(lines.unfinished(session, writer))
            lines.add(session, records, seal)
            return len(records)

        return await self._writer.run(work, seal=seal, queue=writer)

    async def erase(self, subject: str, *, now: float, note: Note, seal: Seal) -> tuple[int, int]:
        """See `Store.erase`."""

        def work(session: Session) -> tuple[int, int]:
            erased = lines.erase(session, subject)
            gone, still_open = questions.drop_of(session, subject, now)
            for part in (grants, past, claims, apikeys, definitions):
                part.drop_of(session, subject)
            if erased or gone:
                lines.add(session, [note(erased, gone)], seal)
            return len(erased), still_open

        return await self._writer.run(work, seal=seal)

    async def prune(
        self, upto: Mapping[str, int], *, before: float, note: RecordRow, seal: Seal
    ) -> int:
        """See `Store.prune`."""

        def work(session: Session) -> int:
            lines.add(session, [note], seal)
            questions.drop_before(session, before)
            return lines.drop(session, upto)

        return await self._writer.run(work, seal=seal)

    async def open_approval(
        self,
        binding: str,
        body: str,
        *,
        now: float,
        expires: float,
        needed: int = 1,
        idle: float = 0.0,
        asked: Asked | None = None,
        seal: Seal | None = None,
    ) -> ApprovalRow:
        """See `Store.open_approval`."""
        subject, client = _asker(body)
        values = {
            "binding": binding,
            "body": body,
            "now": now,
            "expires": expires,
            "needed": needed,
            "subject": subject,
        }

        def work(session: Session) -> ApprovalRow:
            if subject is not None and client is not None:
                past.converse(session, subject, client, now=now, idle=idle)
            row = questions.open_question(session, values)
            is_pending = row.state is ApprovalState.PENDING
            record = asked(row) if asked is not None and is_pending else None
            if record is not None:
                lines.add(session, [record], seal)
            return row

        return await self._writer.run(work, seal=seal, queue=subject)

    async def approval(self, number: int, *, now: float) -> ApprovalRow | None:
        """See `Store.approval`."""
        rows = await self._read(lambda session: questions.one(session, number))
        return questions.approval_at(rows[0], now) if rows else None

    async def approvals(self, *, now: float, limit: int = 100) -> list[ApprovalRow]:
        """See `Store.approvals`."""
        rows = await self._read(lambda session: questions.newest(session, now, limit))
        return [questions.approval_at(row, now) for row in rows]

    async def pending(self, *, now: float, limit: int, after: int = 0) -> list[ApprovalRow]:
        """See `Store.pending`."""
        rows = await self._read(lambda session: questions.pending(session, now, limit, after))
        return [questions.approval_at(row, now) for row in rows]

    async def settled(
        self, *, now: float, limit: int, before: int | None = None
    ) -> list[ApprovalRow]:
        """See `Store.settled`."""
        rows = await self._read(lambda session: questions.settled(session, now, limit, before))
        return [questions.approval_at(row, now) for row in rows]

    async def count_pending(self, *, now: float) -> int:
        """See `Store.count_pending`."""
        return await self._read(lambda session: questions.count_pending(session, now))

    async def answer_approval(self, said: Said) -> bool:
        """See `Store.answer_approval`."""
        return await self._writer.run(lambda session: questions.answer(session, said))

    async def withdraw_approval(self, number: int, *, now: float) -> bool:
        """See `Store.withdraw_approval`."""
        return await self._writer.run(lambda session: questions.withdraw(session, number, now))

    async def answers(self, number: int) -> list[AnswerRow]:
        """See `Store.answers`."""
        return await self._read(lambda session: questions.answers(session, number))

    async def use_approval(self, number: int, *, binding: str, call: str, now: float) -> bool:
        """See `Store.use_approval`."""
        values = {"number": number, "binding": binding, "call": call, "now": now}
        return await self._writer.run(lambda session: questions.use(session, values))

    async def find_grant(self, narrow: str, wide: str, *, alive: float) -> GrantRow | None:
        """See `Store.find_grant`."""
        return await self._read(lambda session: grants.find(session, narrow, wide, alive=alive))

    async def use_grant(self, number: int, *, now: float, alive: float) -> bool:
        """See `Store.use_grant`."""
        return await self._writer.run(
            lambda session: grants.use(session, number, now=now, alive=alive)
        )

    async def revoke_grant(
        self,
        number: int,
        *,
        by: str,
        now: float,
        record: RecordRow | None = None,
        seal: Seal | None = None,
    ) -> bool:
        """See `Store.revoke_grant`."""

        def work(session: Session) -> bool:
            was_there = grants.revoke(session, number, by=by, now=now)
            if was_there and record is not None:
                lines.add(session, [record], seal)
            return was_there

        return await self._writer.run(work, seal=seal)

    async def grants(self, *, limit: int = 100, alive: float = 0.0) -> list[GrantRow]:
        """See `Store.grants`."""
        return await self._read(lambda session: grants.newest(session, limit, alive=alive))

    async def claim(self, wanted: Claim, *, now: float) -> Claim:
        """See `Store.claim`."""
        return await self._writer.run(
            lambda session: claims.claim(session, wanted, now=now), queue=wanted.writer or None
        )

    async def find_claim(self, key: str) -> Claim | None:
        """See `Store.find_claim`."""
        return await self._read(lambda session: claims.find(session, key))

    async def settle_claim(self, key: str, call: str, answer: str | None) -> None:
        """See `Store.settle_claim`."""
        await self._writer.run(lambda session: claims.settle(session, key, call, answer))

    async def spend(self, token: str, *, now: float, expires: float) -> bool:
        """See `Store.spend`."""
        return await self._writer.run(
            lambda session: claims.spend(session, token, now=now, expires=expires)
        )

    async def add_api_key(self, row: ApiKeyRow) -> None:
        """See `Store.add_api_key`."""
        await self._writer.run(lambda session: apikeys.add(session, row))

    async def find_api_key(self, number: str) -> ApiKeyRow | None:
        """See `Store.find_api_key`."""
        return await self._read(lambda session: apikeys.find(session, number))

    async def api_keys(self) -> list[ApiKeyRow]:
        """See `Store.api_keys`."""
        return await self._read(apikeys.listed)

    async def revoke_api_keys(self, which: str, *, by: str, now: float) -> int:
        """See `Store.revoke_api_keys`."""
        return await self._writer.run(
            lambda session: apikeys.revoke(session, which, by=by, now=now)
        )

    async def touch_api_key(self, number: str, *, at: float) -> None:
        """See `Store.touch_api_key`."""
        await self._writer.run(lambda session: apikeys.touch(session, number, at=at))

    async def known(self, place: str) -> dict[str, Known]:
        """See `Store.known`."""
        return await self._read(lambda session: definitions.known(session, place))

    async def definitions(
        self, place: str | None = None, *, is_held: bool = False
    ) -> list[DefinitionRow]:
        """See `Store.definitions`."""
        return await self._read(lambda session: definitions.all_of(session, place, is_held=is_held))

    async def put_definitions(self, rows: Sequence[DefinitionRow]) -> None:
        """See `Store.put_definitions`."""
        await self._writer.run(lambda session: definitions.put(session, rows))

    async def accept_definition(
        self, row: DefinitionRow, *, by: str, now: float, record: RecordRow, seal: Seal | None
    ) -> bool:
        """See `Store.accept_definition`."""
        return await self._recorded(
            lambda session: definitions.accept(session, row, by=by, now=now), record, seal
        )

    async def _recorded(
        self, change: Callable[[Session], bool], record: RecordRow, seal: Seal | None
    ) -> bool:
        """Make a change, and write down that it was made; whether it was."""

        def work(session: Session) -> bool:
            has_counted = change(session)
            if has_counted:
                lines.add(session, [record], seal)
            return has_counted

        return await self._writer.run(work, seal=seal)

    async def quarantines(self, place: str | None = None) -> list[QuarantineRow]:
        """See `Store.quarantines`."""
        return await self._read(lambda session: quarantines.listed(session, place))

    async def quarantine(self, row: QuarantineRow, *, record: RecordRow, seal: Seal | None) -> bool:
        """See `Store.quarantine`."""
        return await self._recorded(lambda session: quarantines.add(session, row), record, seal)

    async def lift_quarantine(
        self, row: QuarantineRow, *, record: RecordRow, seal: Seal | None
    ) -> bool:
        """See `Store.lift_quarantine`."""
        return await self._recorded(lambda session: quarantines.lift(session, row), record, seal)

    async def is_spent(self, token: str) -> bool:
        """See `Store.is_spent`."""
        return await self._read(lambda session: claims.is_spent(session, token))

    async def beat_replica(self, row: ReplicaRow, *, seconds: float) -> None:
        """See `Store.beat_replica`."""
        await self._writer.run(lambda session: replicas.beat(session, row, seconds=seconds))

    async def replicas(self) -> list[ReplicaRow]:
        """See `Store.replicas`."""
        return await self._read(replicas.listed)

    async def drop_replica(self, name: str) -> None:
        """See `Store.drop_replica`."""
        await self._writer.run(lambda session: replicas.drop(session, name))

    async def watch(self, tell: Callable[[int], None]) -> None:
        """See `Store.watch`."""
        await self._driver.watch(tell)

    async def close(self) -> None:
        """See `Store.close`."""
        self._is_closed = True
        await self._writer.close()
        reader, self._reader = self._reader, None
        if reader is not None:
            await anyio.to_thread.run_sync(reader.close, limiter=self._turn)

    async def _read(self, work: Callable[[Session], T]) -> T:
        if self._is_closed:
            raise StoreError("the database cannot be used: it is closed", where=self.where)
        await self._writer.flush()
        return await anyio.to_thread.run_sync(self._read_here, work, limiter=self._turn)

    def _read_here(self, work: Callable[[Session], T]) -> T:
        """Read; again on a new connection when the one at hand turns out to be gone."""
        is_new = self._reader is None
        try:
            if self._reader is None:
                self._reader = self._driver.open()
            return work(self._reader)
        except self._driver.errors as error:
            if self._driver.is_lost(error):
                self._reader = None
                if not is_new:
                    return self._read_here(work)
            raise self._driver.explain(error) from error


def _asker(body: str) -> tuple[str | None, str | None]:
    """Who asked and through which client, as far as the floor above says so."""
    told: Any = json.loads(body)
    fields = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    subject, client = (
        storable(one) if isinstance(one := fields.get(name), str) else None
        for name in ("subject", "client")
    )
    return subject, client
