"""What is written down about a call: each line stands for itself."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from avow.catalog import Tool
from avow.intent import Level
from avow.policy import Decision, Principal
from avow.schema import redact
from avow.store import RecordRow


class Event(StrEnum):
    """The moments of a call.

    `attempt` is on disk before anything is sent to the server; `refused` is the only line of a
    call that never came as far as a decision.
    """

    ASKED = "asked"
    ATTEMPT = "attempt"
    OUTCOME = "outcome"
    REFUSED = "refused"


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
    FAILED = "failed"
    OUTCOME_UNKNOWN = "outcome_unknown"


_RAN: Final = (Outcome.OK, Outcome.TOOL_ERROR, Outcome.BAD_OUTPUT)


@dataclass(frozen=True, slots=True)
class Facts:
    """Who calls what, and what was decided: the part that all lines of a call share."""

    call: str
    principal: Principal
    tool: Tool
    arguments: Mapping[str, Any]
    arguments_digest: str
    decision: Decision


def severity(level: Level, outcome: Outcome) -> str:
    """How loud a line is: `info`, `notice`, `warning`, `error` or `critical`.

    A call that may or may not have happened is louder than one that did.
    """
    if outcome is Outcome.OUTCOME_UNKNOWN:
        return {Level.READ: "notice", Level.WRITE: "error", Level.DESTRUCTIVE: "critical"}[level]
    if outcome in (Outcome.FAILED, Outcome.TOOL_CHANGED):
        return "error"
    if outcome in _RAN:
        return {Level.READ: "info", Level.WRITE: "notice", Level.DESTRUCTIVE: "warning"}[level]
    return "warning" if outcome is Outcome.DENIED else "notice"


def record(facts: Facts, at: float, event: Event, **more: Any) -> RecordRow:
    """One line about a call. `arguments` are redacted here; the digest covers the real ones."""
    tool, principal = facts.tool, facts.principal
    body = {
        "subject": principal.subject,
        "client": principal.client,
        "server": tool.server,
        "tool": tool.name,
        "title": tool.title,
        "fingerprint": tool.fingerprint,
        "level": str(tool.level),
        "hints": tool.resolved.to_dict(),
        "decision": str(facts.decision.effect),
        "rule": facts.decision.rule,
        "reason": facts.decision.reason,
        "arguments": redact(facts.arguments),
        "arguments_digest": facts.arguments_digest,
        **{key: value for key, value in more.items() if value is not None},
    }
    return RecordRow(facts.call, at, str(event), json.dumps(body))


def record_refused(
    call: str, at: float, principal: Principal, *, name: str, outcome: Outcome
) -> RecordRow:
    """The one line about a call that came to nothing: no such tool, no server, no arguments."""
    body = {
        "subject": principal.subject,
        "client": principal.client,
        "name": name[:256],
        "outcome": str(outcome),
        "severity": "notice",
    }
    return RecordRow(call, at, str(Event.REFUSED), json.dumps(body))
