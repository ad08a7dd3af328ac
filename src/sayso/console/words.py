"""The words the console uses for what the program calls by short names."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.audit import Event, Outcome
from sayso.console.entry.roles import Role
from sayso.intent import Guess, HintName, Level, Source
from sayso.policy import LOCAL, Effect, Mode


@dataclass(frozen=True, slots=True)
class LevelWords:
    """A level: its name, what it means, and a sign that differs in shape and not only in colour."""

    name: str
    meaning: str
    sign: str


@dataclass(frozen=True, slots=True)
class HintWords:
    """A hint: its name, and what each of its values means to whoever never heard of it."""

    name: str
    yes: str
    no: str


LEVELS: Final[Mapping[str, LevelWords]] = {
    Level.READ: LevelWords("Read", "changes nothing", "○"),
    Level.WRITE: LevelWords("Write", "changes something, loses nothing", "◆"),
    Level.DESTRUCTIVE: LevelWords("Destructive", "may delete or overwrite", "▲"),
}

HINTS: Final[Mapping[HintName, HintWords]] = {
    "read_only": HintWords("Read-only", "It changes nothing.", "It can change something."),
    "destructive": HintWords("Destructive", "What it changes may be lost.", "Nothing is lost."),
    "idempotent": HintWords("Idempotent", "A repeat adds nothing.", "Each repeat counts anew."),
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
    Role.VIEWER: "who may look",
    Role.APPROVER: "who may look and answer",
    Role.ADMIN: "who may do everything here",
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
    Event.REVOKED: "A grant was taken back",
    Event.OPENED: "The log was opened",
    Event.ERASED: "Payloads were erased",
    Event.CHECKPOINT: "Old lines were dropped",
}

OUTCOMES: Final[Mapping[str, str]] = {
    Outcome.OK: "It ran.",
    Outcome.TOOL_ERROR: "It ran, and the tool reports an error.",
    Outcome.ERROR: "The server answered with an error.",
    Outcome.DENIED: "Denied. Nothing was run.",
    Outcome.WAITING: "No answer yet. Nothing was run.",
    Outcome.CANCELLED: "The agent gave up. Nothing was run.",
    Outcome.UNREACHABLE: "The server could not be reached. Nothing was run.",
    Outcome.UNKNOWN_TOOL: "There is no such tool for this caller.",
    Outcome.BAD_ARGUMENTS: "Its arguments cannot be passed on. Nothing was run.",
    Outcome.FAILED: "It failed inside sayso.",
    Outcome.BAD_OUTPUT: "It ran, and its result does not fit what the server promised.",
    Outcome.TOOL_CHANGED: "The tool changed while the call waited. Nothing was run.",
    Outcome.INPUT_REQUIRED: "The agent’s person is asked. Nothing was run.",
    Outcome.REPEATED: "Made again with its key: it was not run a second time.",
    Outcome.BROKE_CONTRACT: "It counts as read-only and tried to change something, which failed.",
    Outcome.OUTCOME_UNKNOWN: "Outcome unknown: look before doing anything else.",
}

SAFE: Final = "Safe"
ASKS: Final = "Requires confirmation"
LABELS: Final[Mapping[str, str]] = {
    "safe": SAFE,
    "asks": ASKS,
    "allowed": "Allowed by the policy",
    "refused": "Refused",
}
"""What each call is labelled with, in words that need no explanation."""


def label_of(decision: str, level: str) -> str:
    """The key of a call's label. What may destroy is not called safe, whatever lets it run."""
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
    Mode.OBSERVE: "everything runs, and what “guarded” would have done is written down",
    Mode.PLAN: "what only reads runs, and all else is refused",
    Mode.GUARDED: (
        "what reads or writes runs; what may destroy, or reaches outside and must not happen twice,"
        " asks a person"
    ),
    Mode.STRICT: "what only reads runs, and all else asks a person",
    Mode.UNATTENDED: "as “guarded”, but what that would ask about is refused",
}
"""What each mode does with a call that no rule decides."""


_DECIDERS: Final[Mapping[str, str]] = {
    "off": "what the policy switches off",
    "quarantine": "the tool’s quarantine",
    "limits": "the policy’s limits",
    "first_use": "the first use of a tool",
}
"""What decides besides rules and modes, by the name that the record has for it."""


def decider(rule: str) -> str:
    """What decided, by its name on record.

    >>> decider("mode:guarded"), decider("mail"), decider("limits")
    ('the mode “guarded”', 'the rule “mail”', 'the policy’s limits')
    """
    kind, _, name = rule.partition(":")
    if kind == "mode":
        return f"the mode “{name}”"
    return _DECIDERS.get(rule, f"the rule “{rule}”")


def person(subject: str) -> str:
    """Who is behind a call; without authentication that is whoever uses this machine."""
    return "this machine’s user" if subject == LOCAL else subject


def amount(value: float) -> str:
    """A number as people write it.

    >>> amount(3.0), amount(12345), amount(0.25)
    ('3', '12,345', '0.25')
    """
    return f"{value:,.10g}" if abs(value) < 1e10 else f"{value:.3g}"  # noqa: PLR2004 - more digits say nothing


@dataclass(frozen=True, slots=True)
class HintRow:
    """One hint in words. `reason` is why it was inferred, where it was and that is known."""

    name: str
    answer: str
    meaning: str
    source: str
    reason: str = ""


def hint_rows(
    hints: Mapping[str, Any], inferred: Mapping[HintName, Guess] | None = None
) -> list[HintRow]:
    """The rows of `hints`, shaped as `ResolvedIntent.to_dict` shapes them."""
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
