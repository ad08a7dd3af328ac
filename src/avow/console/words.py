"""The words the console uses for what the program calls by short names."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from avow.audit import Event, Outcome
from avow.intent import HintName, Level, Source
from avow.policy import LOCAL, Effect


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

EVENTS: Final[Mapping[str, str]] = {
    Event.ASKED: "A person is asked",
    Event.ATTEMPT: "About to be sent",
    Event.OUTCOME: "Ended",
    Event.REFUSED: "Refused",
    Event.ACCEPTED: "A change of a tool was accepted",
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
    Outcome.FAILED: "It failed inside avow.",
    Outcome.BAD_OUTPUT: "It ran, and its result does not fit what the server promised.",
    Outcome.TOOL_CHANGED: "The tool changed while the call waited. Nothing was run.",
    Outcome.INPUT_REQUIRED: "The agent’s person is asked. Nothing was run.",
    Outcome.REPEATED: "Made again with its key: it was not run a second time.",
    Outcome.OUTCOME_UNKNOWN: "Outcome unknown: look before doing anything else.",
}

DECISIONS: Final[Mapping[str, str]] = {
    Effect.ALLOW: "allowed",
    Effect.CONFIRM: "asks a person",
    Effect.DENY: "refused",
    Effect.HIDE: "hidden",
}


def person(subject: str) -> str:
    """Who is behind a call; without authentication that is whoever uses this machine."""
    return "this machine’s user" if subject == LOCAL else subject
