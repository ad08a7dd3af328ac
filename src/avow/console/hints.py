"""The four hints of a tool as rows: what each says, what that means, and who says so."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from avow.console.words import HINTS, SOURCES
from avow.intent import Guess, HintName, Source


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
        value, source = hints[name]["value"], hints[name]["source"]
        guess = (inferred or {}).get(name) if source == Source.INFERRED else None
        rows.append(
            HintRow(
                name=words.name,
                answer="yes" if value else "no",
                meaning=words.yes if value else words.no,
                source=SOURCES.get(source, source),
                reason=f"{'; '.join(guess.reasons)} ({guess.confidence:.2f})" if guess else "",
            )
        )
    return rows
