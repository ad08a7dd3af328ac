"""The rows of the store. Fields such as `body` have JSON that only higher floors read."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class ApprovalState(StrEnum):
    """The state of a question. `used` means that the approved call has begun."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    USED = "used"
    EXPIRED = "expired"


def storable(text: str) -> str:
    """Return `text` without NUL and lone surrogates, which databases cannot store."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    """A question. `binding` is the digest of everything to which it is bound.

    Times are Unix seconds. `needed` people must agree. `edit` is the JSON of changes to the
    arguments. `mac` is the question's signature.
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

    `strength` is the channel's strength. `edit` is the JSON of the edit that the person approved,
    or "". `expires` is when the result expires if this answer is decisive. `mac` is the signature.
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
    """One standing answer. `binding` is the digest of everything that it applies to.

    Times are Unix seconds. `conversation` is the start of the grant's conversation, or `None` for a
    grant that applies in any. `holds` is false after a revocation or the conversation's end.
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
    """An API key, without the secret: `mac` is a MAC of the secret and its permissions.

    `scopes` and `roles` are JSON. Times are Unix seconds; `used` is exact to the hour.
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


@dataclass(slots=True)  # not frozen, because creating a frozen one takes six times as long
class RecordRow:
    """A record of the audit log. It never changes.

    `body` and `payload` are JSON; only `payload` and `subject` can be erased. The fields from
    `writer` on are the record's place in its writer's chain: `digest` is the payload's digest,
    `previous` and `mac` are hexadecimal. `writer` is empty for a record in no chain.
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
    """A chain's head: the writer, the last record's index in the chain, and its MAC."""

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
    """One writer: the process that owns it, and whether its lease has expired."""

    writer: str
    owner: str
    is_expired: bool


class Known(NamedTuple):
    """The digests of a tool's current, accepted and held definitions."""

    mark: str
    accepted: str | None = None
    held: str | None = None


@dataclass(frozen=True, slots=True)
class DefinitionRow:
    """A tool as last defined by the server at `place`.

    `mark` is the digest of `definition`. `held` is a newer definition that a person must accept.
    `accepted` is the last accepted definition's digest. Times are Unix seconds.
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
