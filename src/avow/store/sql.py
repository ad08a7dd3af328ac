"""The store on a SQL database: what is asked in statements, whichever database it is."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

from avow.errors import DeniedError
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
from avow.store.base import SqlBase
from avow.store.claims import Claim
from avow.store.interface import Asked, Finish, Note, Seal
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
from avow.store.session import Row, Session
from avow.store.sieve import Sieve


class SqlStore(SqlBase):
    """A `Store` on two sessions: one reads, and one writes in groups."""

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

    async def tally(
        self, *, subject: str | None = None, before: float | None = None
    ) -> list[tuple[str | None, int]]:
        """See `Store.tally`."""
        return await self._read(
            lambda session: lines.tally(session, subject=subject, before=before)
        )

    async def heads(self) -> list[Head]:
        """See `Store.heads`."""
        return await self._read(lines.heads)

    async def beat(self, writer: str, owner: str, *, seconds: float) -> None:
        """See `Store.beat`."""

        def work(session: Session) -> None:
            living.beat(session, writer, owner, seconds=seconds)
            self._set_clock(session)

        await self._writer.run(work)

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
            gone = still_open = 0
            for account in tables.accounts_of(session, subject):
                dropped, left = questions.drop_of(session, account, now)
                gone, still_open = gone + dropped, still_open + left
                grants.drop_of(session, account, now)
                for part in (past, claims, apikeys, definitions):
                    part.drop_of(session, account)
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

    async def open_approval(  # noqa: PLR0913 - each is a part of its own, most with a default
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
        sign: questions.Sign | None = None,
        judge: questions.Judge | None = None,
        most: int | None = None,
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

        def work(session: Session) -> ApprovalRow | None:
            if subject is not None and client is not None:
                past.converse(session, subject, client, now=now, idle=idle)
            row = questions.open_question(session, values, sign=sign, judge=judge, most=most)
            if row is None:
                return None
            is_pending = row.state is ApprovalState.PENDING
            record = asked(row) if asked is not None and is_pending else None
            if record is not None:
                lines.add(session, [record], seal)
            return row

        # One after another for each subject, so that no two count before either has written.
        row = await self._writer.run(work, seal=seal, queue=subject)
        if row is None:
            raise DeniedError(f"{most} questions of this caller wait for an answer already")
        return row

    async def pending_among(self, numbers: Collection[int], *, now: float) -> set[int]:
        """See `Store.pending_among`."""
        return await self._read(lambda session: questions.pending_among(session, numbers, now))

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

    async def withdraw_approval(
        self, number: int, *, now: float, token: str | None = None, notify: str | None = None
    ) -> bool:
        """See `Store.withdraw_approval`."""
        return await self._writer.run(
            lambda session: questions.withdraw(session, number, now, token=token, notify=notify)
        )

    async def answers(self, number: int) -> list[AnswerRow]:
        """See `Store.answers`."""
        return await self._read(lambda session: questions.answers(session, number))

    async def use_approval(
        self,
        number: int,
        *,
        binding: str,
        call: str,
        now: float,
        token: str | None = None,
        expires: float = 0.0,
    ) -> bool:
        """See `Store.use_approval`."""
        values = {"number": number, "binding": binding, "call": call, "now": now}
        return await self._writer.run(
            lambda session: questions.use(session, values, token=token, expires=expires)
        )

    async def find_grant(
        self, narrow: str, wide: str, *, alive: float, token_of: grants.TokenOf | None = None
    ) -> GrantRow | None:
        """See `Store.find_grant`."""
        return await self._read(
            lambda session: grants.find(session, narrow, wide, alive=alive, token_of=token_of)
        )

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
        token: str | None = None,
        record: RecordRow | None = None,
        seal: Seal | None = None,
    ) -> bool:
        """See `Store.revoke_grant`."""

        def work(session: Session) -> bool:
            was_there = grants.revoke(session, number, by=by, now=now, token=token)
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

    async def running_claims(self, keys: Collection[str]) -> set[tuple[str, str]]:
        """See `Store.running_claims`."""
        return await self._read(lambda session: claims.running(session, keys))

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

    async def watch(self, tell: Callable[[int], None], channel: str) -> None:
        """See `Store.watch`."""
        await self._driver.watch(tell, channel)


def _asker(body: str) -> tuple[str | None, str | None]:
    """Return the account that asked and its client, as far as the floor above says so."""
    told: Any = json.loads(body)
    fields = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    subject, client = (
        storable(one) if isinstance(one := fields.get(name), str) else None
        for name in ("account" if "account" in fields else "subject", "client")
    )
    return subject, client
