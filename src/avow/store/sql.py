"""The store on a SQL database: what is asked in statements, whichever database it is."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import anyio
import anyio.to_thread

from avow.errors import StoreError
from avow.store import lines, living, questions
from avow.store.group import GroupWriter
from avow.store.interface import Finish, Note, Seal
from avow.store.rows import ApprovalRow, ApprovalState, Head, RecordRow, WriterRow, storable
from avow.store.session import Driver, Session

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

    async def append(
        self, records: Sequence[RecordRow], *, seal: Seal | None = None, is_deferred: bool = False
    ) -> None:
        """See `Store.append`."""
        if is_deferred:
            await self._writer.defer(records, seal=seal)
        else:
            await self._writer.add(records, seal=seal)

    async def records(self, *, call: str | None = None, limit: int = 100) -> list[RecordRow]:
        """See `Store.records`."""
        return await self._read(lambda session: lines.newest(session, call, limit))

    async def scan(self, after: int, limit: int) -> list[RecordRow]:
        """See `Store.scan`."""
        return await self._read(lambda session: lines.scan(session, after, limit))

    async def count(self) -> int:
        """See `Store.count`."""
        return await self._read(lines.count)

    async def load(self, records: Sequence[RecordRow], approvals: Sequence[ApprovalRow]) -> None:
        """See `Store.load`."""
        rows = [
            (*(getattr(one, name) for name in one.__slots__), _subject(one.body))
            for one in approvals
        ]

        def work(session: Session) -> None:
            lines.load(session, records)
            questions.load(session, rows)
            session.renumber()

        await self._writer.run(work)

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
            records = finish(lines.unfinished(session, writer))
            lines.add(session, records, seal)
            return len(records)

        return await self._writer.run(work, seal=seal)

    async def erase(self, subject: str, *, now: float, note: Note, seal: Seal) -> tuple[int, int]:
        """See `Store.erase`."""

        def work(session: Session) -> tuple[int, int]:
            erased = lines.erase(session, subject)
            gone, still_open = questions.drop_of(session, subject, now)
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
        self, binding: str, body: str, *, now: float, expires: float
    ) -> ApprovalRow:
        """See `Store.open_approval`."""
        values = {
            "binding": binding,
            "body": body,
            "now": now,
            "expires": expires,
            "subject": _subject(body),
        }
        return await self._writer.run(lambda session: questions.open_question(session, values))

    async def approval(self, number: int, *, now: float) -> ApprovalRow | None:
        """See `Store.approval`."""
        rows = await self._read(lambda session: questions.one(session, number))
        return questions.approval_at(rows[0], now) if rows else None

    async def approvals(self, *, now: float, limit: int = 100) -> list[ApprovalRow]:
        """See `Store.approvals`."""
        rows = await self._read(lambda session: questions.newest(session, now, limit))
        return [questions.approval_at(row, now) for row in rows]

    async def answer_approval(
        self, number: int, *, is_allowed: bool, by: str, channel: str, now: float, expires: float
    ) -> bool:
        """See `Store.answer_approval`."""
        state = ApprovalState.APPROVED if is_allowed else ApprovalState.DENIED
        values = {
            "number": number,
            "state": str(state),
            "by": by,
            "channel": channel,
            "now": now,
            "expires": expires,
        }
        return await self._writer.run(lambda session: questions.answer(session, values))

    async def use_approval(self, number: int, *, binding: str, call: str, now: float) -> bool:
        """See `Store.use_approval`."""
        values = {"number": number, "binding": binding, "call": call, "now": now}
        return await self._writer.run(lambda session: questions.use(session, values))

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


def _subject(body: str) -> str | None:
    """Who asked, as far as the floor above says so."""
    told: Any = json.loads(body)
    subject = cast("dict[str, Any]", told).get("subject") if isinstance(told, dict) else None
    return storable(subject) if isinstance(subject, str) else None
