"""The result of a selection, with reasons."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from sayso.catalog.select.entry import Entry
from sayso.catalog.select.needs import MARK, Need
from sayso.catalog.select.terms import terms
from sayso.catalog.tool import Tool

Why = Literal["excluded", "not asked for", "no word in common", "fits less", "over the budget"]
"""The reason why a tool was left out."""
_CHUNK: Final = re.compile(r"[^\W_]+")
_MAX_REASONS: Final = 5
_MAX_QUOTE: Final = 80


@dataclass(frozen=True, slots=True)
class Chosen:
    """One selected tool, with its `score` from 0 (no match) to 1."""

    entry: Entry
    score: float
    is_pinned: bool = False
    needs: Sequence[Sequence[Need]] = field(default=(), repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.entry.qualified_name

    @property
    def tool(self) -> Tool:
        return self.entry.tool

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons in words; computed on each access."""
        reasons = _explain(self.entry, self.needs)
        return ("pinned", *reasons) if self.is_pinned else reasons


@dataclass(frozen=True, slots=True)
class Selection:
    """The tools chosen out of `total`: pinned ones first, then by score.

    `left_out` counts the others by reason.
    """

    chosen: tuple[Chosen, ...]
    total: int
    left_out: Mapping[Why, int]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(tool.name for tool in self.chosen)

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(tool.tool for tool in self.chosen)


def _explain(entry: Entry, sentences: Sequence[Sequence[Need]]) -> tuple[str, ...]:
    fields = _fields(entry)
    reasons_by_need: dict[str, list[tuple[int, str]]] = {}
    for need in (need for needs in sentences for need in needs):
        spelt, cued = _spelt(need.text)
        for term in need.terms:
            reason = _reason(term, spelt, cued, fields)
            if reason is not None:
                reasons_by_need.setdefault(_short(need.text), []).append(reason)
    nothing: list[tuple[int, str]] = []
    best = max(
        reasons_by_need.values(),
        key=lambda reasons: sum(weight for weight, _ in reasons),
        default=nothing,
    )
    need_text = next((text for text, reasons in reasons_by_need.items() if reasons is best), "")
    lines = [text for _, text in sorted(best, key=lambda reason: -reason[0])[:_MAX_REASONS]]
    if not lines:
        return ()
    return (f"for “{need_text}”", *dict.fromkeys(lines))


def _reason(
    term: str, spelt: dict[str, str], cued: set[str], fields: dict[str, tuple[int, str]]
) -> tuple[int, str] | None:
    if term not in fields:
        return None
    weight, field = fields[term]
    word = f"“{spelt.get(term, term)}”"
    if term in cued:
        word += ", implied by a path or link,"
    return weight, f"{word} is in its {field}"


def _fields(entry: Entry) -> dict[str, tuple[int, str]]:
    """Return for each term of a tool the field with the highest weight."""
    found: dict[str, tuple[int, str]] = {}
    for where, text, weight in entry.texts():
        for term in terms(text):
            if weight > found.get(term, (0, ""))[0]:
                found[term] = (weight, where)
    return found


def _spelt(text: str) -> tuple[dict[str, str], set[str]]:
    pieces = text.split(MARK)
    cued = {term for piece in pieces[1::2] for term in terms(piece)}
    spelt = _spelling(" ".join(pieces[1::2])) | _spelling(" ".join(pieces[::2]))
    return spelt, cued - set(_spelling(" ".join(pieces[::2])))


def _spelling(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for chunk in _CHUNK.findall(text):
        parts = terms(chunk)
        for term in parts:
            found.setdefault(term, chunk.lower() if len(parts) == 1 else term)
    return found


def _short(text: str) -> str:
    line = " ".join("".join(text.split(MARK)[::2]).split()) or " ".join(text.split(MARK)[1::2])
    if len(line) <= _MAX_QUOTE:
        return line
    return f"{line[: _MAX_QUOTE - 1]}…"
