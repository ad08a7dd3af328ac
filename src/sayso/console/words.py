"""The console's labels for levels, hints, events, outcomes and modes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.audit import Event, Outcome
from sayso.console.entry.roles import Role
from sayso.intent import Guess, HintName, Level, Source
from sayso.policy import LOCAL, Effect, Mode


@dataclass(frozen=True, slots=True)
class LevelWords:
    """A level's name and meaning, and a sign that differs in shape, not only in colour."""

    name: str
    meaning: str
    sign: str


@dataclass(frozen=True, slots=True)
class HintWords:
    """A hint's name, and the meaning of each value in plain words."""

    name: str
    yes: str
    no: str


LEVELS: Final[Mapping[str, LevelWords]] = {
    Level.READ: LevelWords("Read", "changes nothing", "○"),
    Level.WRITE: LevelWords("Write", "changes data, but loses nothing", "◆"),
    Level.DESTRUCTIVE: LevelWords("Destructive", "may delete or overwrite", "▲"),
}

HINTS: Final[Mapping[HintName, HintWords]] = {
    "read_only": HintWords("Read-only", "It changes nothing.", "It can change something."),
    "destructive": HintWords("Destructive", "It may delete or overwrite data.", "Nothing is lost."),
    "idempotent": HintWords(
        "Idempotent", "A repeat adds nothing.", "Each repeat has another effect."
    ),
    "open_world": HintWords(
        "Open world", "It reaches outside systems.", "It stays within its system."
    ),
}

SOURCES: Final[Mapping[str, str]] = {
    Source.DEFAULT: "the specification’s default",
    Source.INFERRED: "inferred from its name or description",
    Source.DECLARED: "declared by the server",
    Source.VERIFIED: "verified by a signed receipt",
    Source.OPERATOR: "set by the operator",
}

ROLES: Final[Mapping[str, str]] = {
    Role.VIEWER: "who may view",
    Role.APPROVER: "who may view and answer",
    Role.ADMIN: "who may do everything",
}

SOURCES_SHORT: Final[Mapping[str, str]] = {
    Source.DEFAULT: "default",
    Source.INFERRED: "inferred",
    Source.DECLARED: "declared",
    Source.VERIFIED: "verified",
    Source.OPERATOR: "policy",
}

EVENTS: Final[Mapping[str, str]] = {
    Event.ASKED: "A person is asked",
    Event.ATTEMPT: "About to be sent",
    Event.OUTCOME: "Ended",
    Event.REFUSED: "Refused",
    Event.ACCEPTED: "A change of a tool was accepted",
    Event.QUARANTINED: "A tool broke its contract",
    Event.LIFTED: "A tool may be called again",
    Event.REVOKED: "A grant was revoked",
    Event.OPENED: "The log was opened",
    Event.ERASED: "Payloads were erased",
    Event.CHECKPOINT: "Old lines were deleted",
}

OUTCOMES: Final[Mapping[str, str]] = {
    Outcome.OK: "It ran.",
    Outcome.TOOL_ERROR: "It ran, and the tool reported an error.",
    Outcome.ERROR: "The server returned an error.",
    Outcome.DENIED: "Denied. Nothing was run.",
    Outcome.WAITING: "No answer yet. Nothing was run.",
    Outcome.CANCELLED: "The agent cancelled the call. Nothing was run.",
    Outcome.UNREACHABLE: "The server could not be reached. Nothing was run.",
    Outcome.UNKNOWN_TOOL: "This caller has no such tool. Nothing was run.",
    Outcome.BAD_ARGUMENTS: "The arguments are invalid. Nothing was run.",
    Outcome.FAILED: "It failed inside sayso.",
    Outcome.BAD_OUTPUT: "It ran, and its result does not match the output schema.",
    Outcome.TOOL_CHANGED: "The tool changed while the call waited. Nothing was run.",
    Outcome.INPUT_REQUIRED: "The agent’s user is being asked. Nothing was run.",
    Outcome.REPEATED: "A repeat with the same idempotency key: it was not run again.",
    Outcome.BROKE_CONTRACT: "It counts as read-only, tried to change something, and was blocked.",
    Outcome.OUTCOME_UNKNOWN: "Outcome unknown. Check the result before you do anything else.",
}

SAFE: Final = "Safe"
ASKS: Final = "Requires confirmation"
LABELS: Final[Mapping[str, str]] = {
    "safe": SAFE,
    "asks": ASKS,
    "allowed": "Allowed by the policy",
    "refused": "Refused",
}
"""The labels of calls, by the key that `label_of` returns."""


def label_of(decision: str, level: str) -> str:
    """Return the key of a call's label. The label of a destructive call is never “Safe”."""
    if decision == Effect.CONFIRM:
        return "asks"
    if decision != Effect.ALLOW:
        return "refused"
    return "allowed" if level == Level.DESTRUCTIVE else "safe"


DECISIONS: Final[Mapping[str, str]] = {
    Effect.ALLOW: "allowed",
    Effect.CONFIRM: "asks a person",
    Effect.DENY: "refused",
    Effect.HIDE: "hidden",
}


MODES: Final[Mapping[str, str]] = {
    Mode.OBSERVE: "everything runs, and the decision of “guarded” is recorded",
    Mode.PLAN: "reads run, and everything else is refused",
    Mode.GUARDED: (
        "reads and writes run; destructive calls, and writes to outside systems that are not"
        " idempotent, ask a person"
    ),
    Mode.STRICT: "reads run, and everything else asks a person",
    Mode.UNATTENDED: "as “guarded”, but calls that would ask are refused",
}
"""What each mode does with calls that no rule decides."""


_DECIDERS: Final[Mapping[str, str]] = {
    "off": "the policy’s off switch",
    "quarantine": "the tool’s quarantine",
    "limits": "the policy’s limits",
    "first_use": "the first use of a tool",
}
"""The words for deciders that are neither rules nor modes, by their name in the log."""


def decider(rule: str) -> str:
    """Return in words which rule or mode decided, from its name in the log.

    >>> decider("mode:guarded"), decider("mail"), decider("limits")
    ('the mode “guarded”', 'the rule “mail”', 'the policy’s limits')
    """
    kind, _, name = rule.partition(":")
    if kind == "mode":
        return f"the mode “{name}”"
    return _DECIDERS.get(rule, f"the rule “{rule}”")


def person(subject: str) -> str:
    """Return a subject's name for people."""
    return "this machine’s user" if subject == LOCAL else subject


def amount(value: float) -> str:
    """Return a number as text, with separators between thousands.

    >>> amount(3.0), amount(12345), amount(0.25)
    ('3', '12,345', '0.25')
    """
    return f"{value:,.10g}" if abs(value) < 1e10 else f"{value:.3g}"  # noqa: PLR2004 - enough digits


@dataclass(frozen=True, slots=True)
class HintRow:
    """A hint in words. `reason` is why it was inferred, if known."""

    name: str
    answer: str
    meaning: str
    source: str
    reason: str = ""


def hint_rows(
    hints: Mapping[str, Any], inferred: Mapping[HintName, Guess] | None = None
) -> list[HintRow]:
    """Return the rows of `hints`, which has the form of `ResolvedIntent.to_dict`."""
    rows: list[HintRow] = []
    for name, words in HINTS.items():
        reason = ""
        if inferred and hints[name]["source"] == Source.INFERRED and (guess := inferred.get(name)):
            reason = f"{'; '.join(guess.reasons)} ({guess.confidence:.2f})"
        answer, meaning = ("yes", words.yes) if hints[name]["value"] else ("no", words.no)
        rows.append(HintRow(words.name, answer, meaning, _source(hints[name]), reason))
    return rows


def _source(hint: Mapping[str, Any]) -> str:
    source = hint["source"]
    if source == Source.INFERRED and "confidence" in hint:
        return f"inferred, {hint['confidence']:.2f}"
    if source == Source.VERIFIED and "calls" in hint:
        return f"verified on {hint['calls']:,} calls"
    return SOURCES.get(source, source)
