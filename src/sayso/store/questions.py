"""Questions to people. Each answer and each use is one conditional update."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from sayso.errors import DeniedError, StoreError
from sayso.store import answering, recording, tokens, usage
from sayso.store.recording import Seal
from sayso.store.rows import AnswerRow, ApprovalRow, ApprovalState, GrantRow, RecordRow, storable
from sayso.store.session import Row, Session

if TYPE_CHECKING:
    from sayso.store.executor import Executor

COLUMNS: Final = (
    "number, binding, body, state, created, expires, answered_at, answered_by, channel, used_by, "
    "needed, edit, mac"
)
_LAST: Final = 2**62
"""A number that no question reaches."""
_MAX_FORGED: Final = 8
"""The maximum number of forged rows of one binding that `_open` voids before it fails."""
_OPEN: Final = "state IN ('pending', 'approved')"
_EXPIRE: Final = (
    f"UPDATE approvals SET state = 'expired' WHERE binding = :binding AND {_OPEN} "
    "AND expires <= :now"
)
_FIND_OPEN: Final = (
    f"SELECT {COLUMNS} FROM approvals WHERE binding = :binding AND ({_OPEN} "
    "OR (state = 'denied' AND expires > :now)) ORDER BY number DESC LIMIT 1"
)
_PENDING: Final = f"{_OPEN} AND state = 'pending' AND expires > :now"
"""Repeats `_OPEN`, so that the database uses the index of open questions."""
_COUNT_OF: Final = f"SELECT count(*) FROM approvals WHERE {_PENDING} AND subject = :subject"
_SUBJECT_OF: Final = "(SELECT coalesce(subject, '') FROM approvals WHERE number = :after)"
_TURN_OF: Final = (
    f"SELECT count(*) + 1 FROM approvals WHERE {_PENDING} AND number < :after "
    f"AND coalesce(subject, '') = {_SUBJECT_OF}"
)
_IN_TURNS: Final = (
    f"SELECT {COLUMNS} FROM approvals JOIN (SELECT number, row_number() OVER "
    "(PARTITION BY coalesce(subject, '') ORDER BY number) AS turn FROM approvals "
    f"WHERE {_PENDING}) AS turns USING (number) "
    "WHERE turn > :turn OR (turn = :turn AND number > :after) ORDER BY turn, number LIMIT :limit"
)
_INSERT: Final = (
    "INSERT INTO approvals (binding, body, state, created, expires, needed, subject) "
    "VALUES (:binding, :body, 'pending', :now, :expires, :needed, :subject) "
    f"ON CONFLICT (binding) WHERE {_OPEN} DO NOTHING RETURNING {COLUMNS}"
)
_USE: Final = (
    "UPDATE approvals SET state = 'used', used_by = :call "
    "WHERE number = :number AND binding = :binding AND state = 'approved' AND expires > :now"
)
_WITHDRAW: Final = (
    "UPDATE approvals SET state = 'expired', expires = :now "
    f"WHERE number = :number AND {_OPEN} AND expires > :now"
)
_FIND: Final = f"SELECT {COLUMNS} FROM approvals WHERE number = :number"
_NEWEST: Final = (
    f"SELECT {COLUMNS} FROM approvals "
    "ORDER BY state = 'pending' AND expires > :now DESC, number DESC LIMIT :limit"
)
_SETTLED: Final = (
    f"SELECT {COLUMNS} FROM approvals WHERE NOT (state = 'pending' AND expires > :now) "
    "AND number < :before ORDER BY number DESC LIMIT :limit"
)
_CLOSED: Final = f"NOT ({_OPEN} AND expires > :now)"
_LOAD: Final = (
    f"INSERT INTO approvals ({COLUMNS}, subject) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SIGN: Final = "UPDATE approvals SET mac = :mac WHERE number = :number"
_VOID: Final = "UPDATE approvals SET state = 'expired', expires = :now WHERE number = :number"

Sign = Callable[[ApprovalRow], str]
"""Signs a question that was just written."""
Judge = Callable[[ApprovalRow, Sequence[AnswerRow]], bool]
"""Returns whether the signatures of a question and its answers are valid."""
Asked = Callable[[ApprovalRow], RecordRow | None]
"""Makes the record of a call that asks or joins a question; returns `None` if it has a record."""


class Questions:
    """Questions to people, their answers and their uses.

    `now` is Unix seconds by the database's clock (`Database.clock`).
    """

    def __init__(self, executor: "Executor") -> None:
        self._executor = executor

    async def open(  # noqa: PLR0913 - each is a part of its own, most with a default
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
        sign: Sign | None = None,
        judge: Judge | None = None,
        most: int | None = None,
    ) -> ApprovalRow:
        """Return the open question of this binding, or a new one that `needed` people must answer.

        Open questions are pending, approved and not used, or recently denied. For a pending one,
        `asked` makes a record, which is written in the same transaction: a person sees no question
        that is not recorded. If `body` names the caller, this also continues the caller's
        conversation, which ends after `idle` seconds. `sign` signs a new question. A row that
        `judge` rejects is voided, and asked again. Raises `DeniedError` if a new question is needed
        and `most` questions of its subject are pending.
        """
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
                usage.converse(session, subject, client, now=now, idle=idle)
            row = _open(session, values, sign=sign, judge=judge, most=most)
            if row is None:
                return None
            if asked is not None and row.state is ApprovalState.PENDING:
                record = asked(row)
                if record is not None:
                    recording.add(session, [record], seal)
            return row

        # Serialized by subject, so that two processes cannot both count before they write.
        row = await self._executor.write(work, seal=seal, queue=subject)
        if row is None:
            raise DeniedError(f"{most} questions of this caller already wait for an answer")
        return row

    async def find(self, number: int, *, now: float) -> ApprovalRow | None:
        rows = await self._executor.query(_FIND, {"number": number})
        return _approval_at(rows[0], now) if rows else None

    async def newest(self, *, now: float, limit: int = 100) -> list[ApprovalRow]:
        rows = await self._executor.query(_NEWEST, {"now": now, "limit": limit})
        return [_approval_at(row, now) for row in rows]

    async def pending(self, *, now: float, limit: int, after: int = 0) -> list[ApprovalRow]:
        """Return pending questions, one of each subject in turn.

        First comes the oldest question of each subject, then the second of each, and so on. So many
        questions of one subject do not delay the others. `after` is the last number of the previous
        page. If a question was settled meanwhile, the later questions of its subject move up.
        """
        values = {"now": now, "limit": limit, "after": after}

        def work(session: Session) -> list[Row]:
            turn = session.query(_TURN_OF, values)[0][0] if after else 0
            return session.query(_IN_TURNS, {**values, "turn": turn})

        return [_approval_at(row, now) for row in await self._executor.read(work)]

    async def settled(
        self, *, now: float, limit: int, before: int | None = None
    ) -> list[ApprovalRow]:
        values = {"now": now, "limit": limit, "before": _LAST if before is None else before}
        rows = await self._executor.query(_SETTLED, values)
        return [_approval_at(row, now) for row in rows]

    async def count_pending(self, *, now: float) -> int:
        sql = f"SELECT count(*) FROM approvals WHERE {_PENDING}"
        rows = await self._executor.query(sql, {"now": now})
        return rows[0][0]

    async def pending_among(self, numbers: Collection[int], *, now: float) -> set[int]:
        # Write the numbers into the statement, because thousands of parameters take longer.
        places = ", ".join(str(int(number)) for number in numbers) or "NULL"
        sql = (
            f"SELECT number FROM approvals WHERE number IN ({places}) "
            "AND state = 'pending' AND expires > :now"
        )
        return {number for (number,) in await self._executor.query(sql, {"now": now})}

    async def answer(
        self,
        row: AnswerRow,
        *,
        seen: str = "",
        grant: Mapping[str, Any] | None = None,
        sign_grant: Callable[[GrantRow], str] | None = None,
        token: str | None = None,
        notify: str | None = None,
    ) -> bool:
        """Answer a pending question as `answering.answer` does, all in one transaction."""
        return await self._executor.write(
            lambda session: answering.answer(
                session,
                row,
                seen=seen,
                grant=grant,
                sign_grant=sign_grant,
                token=token,
                notify=notify,
            )
        )

    async def answers(self, number: int) -> list[AnswerRow]:
        return await self._executor.read(lambda session: answering.answers(session, number))

    async def withdraw(
        self, number: int, *, now: float, token: str | None = None, notify: str | None = None
    ) -> bool:
        """Let a question expire now. Return `False` if it was closed or used already.

        This also spends `token`. `notify` is the channel on which other processes are notified.
        """

        def work(session: Session) -> bool:
            if token is not None:
                tokens.spend(session, token, now=now, expires=now)
            is_open = session.change(_WITHDRAW, {"number": number, "now": now}) == 1
            if is_open and notify is not None:
                session.announce(notify, number)
            return is_open

        return await self._executor.write(work)

    async def use(
        self,
        number: int,
        *,
        binding: str,
        call: str,
        now: float,
        token: str | None = None,
        expires: float = 0.0,
    ) -> bool:
        """Use an approval for one call; return whether it could be used.

        `token`, which is invalid from `expires` on, is spent in the same transaction. If it was
        spent before, the approval cannot be used.
        """
        values = {"number": number, "binding": binding, "call": call, "now": now}

        def work(session: Session) -> bool:
            if session.change(_USE, values) != 1:
                return False
            return token is None or tokens.spend(session, token, now=now, expires=expires)

        return await self._executor.write(work)

    async def watch(self, notified: Callable[[int], None], channel: str) -> None:
        """Call `notified` with the number of each question answered elsewhere, until cancelled.

        `channel` is the channel on which other processes send these numbers; other texts are
        ignored. Returns at once if the database cannot notify, so callers must poll too.
        """
        await self._executor.driver.watch(notified, channel)


def _open(
    session: Session,
    values: dict[str, Any],
    *,
    sign: Sign | None = None,
    judge: Judge | None = None,
    most: int | None = None,
) -> ApprovalRow | None:
    """Return the open question of a binding, or a new one, or `None` if too many are pending.

    If `judge` rejects a row, another program wrote it: the row is voided, and a new question is
    written. Raises `StoreError` if that fails repeatedly.
    """
    forged = 0
    while forged <= _MAX_FORGED:
        session.change(_EXPIRE, values)
        # If another process inserts its question first, the next iteration finds that row.
        rows = session.query(_FIND_OPEN, values)
        if not rows:
            if most is not None and session.query(_COUNT_OF, values)[0][0] >= most:
                return None
            rows = session.query(_INSERT, values)
            if rows and sign is not None:
                rows = [_signed(session, rows[0], sign)]
        if not rows:
            continue
        row = _approval(rows[0])
        if judge is None or judge(row, answering.answers(session, row.number)):
            return row
        forged += 1
        session.change(_VOID, {"number": row.number, "now": values["now"]})
    raise StoreError("the database does not store questions as they are written")


def _signed(session: Session, row: Row, sign: Sign) -> Row:
    mac = sign(_approval(row))
    if session.change(_SIGN, {"number": row[0], "mac": mac}) != 1:
        raise StoreError("the database did not store the signature of a question")
    return (*row[:-1], mac)


def load(session: Session, rows: Sequence[ApprovalRow]) -> None:
    """Write questions, and keep their numbers."""
    values = [
        (*(getattr(row, name) for name in row.__slots__), _asker(row.body)[0]) for row in rows
    ]
    session.insert(_LOAD, values)


def drop_of(session: Session, subject: str, now: float) -> tuple[int, int]:
    """Delete one person's closed questions. Return how many were deleted, and how many remain."""
    values = {"subject": subject, "now": now}
    closed = f"subject = :subject AND {_CLOSED}"
    session.change(
        f"DELETE FROM answers WHERE number IN (SELECT number FROM approvals WHERE {closed})", values
    )
    deleted = session.change(f"DELETE FROM approvals WHERE {closed}", values)
    session.change(
        "UPDATE approvals SET answered_by = 'erased' WHERE answered_by = :subject", values
    )
    session.change("UPDATE answers SET person = 'erased' WHERE person = :subject", values)
    sql = "SELECT count(*) FROM approvals WHERE subject = :subject"
    return deleted, session.query(sql, values)[0][0]


def drop_before(session: Session, before: float) -> None:
    """Delete the questions that expired before the time `before`."""
    values = {"before": before}
    old = "SELECT number FROM approvals WHERE expires < :before"
    session.change(f"DELETE FROM answers WHERE number IN ({old})", values)
    session.change("DELETE FROM approvals WHERE expires < :before", values)


def _approval(row: Row) -> ApprovalRow:
    number, binding, body, state, *rest = row
    return ApprovalRow(number, binding, body, ApprovalState(state), *rest)


def _approval_at(row: Row, now: float) -> ApprovalRow:
    """Return the question with its state at `now`; the row may not be marked as expired yet."""
    question = _approval(row)
    is_open = question.state in (ApprovalState.PENDING, ApprovalState.APPROVED)
    if not is_open or question.expires > now:
        return question
    return _approval((*row[:3], ApprovalState.EXPIRED, *row[4:]))


def _asker(body: str) -> tuple[str | None, str | None]:
    """Return the account and the client in a question's body, if they are there."""
    fields: Any = json.loads(body)
    members = cast("dict[str, Any]", fields) if isinstance(fields, dict) else {}
    account = members.get("account", members.get("subject"))
    return _text(account), _text(members.get("client"))


def _text(value: object) -> str | None:
    return storable(value) if isinstance(value, str) else None
