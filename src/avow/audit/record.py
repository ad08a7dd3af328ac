"""What is written down about a call: each line stands for itself."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from avow.audit.salt import draw_salt
from avow.audit.text import ToolTexts, joined, to_text
from avow.catalog import Tool
from avow.intent import Level
from avow.policy import Decision, Principal
from avow.schema import redact
from avow.schema.paths import Path, hide
from avow.store import RecordRow, storable


class Event(StrEnum):
    """The moments of a call.

    `attempt` is on disk before anything is sent to the server; `refused` is the only line of a
    call that never came as far as a decision. `accepted` is about a tool: a person let the change
    count that its server made. The last three are about the log itself: a writer
    began its chain, payloads were erased, old lines were dropped.
    """

    ASKED = "asked"
    ATTEMPT = "attempt"
    OUTCOME = "outcome"
    REFUSED = "refused"
    ACCEPTED = "accepted"
    OPENED = "opened"
    ERASED = "erased"
    CHECKPOINT = "checkpoint"


class Outcome(StrEnum):
    """How a call ended. Only `outcome_unknown` leaves open whether it ran."""

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
    FAILED = "failed"
    OUTCOME_UNKNOWN = "outcome_unknown"


PERSONAL: Final = ("result_digest",)
"""What else belongs into the payload: a digest of little text can be guessed."""
ERASED: Final = "(erased)"
_RAN: Final = (Outcome.OK, Outcome.TOOL_ERROR, Outcome.BAD_OUTPUT)
_LOUDNESS: Final = {Level.READ: "info", Level.WRITE: "notice", Level.DESTRUCTIVE: "warning"}
_ALARM: Final = {Level.READ: "notice", Level.WRITE: "error", Level.DESTRUCTIVE: "critical"}
_tools: Final = ToolTexts()


@dataclass(frozen=True, slots=True)
class Facts:
    """Who calls what, and what was decided: the part that all lines of a call share.

    `more` is what is not so of every call, and `personal` the same of what can be erased.
    `hidden` are places in the arguments that the log masks.
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


def severity(level: Level, outcome: Outcome) -> str:
    """How loud a line is: `info`, `notice`, `warning`, `error` or `critical`.

    A call that may or may not have happened is louder than one that did.
    """
    if outcome is Outcome.OUTCOME_UNKNOWN:
        return _ALARM[level]
    if outcome in (Outcome.FAILED, Outcome.TOOL_CHANGED):
        return "error"
    if outcome in _RAN:
        return _LOUDNESS[level]
    return "warning" if outcome is Outcome.DENIED else "notice"


def record(
    facts: Facts, at: float, event: Event, *, hidden: Sequence[Path] = (), **more: Any
) -> RecordRow:
    """One line about a call.

    `arguments` are redacted here, and masked at the `hidden` paths; the digest covers the real
    ones.
    """
    principal, decision = facts.principal, facts.decision
    body = {
        "client": principal.client,
        "decision": str(decision.effect),
        "rule": decision.rule,
        "reason": decision.reason,
        **({"would_be": str(decision.would_be)} if decision.would_be else {}),
        **facts.more,
        **{key: value for key, value in more.items() if value is not None},
    }
    payload = {
        "subject": principal.subject,
        "arguments": hide(redact(facts.arguments), (*hidden, *facts.hidden)),
        "arguments_digest": facts.arguments_digest,
        **facts.personal,
    }
    return make_row(facts.call, at, event, body, payload, head=_tools.of(facts.tool))


def record_refused(
    call: str,
    at: float,
    principal: Principal,
    *,
    name: str,
    outcome: Outcome,
    through: str | None = None,
) -> RecordRow:
    """The one line about a call that came to nothing: no such tool, no server, no arguments."""
    body = {"client": principal.client, "outcome": str(outcome), "severity": "notice"}
    body |= {"through": through} if through else {}
    payload = {"subject": principal.subject, "name": name[:256]}
    return make_row(call, at, Event.REFUSED, body, payload)


def make_row(
    call: str,
    at: float,
    event: Event,
    body: dict[str, Any],
    payload: dict[str, Any] | None = None,
    *,
    head: str = "",
) -> RecordRow:
    """A line of the log. What is personal goes into the payload, and names its subject.

    `head` is an object in JSON that the body begins with.
    """
    subject = text = None
    if payload is not None:
        moved = {name: body.pop(name) for name in PERSONAL if name in body}
        subject = storable(payload["subject"])
        text = to_text({**payload, **moved, "subject": subject, "salt": draw_salt()})
    told = joined(head, to_text(body)) if head else to_text(body)
    return RecordRow(call, at, str(event), told, payload=text, subject=subject)


def merged(row: RecordRow) -> RecordRow:
    """The line with its payload put back into its body, as people and programs read it.

    Where the payload was erased, `subject` and `arguments` say so.
    """
    body: dict[str, Any] = json.loads(row.body)
    if row.payload is not None:
        body |= json.loads(row.payload)
        body.pop("salt", None)
    elif row.digest:
        body |= {"subject": ERASED, "arguments": {}, "is_erased": True}
    return replace(row, body=json.dumps(body))
