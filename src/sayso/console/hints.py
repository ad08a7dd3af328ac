"""The four hints of a tool as rows: what each says, what that means, and who says so."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sayso.console.words import HINTS, SOURCES
from sayso.intent import Guess, HintName, Source


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
        value = hints[name]["value"]
        is_inferred = hints[name]["source"] == Source.INFERRED
        guess = (inferred or {}).get(name) if is_inferred else None
        rows.append(
            HintRow(
                name=words.name,
                answer="yes" if value else "no",
                meaning=words.yes if value else words.no,
                source=_source(hints[name]),
                reason=f"{'; '.join(guess.reasons)} ({guess.confidence:.2f})" if guess else "",
            )
        )
    return rows


def _source(hint: Mapping[str, Any]) -> str:
    source = hint["source"]
    if source == Source.INFERRED and "confidence" in hint:
        return f"inferred, {hint['confidence']:.2f}"
    if source == Source.VERIFIED and "calls" in hint:
        return f"verified on {hint['calls']:,} calls"
    return SOURCES.get(source, source)
