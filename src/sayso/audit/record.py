"""The records of the audit log. Each can be read without the others."""

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

import msgspec

from sayso.catalog import Tool
from sayso.intent import Level
from sayso.once import Once
from sayso.policy import Decision, Principal
from sayso.schema import Path, bounded, hide, redact, redact_start
from sayso.store import RecordRow, storable

_ENCODER: Final = msgspec.json.Encoder()


def to_text(value: Any) -> str:
    """Return `value` as JSON in ASCII."""
    try:
        return _ENCODER.encode(value).decode("ascii")
    except (UnicodeError, TypeError):
        # Non-ASCII text, a lone surrogate, or a type that only `json` encodes.
        return json.dumps(value, separators=(",", ":"))


def joined(first: str, second: str) -> str:
    """Join two non-empty JSON objects."""
    return f"{first[:-1]},{second[1:]}"


def describe(tool: Tool) -> str:
    """Return what every record of a call says about the tool, as a JSON object."""
    return to_text(
        {
            "server": tool.server,
            "tool": tool.name,
            "title": tool.title,
            "fingerprint": tool.fingerprint,
            "level": str(tool.level),
            "hints": tool.resolved.to_dict(),
        }
    )


class Event(StrEnum):
    """The kinds of records.

    `attempt` is on disk before anything is sent to the server. `refused` is the only record of a
    call without a decision. Three are about a tool: `accepted` (a person accepted its change),
    `quarantined` (the tool broke its contract) and `lifted` (a person allowed the tool again).
    `revoked` is about a grant. Three are about the log: `opened` (a new chain), `erased` (erased
    payloads) and `checkpoint` (dropped records).
    """

    ASKED = "asked"
    ATTEMPT = "attempt"
    OUTCOME = "outcome"
    REFUSED = "refused"
    ACCEPTED = "accepted"
    QUARANTINED = "quarantined"
    LIFTED = "lifted"
    REVOKED = "revoked"
    OPENED = "opened"
    ERASED = "erased"
    CHECKPOINT = "checkpoint"


class Outcome(StrEnum):
    """The end of a call. Only `outcome_unknown` leaves open whether it ran."""

    OK = "ok"
    TOOL_ERROR = "tool_error"
    ERROR = "error"
    DENIED = "denied"
    WAITING = "waiting"
    CANCELLED = "cancelled"
    UNREACHABLE = "unreachable"
    UNKNOWN_TOOL = "unknown_tool"
    BAD_ARGUMENTS = "bad_arguments"
    BAD_OUTPUT = "bad_output"
    TOOL_CHANGED = "tool_changed"
    INPUT_REQUIRED = "input_required"
    REPEATED = "repeated"
    BROKE_CONTRACT = "broke_contract"
    FAILED = "failed"
    OUTCOME_UNKNOWN = "outcome_unknown"


PERSONAL: Final = ("result_digest",)
"""Fields that go into the erasable payload: a digest may reveal a short text."""
_NAME_CHARACTERS: Final = 256
ERASED: Final = "(erased)"
_RAN: Final = (Outcome.OK, Outcome.TOOL_ERROR, Outcome.BAD_OUTPUT)
_SEVERITY: Final = {Level.READ: "info", Level.WRITE: "notice", Level.DESTRUCTIVE: "warning"}
_SEVERITY_IF_UNKNOWN: Final = {
    Level.READ: "notice",
    Level.WRITE: "error",
    Level.DESTRUCTIVE: "critical",
}
_tools: Final = Once(describe, most=512)
_SALT_DIGITS: Final = 16
_SALTS: Final = 256
_salts: Final[list[str]] = []


@dataclass(slots=True)
class Facts:
    """The part that all records of a call share: caller, tool, arguments and decision.

    `more` and `personal` are additional fields; `personal` can be erased. The log masks arguments
    at the `hidden` paths. The shared part is encoded only once, so do not change a field later.
    """

    call: str
    principal: Principal
    tool: Tool
    arguments: Mapping[str, Any]
    arguments_digest: str
    decision: Decision
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    personal: Mapping[str, Any] = field(default_factory=dict[str, Any])
    hidden: Sequence[Path] = ()
    _texts: tuple[Sequence[Path], str, str] | None = field(default=None, repr=False, compare=False)

    def texts(self, hidden: Sequence[Path]) -> tuple[str, str]:
        """Return the shared body and payload as JSON objects.

        The arguments are redacted, masked at the `hidden` paths, and cut if large. The digest
        covers the complete arguments.
        """
        if self._texts is None or self._texts[0] is not hidden:
            payload = {
                "subject": storable(self.principal.subject),
                **_tenant(self.principal),
                "arguments": bounded(hide(redact(self.arguments), (*hidden, *self.hidden))),
                "arguments_digest": self.arguments_digest,
                **self.personal,
            }
            body = joined(_tools.of(self.tool), to_text(self._body()))
            self._texts = (hidden, body, to_text(payload))
        return self._texts[1], self._texts[2]

    def _body(self) -> dict[str, Any]:
        decision = self.decision
        body = {
            "client": self.principal.client,
            "decision": str(decision.effect),
            "rule": decision.rule,
            "reason": decision.reason,
            **self.more,
        }
        if decision.would_be:
            body["would_be"] = str(decision.would_be)
        return body


def draw_salt() -> str:
    """Return 64 random bits in hexadecimal; thread-safe.

    A payload contains a salt, so that nobody can guess an erased payload from its digest.
    """
    try:
        return _salts.pop()
    except IndexError:
        # The system call releases the interpreter lock. While another thread is busy, getting it
        # back takes longer than making a record. So one system call draws many salts.
        digits = secrets.token_hex(_SALT_DIGITS * _SALTS // 2)
        first, *others = (
            digits[at : at + _SALT_DIGITS] for at in range(0, len(digits), _SALT_DIGITS)
        )
        _salts.extend(others)
        return first


# A forked process must not reuse its parent's salts.
os.register_at_fork(after_in_child=_salts.clear)


def severity(level: Level, outcome: Outcome) -> str:
    """Return a record's severity: `info`, `notice`, `warning`, `error` or `critical`.

    A call that may have run is more severe than a call that certainly ran.
    """
    if outcome is Outcome.OUTCOME_UNKNOWN:
        return _SEVERITY_IF_UNKNOWN[level]
    if outcome is Outcome.BROKE_CONTRACT:
        return "critical"
    if outcome in (Outcome.FAILED, Outcome.TOOL_CHANGED):
        return "error"
    if outcome in _RAN:
        return _SEVERITY[level]
    return "warning" if outcome is Outcome.DENIED else "notice"


def record(
    facts: Facts, at: float, event: Event, *, hidden: Sequence[Path] = (), **more: Any
) -> RecordRow:
    """Return one record about a call. Arguments at the `hidden` paths are masked too."""
    body, payload = facts.texts(hidden)
    secret = {"salt": draw_salt()}
    public = {key: value for key, value in more.items() if value is not None}
    for name in PERSONAL:
        if name in public:
            secret[name] = public.pop(name)
    if public:
        body = joined(body, to_text(public))
    return RecordRow(
        facts.call,
        at,
        str(event),
        body,
        payload=joined(payload, to_text(secret)),
        subject=storable(facts.principal.subject),
    )


def _tenant(principal: Principal) -> dict[str, str]:
    if principal.tenant is None:
        return {}
    return {"tenant": storable(principal.tenant)}


def record_refused(
    call: str,
    at: float,
    principal: Principal,
    *,
    name: str,
    outcome: Outcome,
    through: str | None = None,
) -> RecordRow:
    """Return the only record of a refused call. `name` may contain a secret, which is redacted."""
    body = {"client": principal.client, "outcome": str(outcome), "severity": "notice"}
    if through:
        body["through"] = through
    payload = {
        "subject": principal.subject,
        **_tenant(principal),
        "name": redact_start(name, _NAME_CHARACTERS),
    }
    return make_row(call, at, Event.REFUSED, body, payload)


def make_row(
    call: str,
    at: float,
    event: Event,
    body: dict[str, Any],
    payload: dict[str, Any] | None = None,
) -> RecordRow:
    """Return a record without a decision. A `payload` also gets the body's `PERSONAL` fields."""
    subject = text = None
    if payload is not None:
        moved = {name: body.pop(name) for name in PERSONAL if name in body}
        subject = storable(payload["subject"])
        text = to_text({**payload, **moved, "subject": subject, "salt": draw_salt()})
    return RecordRow(call, at, str(event), to_text(body), payload=text, subject=subject)


def merged(row: RecordRow) -> RecordRow:
    """Return a record with its payload merged into its body, or `is_erased` if it is erased."""
    body: dict[str, Any] = json.loads(row.body)
    if row.payload is not None:
        body |= json.loads(row.payload)
        body.pop("salt", None)
    elif row.digest:
        body |= {"subject": ERASED, "arguments": {}, "is_erased": True}
    return replace(row, body=json.dumps(body))
