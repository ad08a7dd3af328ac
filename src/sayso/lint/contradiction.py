"""What a tool's own text says against its hints: by inference, and in so many words."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sayso.intent import DOUBT, WIRE_NAMES, HintName
from sayso.lint.rule import Remark
from sayso.lint.subject import Subject

_NEGATED: Final = re.compile(r"\b(?:not|non|never|no|isn['’]t|nothing)\b[\s\w-]{0,12}$")
_BACK: Final = 24
_MOST_REASONS: Final = 3
_SUREST: Final = 0.99


@dataclass(frozen=True, slots=True)
class _Cue:
    """What a text says, in small letters; it is looked for where one of `words` stands."""

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
    """A remark where `value` is declared for a hint, and the inference says the contrary.

    None where the description says so in words: that is told by a rule of its own.
    """
    if tool.hints[name] is not value or not tool.is_likely(name, not value, at_least):
        return
    found = tool.guesses.get(name)
    if found is None or found.value is value or found.confidence < at_least or name in stated(tool):
        return
    why = "; ".join(found.reasons[:_MOST_REASONS]) or "its text as a whole suggests otherwise"
    said = f"{WIRE_NAMES[name]} is declared {str(value).lower()}, but {why}"
    yield Remark(
        f"{said} ({min(found.confidence, _SUREST):.0%} sure)", ("annotations", WIRE_NAMES[name])
    )


def stated(tool: Subject) -> Mapping[HintName, str]:
    """The declared hints that the description contradicts in so many words, and the words."""
    hints = tool.hints
    text = tool.description.lower()
    found: dict[HintName, str] = {}
    if hints.read_only or hints.destructive is False:
        words, _ = _phrases(_DESTROYS, text)
        if words:
            found["read_only" if hints.read_only else "destructive"] = words
    if hints.read_only is False:
        words, is_negated = _phrases(_READS, text)
        if words and not is_negated:
            found["read_only"] = words
    if not hints.read_only and hints.idempotent is not None:
        words, is_negated = _phrases(_REPEATS, text)
        if hints.idempotent and is_negated and not words:
            found["idempotent"] = is_negated
        if not hints.idempotent and words and not is_negated:
            found["idempotent"] = words
    if hints.open_world is False:
        words, is_negated = _phrases(_REACHES, text)
        if words and not is_negated:
            found["open_world"] = words
    return found


def _phrases(cue: _Cue, text: str) -> tuple[str, str]:
    """The first words that say it, and the first that say the contrary; empty where none do."""
    plain = negated = ""
    if not any(word in text for word in cue.words):
        return plain, negated
    for match in cue.pattern.finditer(text):
        before = _NEGATED.search(text[max(0, match.start() - _BACK) : match.start()])
        if before:
            negated = negated or before[0] + match[0]
        else:
            plain = plain or match[0]
    return plain, negated
