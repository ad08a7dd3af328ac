"""Contradictions between a tool's text and its hints, found by inference or by fixed phrases."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sayso.intent import DOUBT, WIRE_NAMES, HintName
from sayso.lint.rule import Remark
from sayso.lint.subject import Subject

_NEGATED: Final = re.compile(r"\b(?:not|non|never|no|isn['’]t|nothing)\b[\s\w-]{0,12}$")
_LOOKBACK_CHARS: Final = 24
_MAX_REASONS: Final = 3
_MAX_CONFIDENCE: Final = 0.99


@dataclass(frozen=True, slots=True)
class _Cue:
    """A lower-case pattern, which is tried only if the text contains one of `words`."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]


_DESTROYS: Final = _Cue(
    (
        *("cannot be ", "can't be ", "can’t be ", "can not be "),
        *("irreversib", "permanently", "tructive ", "dangerous "),
    ),
    re.compile(
        r"\b(?:(?:cannot|can['’]t|can not) be (?:undone|reversed|recovered|restored)"
        r"|irreversibl[ey]"
        r"|permanently (?:delet|remov|destroy|eras)(?:es?|s|ing)?"
        r"|(?:destructive|dangerous) (?:operation|action|tool))\b"
    ),
)
_READS: Final = _Cue(
    ("read-only", "read only"),
    re.compile(r"\b(?:read[- ]only (?:tool|operation|action|access)|safe,? read[- ]only)\b"),
)
_REPEATS: Final = _Cue(("idempotent",), re.compile(r"\bidempotent\b"))
_REACHES: Final = _Cue(
    ("web", "internet", "any url", "any public url", "arbitrary url"),
    re.compile(
        r"\b(?:(?:search|crawl|brows|scrap)(?:e|es|s|ing)? the (?:open |public )?(?:web|internet)"
        r"(?! (?:app|client|console|interface|page|site|ui|view)|-)"
        r"|from the (?:open web|public web|(?:open |public )?internet)"
        r"|(?:any|arbitrary) (?:public )?(?:urls?|web ?(?:page|site)s?))\b"
    ),
)


def contradicted(
    tool: Subject, name: HintName, *, value: bool, at_least: float = DOUBT
) -> Iterator[Remark]:
    """Yield a remark if `value` is declared for a hint and the inference contradicts that value.

    Yield nothing if the description contradicts the hint in plain words: SS115 reports that.
    """
    if tool.hints[name] is not value or not tool.is_likely(name, not value, at_least):
        return
    guess = tool.guesses.get(name)
    if guess is None or guess.value is value or guess.confidence < at_least or name in stated(tool):
        return
    why = "; ".join(guess.reasons[:_MAX_REASONS]) or "its text as a whole suggests otherwise"
    claim = f"{WIRE_NAMES[name]} is declared {str(value).lower()}, but {why}"
    sure = f"{min(guess.confidence, _MAX_CONFIDENCE):.0%} sure"
    yield Remark(f"{claim} ({sure})", ("annotations", WIRE_NAMES[name]))


def stated(tool: Subject) -> Mapping[HintName, str]:
    """Return each hint that the description contradicts in plain words, with the phrase."""
    hints = tool.hints
    text = tool.description.lower()
    phrases: dict[HintName, str] = {}
    if hints.read_only or hints.destructive is False:
        words, _ = _phrases(_DESTROYS, text)
        if words:
            phrases["read_only" if hints.read_only else "destructive"] = words
    if hints.read_only is False:
        words, is_negated = _phrases(_READS, text)
        if words and not is_negated:
            phrases["read_only"] = words
    if not hints.read_only and hints.idempotent is not None:
        words, is_negated = _phrases(_REPEATS, text)
        if hints.idempotent and is_negated and not words:
            phrases["idempotent"] = is_negated
        if not hints.idempotent and words and not is_negated:
            phrases["idempotent"] = words
    if hints.open_world is False:
        words, is_negated = _phrases(_REACHES, text)
        if words and not is_negated:
            phrases["open_world"] = words
    return phrases


def _phrases(cue: _Cue, text: str) -> tuple[str, str]:
    """Return the first plain match of a cue and the first negated one, or empty strings."""
    plain = negated = ""
    if not any(word in text for word in cue.words):
        return plain, negated
    for match in cue.pattern.finditer(text):
        before = _NEGATED.search(text[max(0, match.start() - _LOOKBACK_CHARS) : match.start()])
        if before:
            negated = negated or before[0] + match[0]
        else:
            plain = plain or match[0]
    return plain, negated
