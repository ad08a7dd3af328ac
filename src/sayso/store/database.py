"""An open database, with one object for each subject."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sayso.errors import UsageError
from sayso.store import questions, recording, tables
from sayso.store.apikeys import ApiKeys
from sayso.store.claims import Claims
from sayso.store.definitions import Definitions
from sayso.store.executor import Executor
from sayso.store.grants import Grants
from sayso.store.group import Commit
from sayso.store.quarantines import Quarantines
from sayso.store.questions import Questions
from sayso.store.records import Records
from sayso.store.replicas import Replicas
from sayso.store.rows import ApprovalRow, RecordRow
from sayso.store.session import Driver, Row, Session
from sayso.store.tokens import Tokens

_PAGE: Final = 1000
_ALL: Final = 2**31 - 1


class Database:
    """An open database, with one attribute per subject.

    Pass to each part of the program only the subjects that it uses.
    """

    def __init__(self, driver: Driver) -> None:
        self._executor = Executor(driver)
        self.records = Records(self._executor)
        self.questions = Questions(self._executor)
        self.grants = Grants(self._executor)
        self.claims = Claims(self._executor)
        self.tokens = Tokens(self._executor)
        self.api_keys = ApiKeys(self._executor)
        self.definitions = Definitions(self._executor)
        self.quarantines = Quarantines(self._executor)
        self.replicas = Replicas(self._executor)

    @property
    def where(self) -> str:
        return self._executor.driver.where

    @property
    def queued(self) -> int:
        return self._executor.writer.queued

    def measure(self, report: Callable[[Commit], None]) -> None:
        self._executor.writer.watch = report

    def clock(self) -> float:
        """Return the time in Unix seconds, by the clock that all processes here share."""
        return self._executor.clock()

    async def load(
        self,
        records: Sequence[RecordRow],
        approvals: Sequence[ApprovalRow] = (),
        others: Mapping[str, Sequence[Row]] | None = None,
    ) -> None:
        def work(session: Session) -> None:
            recording.load(session, records)
            questions.load(session, approvals)
            tables.restore(session, others or {})
            session.renumber()

        await self._executor.write(work)

    async def dump(self) -> dict[str, list[Row]]:
        return await self._executor.read(tables.dump)

    async def close(self) -> None:
        await self._executor.close()


async def move_store(
    source: Database, target: Database, progress: Callable[[int], None] = lambda _: None
) -> int:
    """Copy all records and questions into an empty store; return the number of records.

    The source does not change. No process may write to either store meanwhile. Raises `UsageError`
    if the target is not empty. After a `StoreError`, start again with an empty target.
    """
    asked = await target.questions.newest(now=0.0, limit=1)
    if asked or await target.records.count() or await target.api_keys.all():
        fix = "Move into an empty database."
        raise UsageError("this store is not empty", where=target.where, fix=fix)
    moved = 0
    after = 0
    while rows := await source.records.scan(after, _PAGE):
        await target.load(rows)
        moved += len(rows)
        after = rows[-1].seq
        progress(moved)
    # With now=0 no question has expired, so each row is returned as it was written.
    await target.load([], await source.questions.newest(now=0.0, limit=_ALL), await source.dump())
    return moved
