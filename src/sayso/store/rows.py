"""The rows of the store. Fields such as `body` are JSON that only higher floors read."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class ApprovalState(StrEnum):
    """The state of a question. `used` means that its one call has begun."""

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
    """A question. `binding` is the digest of all that it is bound to; times in Unix seconds.

    `needed` is how many people must agree, `edit` the JSON of changes to the arguments, and `mac`
    the signature of the question.
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

    `strength` is the channel's, `edit` the JSON of the edit that the answer is for (empty for
    none), and `expires` when the outcome expires if this answer decides it. `mac` is its signature.
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

    `conversation` is the start of its conversation, `None` for any conversation. `holds` is false
    once it was revoked or its conversation has ended.
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
    """An API key, without the key itself: `mac` is a MAC over it and its permissions.

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


@dataclass(slots=True)  # not frozen: that takes six times as long to make, and there are many
class RecordRow:
    """A line of the audit log; it is never changed.

    `body` and `payload` are JSON; only `payload` and `subject` can be erased. The rest is the
    line's place in its writer's chain: `digest` is the payload's, `previous` and `mac` are
    hexadecimal, and `writer` is empty for a line in no chain.
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
    """The marks of a tool's definitions: the current, the accepted and the held one."""

    mark: str
    accepted: str | None = None
    held: str | None = None


@dataclass(frozen=True, slots=True)
class DefinitionRow:
    """A tool as last defined by the server at `place`.

    `mark` is the digest of `definition`. `held` is a newer definition that waits for a person;
    `accepted` is the mark of the last accepted one. Times in Unix seconds. `revision` counts up.
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
    """A tool of the server at `place` that is not called until a person lifts the quarantine."""

    place: str
    tool: str
    server: str
    since: float
    evidence: str
