"""Signatures of questions, answers and grants, with a key that is not in the database.

Write access to the database is therefore not enough to forge a row. A signature covers all decisive
fields and the row's number, so that it cannot be copied to another row.
"""

import hmac
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from sayso.keys import KEY_BYTES, Keyring
from sayso.store import AnswerRow, ApprovalRow, ApprovalState, Claim, GrantRow

_QUESTION: Final = "approval question"
_ANSWER: Final = "approval answer"
_GRANT: Final = "approval grant"
_RESULT: Final = "call result"
_ENDED: Final = "approval ended"
_CHANNEL: Final = "approval channel"
_CHANNEL_DIGITS: Final = 48
"""Hex digits of a channel name. With its prefix it fits PostgreSQL's limit of 63 bytes."""


@cache
def process_keys() -> Keyring:
    """Return random keys that only this process has; other processes ignore their signatures."""
    return Keyring.of([secrets.token_bytes(KEY_BYTES)])


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs rows and verifies them."""

    keys: Keyring

    @property
    def channel(self) -> str:
        """The secret name of the PostgreSQL channel that announces answers."""
        key = self.keys.derive(_CHANNEL) or b""
        return f"sayso_{key.hex()[:_CHANNEL_DIGITS]}"

    def sign_question(self, row: ApprovalRow) -> str:
        until = repr(float(row.expires))
        return f"{until} {self.keys.sign(_QUESTION, _of_question(row, until))}"

    def sign_answer(self, question: ApprovalRow, row: AnswerRow) -> str:
        return self.keys.sign(_ANSWER, _of_answer(question, row))

    def sign_grant(self, row: GrantRow) -> str:
        return self.keys.sign(_GRANT, _of_grant(row))

    def is_genuine(self, row: GrantRow) -> bool:
        return self.keys.verify(_GRANT, _of_grant(row), row.mac)

    def token(self, kind: str, number: int) -> str:
        """Return the token that is spent when a question or grant ends.

        The token is derived from the oldest key, so it does not change when a key is added.
        """
        key = self.keys.derive(_ENDED, self.keys.ids[-1]) or b""
        return hmac.digest(key, _message(kind, number), "sha256").hex()

    def sign_result(self, claim: Claim, text: str) -> str:
        return f"{self.keys.sign(_RESULT, _of_result(claim, text))} {text}"

    def read_result(self, claim: Claim) -> str | None:
        """Return the stored result of an idempotency key; `None` without a valid signature."""
        signature, _, text = (claim.answer or "").partition(" ")
        if not self.keys.verify(_RESULT, _of_result(claim, text), signature):
            return None
        return text

    def is_sound(self, row: ApprovalRow, answers: Sequence[AnswerRow]) -> bool:
        """Return whether a question and the answers behind its state have valid signatures.

        An expired or used question permits nothing, so its answers are not checked.
        """
        until, _, signature = row.mac.partition(" ")
        if not self.keys.verify(_QUESTION, _of_question(row, until), signature):
            return False
        if row.state is ApprovalState.PENDING:
            return repr(float(row.expires)) == until
        if row.state is ApprovalState.APPROVED:
            return self._is_agreed(row, answers)
        if row.state is ApprovalState.DENIED:
            return any(self._decides(row, answer, is_allowed=False) for answer in answers)
        return True

    def _is_agreed(self, row: ApprovalRow, answers: Sequence[AnswerRow]) -> bool:
        """Return whether enough people approved the row's edit, and the row names one of them."""
        agreed = [
            answer
            for answer in answers
            if answer.is_allowed
            and answer.edit == (row.edit or "")
            and self._has_signed(row, answer)
        ]
        is_decided = any(self._decides(row, answer, is_allowed=True) for answer in agreed)
        return is_decided and len({answer.person for answer in agreed}) >= row.needed

    def _decides(self, row: ApprovalRow, answer: AnswerRow, *, is_allowed: bool) -> bool:
        stated = (row.answered_by, row.channel, row.answered_at, row.expires)
        is_same = (answer.person, answer.channel, answer.at, answer.expires) == stated
        return is_same and answer.is_allowed is is_allowed and self._has_signed(row, answer)

    def _has_signed(self, row: ApprovalRow, answer: AnswerRow) -> bool:
        message = _of_answer(row, answer)
        return answer.number == row.number and self.keys.verify(_ANSWER, message, answer.mac)


def _of_question(row: ApprovalRow, until: str) -> bytes:
    """Return the signed fields of a question: the fields before an answer, and the expiry."""
    return _message(row.number, row.binding, row.body, float(row.created), row.needed, until)


def _of_answer(question: ApprovalRow, row: AnswerRow) -> bytes:
    return _message(
        question.mac,
        question.number,
        question.binding,
        row.person,
        row.is_allowed,
        row.channel,
        row.strength,
        float(row.at),
        row.message,
        row.edit,
        float(row.expires),
    )


def _of_result(claim: Claim, text: str) -> bytes:
    return _message(claim.key, claim.call, claim.request, text)


def _of_grant(row: GrantRow) -> bytes:
    return _message(
        row.number,
        row.binding,
        row.subject,
        row.client,
        row.span,
        None if row.conversation is None else float(row.conversation),
        row.body,
        row.approval,
        row.given_by,
        row.channel,
        float(row.created),
    )


def _message(*fields: Any) -> bytes:
    return json.dumps(fields).encode()
