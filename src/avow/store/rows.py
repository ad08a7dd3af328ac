"""What the store holds, as rows. They know nothing of calls or people; the floors above do."""

from dataclasses import dataclass
from enum import StrEnum


class ApprovalState(StrEnum):
    """Where a question stands. `used` means that its one call has begun."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    USED = "used"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    """One question. `binding` is the digest of all that it is bound to; times in Unix seconds.

    `body` is JSON that only the floor above reads.
    """

    number: int
    binding: str
    body: str
    state: ApprovalState
    created: float
    expires: float
    answered_at: float | None = None
    answered_by: str | None = None
    channel: str | None = None
    used_by: str | None = None


@dataclass(frozen=True, slots=True)
class RecordRow:
    """One line of the audit log: which call, when, what happened; `body` is JSON."""

    call: str
    at: float
    event: str
    body: str
    seq: int = 0
