"""Advice in a description: when to call a tool, and how.

The actions that it names are those of other calls, or of people.

Each function takes the lower-case tokens of a text and the index of one of them.
"""

from typing import Final

from sayso.infer.context import sentence_start
from sayso.infer.grammar import ADVERBS, words_of

_CONDITIONS: Final = words_of("when whenever if before after while once")
_RECOMMENDS: Final = words_of("use used call run prefer recommended required should useful helpful")
_FITS: Final = words_of("useful helpful ideal perfect suitable good great best designed intended")
_HEADINGS: Final = words_of(
    "use uses usage when example examples case cases mistakes tips scenarios questions queries"
)
_BULLETS: Final = frozenset("-*•")
_HOW: Final = words_of("advice guidance guide guidelines instructions practices rules tips")


def is_advice(tokens: list[str], index: int) -> bool:
    """Return whether a word is in advice, such as `Use this before creating a note`.

    The tool's own action is not: `Use this to create a note`, `If a note is old, it is removed`.
    """
    start = _clause_start(tokens, index)
    before = tokens[start:index]
    if before and before[0] in _CONDITIONS:
        return "," not in before
    for place, token in enumerate(before):
        after = before[place + 1 :]
        if token in _FITS and after[:1] == ["for"]:
            return True
        if token in _RECOMMENDS and not _CONDITIONS.isdisjoint(after):
            return True
    return not _HEADINGS.isdisjoint(_heading(tokens, index))


def tells_how(tokens: list[str], index: int) -> bool:
    """Return whether a text is about how something is done: `how to`, `best practices for`."""
    if tokens[max(0, index - 2) : index] == ["how", "to"]:
        return True
    return tokens[index - 1 : index] == ["for"] and not _HOW.isdisjoint(tokens[index - 2 : index])


def _clause_start(tokens: list[str], index: int) -> int:
    start = sentence_start(tokens, index)
    while start < index and (tokens[start] in _BULLETS or tokens[start] in ADVERBS):
        start += 1
    return start


def _heading(tokens: list[str], index: int) -> list[str]:
    """Return the words of the heading above a list item, or none outside a list."""
    line = _line(tokens, index)
    while line and line[0] in _BULLETS:
        index -= 1
        while index > 0 and tokens[index] != "\n":
            index -= 1
        line = _line(tokens, index - 1) if index > 0 else []
        if line and line[-1] == ":":
            return line
    return []


def _line(tokens: list[str], index: int) -> list[str]:
    start = index
    while start > 0 and tokens[start - 1] != "\n":
        start -= 1
    end = index
    while end < len(tokens) and tokens[end] != "\n":
        end += 1
    return tokens[start:end]
