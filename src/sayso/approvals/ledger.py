"""The ledger of questions and grants. A question is answered once, and its approval used once."""

import json
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

import anyio

from sayso.approvals.answer import Answer, Strength, check_answer
from sayso.approvals.grant import Grant, grant_body, read_grant
from sayso.approvals.question import Approval, Question
from sayso.approvals.signatures import Signer, process_keys
from sayso.approvals.waiting import Waiters
from sayso.beside import beside
from sayso.errors import UsageError
from sayso.intent import Span
from sayso.keys import Keyring
from sayso.policy import MAX_OPEN_QUESTIONS
from sayso.store import (
    AnswerRow,
    ApprovalRow,
    ApprovalState,
    Asked,
    GrantRow,
    Grants,
    Questions,
    Seal,
    Tokens,
    storable,
)

if TYPE_CHECKING:
    from sayso.store import Database

_POLL_SECONDS: Final = 0.5
"""The polling interval for answers in other processes; notifications wake waiters at once."""

IDLE_SECONDS: Final = 1800.0
"""The silence after which a conversation ends."""

CONVERSATION_SECONDS: Final = 12 * 3600.0
"""The longest validity of a grant for a conversation."""

QUESTION_SECONDS: Final = 900.0
APPROVAL_SECONDS: Final = 300.0
DENIAL_SECONDS: Final = 300.0
"""How long a question can be answered, an approval can be used, and a denial applies."""

_GRANT: Final = "grant"
_QUESTION: Final = "question"
_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class Approvals:
    """The ledger of questions and grants. Safe to use from many tasks and processes.

    Rows that `keys` did not sign are ignored. Without `keys`, other processes' rows are ignored.
    In production, `clock` is the database's clock. `on_answer(is_allowed, seconds)` is called for
    each answer given in this process, with the seconds since the question.
    """

    questions: Questions
    grants: Grants
    tokens: Tokens
    _: KW_ONLY
    clock: Callable[[], float]
    idle: float = IDLE_SECONDS
    on_answer: Callable[[bool, float], None] | None = None
    is_released: bool = False
    keys: Keyring | None = field(default=None, repr=False)
    signer: Signer = field(init=False, repr=False)
    waiters: Waiters[int] = field(init=False)
    _ended: dict[int, float] = field(default_factory=dict[int, float], init=False, repr=False)
    """Questions that ended here, with expiry; a change of the database cannot reopen them."""

    def __post_init__(self) -> None:
        self.signer = Signer(self.keys or process_keys())
        self.waiters = Waiters(self._settled_among, lambda: _POLL_SECONDS)

    @classmethod
    def of(
        cls,
        database: "Database",
        *,
        clock: Callable[[], float] | None = None,
        keys: Keyring | None = None,
        on_answer: Callable[[bool, float], None] | None = None,
    ) -> Self:
        return cls(
            database.questions,
            database.grants,
            database.tokens,
            clock=clock or database.clock,
            keys=keys,
            on_answer=on_answer,
        )

    async def ask(
        self,
        question: Question,
        *,
        asked: Asked | None = None,
        seal: Seal | None = None,
        limit: int | None = MAX_OPEN_QUESTIONS,
    ) -> Approval:
        """Open a question, or join the open one with the same binding.

        The same transaction writes the audit record that `asked` makes, and seals it with `seal`.
        Raises `DeniedError` if the caller already has `limit` pending questions.
        """
        now = self.clock()
        row = await self.questions.open(
            question.binding,
            question.to_json(),
            now=now,
            expires=now + (question.expires or QUESTION_SECONDS),
            needed=question.needed,
            idle=self.idle,
            asked=asked,
            seal=seal,
            sign=self.signer.sign_question,
            judge=self._counts,
            most=limit,
        )
        return Approval.from_row(row)

    async def answer(self, number: int, answer: Answer) -> bool:
        """Answer a pending question. Return `False` if the answer does not count.

        An answer counts if the question is pending, this person has not answered before, and
        `answer.seen` equals an earlier reviewer's edit, if there is one. Raises `UsageError` for an
        unknown question, or if this person may not give this answer.
        """
        row = await self._row(number)
        if row is None:
            raise UsageError(f"there is no approval {number}")
        approval = Approval.from_row(row)
        check_answer(answer, approval)
        answer_row = self._answer_row(answer, row)
        is_open = row.state is ApprovalState.PENDING and number not in self._ended
        has_counted = is_open and await self.questions.answer(
            answer_row,
            seen=_text(answer.seen),
            grant=_grant(answer, approval, answer_row.at),
            sign_grant=self.signer.sign_grant,
            token=self.signer.token(_QUESTION, number),
            notify=self.signer.channel,
        )
        if has_counted and not answer.is_allowed:
            self._end(number, answer_row.expires)
        self.wake(number)
        if has_counted and self.on_answer is not None:
            self.on_answer(answer.is_allowed, self.clock() - approval.created)
        return has_counted

    async def withdraw(self, number: int) -> bool:
        """Withdraw a question that needs no answer any more; return whether it was still open."""
        now = self.clock()
        token = self.signer.token(_QUESTION, number)
        channel = self.signer.channel
        was_open = await self.questions.withdraw(number, now=now, token=token, notify=channel)
        self._end(number, now + QUESTION_SECONDS)
        self.wake(number)
        return was_open

    def wake(self, number: int) -> None:
        self.waiters.wake(number)

    def release(self) -> None:
        """Wake all waiters because this process ends. The questions stay open."""
        self.is_released = True
        self.waiters.wake_all()

    async def listen(self) -> None:
        await self.questions.watch(self.wake, self.signer.channel)

    async def wait(self, number: int, seconds: float) -> Approval | None:
        """Wait up to `seconds` until a question is settled. Return it; `None` for an unknown one.

        Cancellation does not affect the question.
        """
        with anyio.move_on_after(seconds):
            while not self.is_released:
                await self.waiters.wait(number)
                approval = await self.find(number)
                if approval is None or approval.state is not ApprovalState.PENDING:
                    return approval
        return await self.find(number)

    async def _settled_among(self, numbers: Collection[int]) -> Collection[int]:
        pending = await self.questions.pending_among(numbers, now=self.clock())
        return {*numbers} - pending

    async def use(self, approval: Approval, *, call: str) -> bool:
        """Use an approval for one call; return `False` if it is used, expired or was not given."""
        number = approval.number
        now = self.clock()
        if number in self._ended:
            return False
        row = await self._row(number)
        if row is None or row.state is not ApprovalState.APPROVED:
            return False
        has_used = await self.questions.use(
            number,
            binding=approval.question.binding,
            call=call,
            now=now,
            token=self.signer.token(_QUESTION, number),
            expires=row.expires,
        )
        if has_used:
            self._end(number, row.expires)
        return has_used

    async def find(self, number: int) -> Approval | None:
        row = await self._row(number)
        return row and _read(row)

    async def _listed(self, rows: Sequence[ApprovalRow]) -> list[Approval]:
        read = [_read(await self._verified(row)) for row in rows]
        return [approval for approval in read if approval is not None]

    async def _row(self, number: int) -> ApprovalRow | None:
        row = await self.questions.find(number, now=self.clock())
        return row and await self._verified(row)

    async def _verified(self, row: ApprovalRow) -> ApprovalRow:
        if row.state in (ApprovalState.EXPIRED, ApprovalState.USED):
            return row
        answers: list[AnswerRow] = []
        if row.state is not ApprovalState.PENDING:
            answers = await self.questions.answers(row.number)
        if self._counts(row, answers):
            return row
        return replace(row, state=ApprovalState.EXPIRED)

    def _counts(self, row: ApprovalRow, answers: Sequence[AnswerRow]) -> bool:
        """Return whether a question and its answers have valid signatures; log invalid ones."""
        is_sound = self.signer.is_sound(row, answers)
        if not is_sound and row.mac:
            _log.warning("approval %s was changed in the database, so it is ignored", row.number)
        return is_sound

    def _end(self, number: int, expires: float) -> None:
        now = self.clock()
        for old in [ended for ended, until in self._ended.items() if until <= now]:
            del self._ended[old]
        self._ended[number] = expires

    async def answers(self, number: int) -> list[AnswerRow]:
        return await self.questions.answers(number)

    async def newest(self, limit: int = 100) -> list[Approval]:
        rows = await self.questions.newest(now=self.clock(), limit=limit)
        return await self._listed(rows)

    async def pending(self, limit: int, *, after: int = 0) -> list[Approval]:
        """Return pending questions, of each caller in turn, so that no caller fills the list."""
        rows = await self.questions.pending(now=self.clock(), limit=limit, after=after)
        return [Approval.from_row(row) for row in rows if self._counts(row, ())]

    async def settled(self, limit: int, *, before: int | None = None) -> list[Approval]:
        rows = await self.questions.settled(now=self.clock(), limit=limit, before=before)
        return await self._listed(rows)

    async def granted(self, question: Question) -> Grant | None:
        """Return a grant that covers this question and count one use of that grant, or `None`."""
        if question.needed > 1 or question.longest == Span.ONCE:
            return None
        alive = self.clock() - self.idle
        row = await self.grants.find(
            question.call_binding, question.tool_binding, alive=alive, token_of=self._token_of
        )
        if row is None or Span(row.span).rank > Span(question.longest).rank:
            return None
        if question.channels and row.channel not in question.channels:
            return None
        if not await self.grants.use(row.number, now=self.clock(), alive=alive):
            return None
        return Grant.from_row(row)

    async def list_grants(self, limit: int = 100) -> list[Grant]:
        rows = await self.grants.newest(limit=limit, alive=self.clock() - self.idle)
        grants: list[Grant] = []
        for row in rows:
            holds = row.holds and self._token_of(row) is not None
            if (grant := read_grant(replace(row, holds=holds))) is not None:
                grants.append(grant)
        return grants

    def grant_token(self, number: int) -> str:
        return self.signer.token(_GRANT, number)

    def _token_of(self, row: GrantRow) -> str | None:
        """Return the token of a grant; `None` if it has expired or was changed in the database."""
        age = self.clock() - row.created
        if row.conversation is not None and age >= CONVERSATION_SECONDS:
            return None
        if not self.signer.is_genuine(row):
            return None
        return self.grant_token(row.number)

    async def revoke(self, number: int, *, by: str) -> bool:
        token = self.grant_token(number)
        return await self.grants.revoke(number, by=by, now=self.clock(), token=token)

    def _answer_row(self, answer: Answer, question: ApprovalRow) -> AnswerRow:
        now = self.clock()
        edit = ""
        seconds = DENIAL_SECONDS
        if answer.is_allowed:
            edit = _text(answer.edit) or _text(answer.seen)
            seconds = APPROVAL_SECONDS
        row = AnswerRow(
            question.number,
            storable(answer.by),
            answer.is_allowed,
            storable(answer.channel),
            str(answer.strength),
            now,
            answer.message and storable(answer.message),
            edit,
            now + seconds,
        )
        return replace(row, mac=self.signer.sign_answer(question, row))


class Channel(Protocol):
    """A channel to people. Its `name`, such as `link`, is used in policies and records."""

    @property
    def name(self) -> str: ...

    @property
    def strength(self) -> Strength: ...

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        """Ask the question, and pass the person's answer to `approvals`.

        The task is cancelled when the question is settled elsewhere, or its call stops waiting. An
        exception is logged; the other channels continue.
        """


def listening(approvals: Approvals) -> AbstractAsyncContextManager[None]:
    """Return a context in which the store's notifications of answers wake waiters at once."""
    return beside(approvals.listen)


def _read(row: ApprovalRow) -> Approval | None:
    try:
        return Approval.from_row(row)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _text(edit: Mapping[str, Any] | None) -> str:
    return json.dumps(edit, sort_keys=True) if edit else ""


def _grant(answer: Answer, approval: Approval, now: float) -> dict[str, Any] | None:
    if answer.span is Span.ONCE:
        return None
    question = approval.question
    binding = question.tool_binding
    if answer.is_for_arguments:
        binding = question.call_binding
    return {
        "binding": binding,
        "subject": question.account,
        "client": question.client,
        "span": str(answer.span),
        "is_for_conversation": answer.span is Span.SESSION,
        "body": grant_body(question, is_for_arguments=answer.is_for_arguments),
        "approval": approval.number,
        "given_by": answer.by,
        "channel": answer.channel,
        "created": now,
    }
