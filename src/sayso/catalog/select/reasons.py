"""Why a tool fits a message, in words."""

import re
from collections.abc import Sequence
from typing import Final

from sayso.catalog.select.cues import MARK
from sayso.catalog.select.entry import Entry
from sayso.catalog.select.needs import Need
from sayso.catalog.select.terms import terms

_CHUNK: Final = re.compile(r"[^\W_]+")
_MOST: Final = 5
_LONGEST: Final = 80


def explain_fit(entry: Entry, sentences: Sequence[Sequence[Need]]) -> tuple[str, ...]:
    """Which words of which need stand where in the tool's texts, the weightiest first."""
    fields = _fields(entry)
    found: dict[str, list[tuple[int, str]]] = {}
    for need in (need for needs in sentences for need in needs):
        spelt, cued = _spelt(need.text)
        for term in need.terms:
            said = _said(term, spelt, cued, fields)
            if said is not None:
                found.setdefault(_short(need.text), []).append(said)
    nothing: list[tuple[int, str]] = []
    best = max(
        found.values(), key=lambda reasons: sum(worth for worth, _ in reasons), default=nothing
    )
    need_text = next((text for text, said in found.items() if said is best), "")
    lines = [text for _, text in sorted(best, key=lambda reason: -reason[0])[:_MOST]]
    return (f"for “{need_text}”", *dict.fromkeys(lines)) if lines else ()


def _said(
    term: str, spelt: dict[str, str], cued: set[str], fields: dict[str, tuple[int, str]]
) -> tuple[int, str] | None:
    """One word, in which of the tool's texts it stands, and what it is worth there."""
    if term not in fields:
        return None
    worth, field = fields[term]
    how = ", which a path or link asks for," if term in cued else ""
    return worth, f"“{spelt.get(term, term)}”{how} stands in its {field}"


def _fields(entry: Entry) -> dict[str, tuple[int, str]]:
    """For each term of a tool the weightiest text in which it stands."""
    found: dict[str, tuple[int, str]] = {}
    for field, text, worth in entry.texts():
        for term in terms(text):
            if worth > found.get(term, (0, ""))[0]:
                found[term] = (worth, field)
    return found


def _spelt(text: str) -> tuple[dict[str, str], set[str]]:
    pieces = text.split(MARK)
    cued = {term for piece in pieces[1::2] for term in terms(piece)}
    spelt = _spelling(" ".join(pieces[1::2])) | _spelling(" ".join(pieces[::2]))
    return spelt, cued - set(_spelling(" ".join(pieces[::2])))


def _spelling(text: str) -> dict[str, str]:
    """How the terms of a text are spelt in it."""
    found: dict[str, str] = {}
    for chunk in _CHUNK.findall(text):
        said = terms(chunk)
        for term in said:
            found.setdefault(term, chunk.lower() if len(said) == 1 else term)
    return found


def _short(text: str) -> str:
    line = " ".join("".join(text.split(MARK)[::2]).split()) or " ".join(text.split(MARK)[1::2])
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
