"""The rows of the store. `body` and the like are JSON that only the floors above read."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class ApprovalState(StrEnum):
    """Where a question stands. `used` means that its one call has begun."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    USED = "used"
    EXPIRED = "expired"


def storable(text: str) -> str:
    """Return `text` without NUL and halves of surrogate pairs, which no database holds."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    """One question. `binding` is the digest of all that it is bound to; times in Unix seconds.

    `needed` is how many people must agree, and `edit` what one of them changed in the arguments, as
    JSON. `mac` is the floor above's signature of the question.
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
    needed: int = 1
    edit: str | None = None
    mac: str = ""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One person's answer to one question.

    `strength` is that of the channel, `edit` the JSON of the edit that the answer is for (empty for
    none), and `expires` when the question's outcome expires if this answer decides it.
    """

    number: int
    person: str
    is_allowed: bool
    channel: str
    strength: str
    at: float
    message: str | None = None
    edit: str = ""
    expires: float = 0.0
    mac: str = ""


@dataclass(frozen=True, slots=True)
class GrantRow:
    """One standing answer. `binding` is the digest of all that it is for; times in Unix seconds.

    `conversation` is when the conversation that it is for began, and `None` where it is for any.
    `holds` is false for one that was revoked, or whose conversation is over.
    """

    number: int
    binding: str
    subject: str
    client: str
    span: str
    conversation: float | None
    body: str
    approval: int
    given_by: str
    channel: str
    created: float
    revoked_at: float | None = None
    revoked_by: str | None = None
    last_used: float | None = None
    uses: int = 0
    mac: str = ""
    holds: bool = True


@dataclass(frozen=True, slots=True)
class ApiKeyRow:
    """One API key. The key itself is nowhere: `mac` is a MAC over it and all that it may do.

    `scopes` and `roles` are JSON; times in Unix seconds, `used` to the hour.
    """

    id: str
    name: str
    scopes: str
    roles: str
    created: float
    created_by: str
    expires: float | None
    mac: str
    revoked_at: float | None = None
    revoked_by: str | None = None
    used: float | None = None


@dataclass(slots=True)  # frozen, it would take six times as long to make, and there are many
class RecordRow:
    """One line of the audit log: which call, when, what happened. It stays as it was made.

    `body` and `payload` are JSON; `payload` and `subject` can be erased, all else stays. The rest
    is the line's place in its writer's chain: `digest` is that of the payload, `previous` and
    `mac` are hexadecimal, and `writer` is empty where the line is in no chain.
    """

    call: str
    at: float
    event: str
    body: str
    seq: int = 0
    payload: str | None = None
    subject: str | None = None
    writer: str = ""
    index: int = 0
    previous: str = ""
    key: str = ""
    digest: str = ""
    mac: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """The last line of one writer's chain."""

    writer: str
    index: int
    mac: str


@dataclass(frozen=True, slots=True)
class ReplicaRow:
    """One process of a gateway: its address, and the names of its keys, the active one first."""

    id: str
    address: str
    keys: str


@dataclass(frozen=True, slots=True)
class WriterRow:
    """One writer: the process it lives in, and whether its lease has run out."""

    writer: str
    owner: str
    is_expired: bool


class Known(NamedTuple):
    """What is known of a tool, in short: its mark, the one a person accepted, the one held."""

    mark: str
    accepted: str | None = None
    held: str | None = None


@dataclass(frozen=True, slots=True)
class DefinitionRow:
    """A tool as the server at `place` defined it when it was last looked at.

    `mark` is the digest of `definition`. `held` is a newer one that waits for a person; `accepted`
    is the mark of the last that a person accepted. Times in Unix seconds. `revision` counts writes.
    """

    place: str
    tool: str
    server: str
    definition: str
    mark: str
    since: float
    held: str | None = None
    held_mark: str | None = None
    held_since: float | None = None
    accepted: str | None = None
    accepted_by: str | None = None
    accepted_at: float | None = None
    revision: int = 1


@dataclass(frozen=True, slots=True)
class QuarantineRow:
    """A tool of the server at `place` that is not called until a person lifts that."""

    place: str
    tool: str
    server: str
    since: float
    evidence: str
