"""Tools that a message itself requests: its words name the action and the object."""

import re
from collections.abc import Container, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from sayso.catalog.select.entry import Entry
from sayso.catalog.select.needs import MARK, Need
from sayso.catalog.select.terms import terms

_WORD: Final = re.compile(r"[^\W_]+(?:[’'][^\W_]+)?")
_NOT: Final = frozenset(
    """
    aren't avoid cannot can't don't didn't doesn't dont instead mustn't never no nobody not nothing
    shouldn't without won't wouldn't
    """.split()
)
_NEGATED_WORDS: Final = 3
"""The number of words that a “not” negates."""
_SAME_VERBS: Final = """
add create insert make
approve accept confirm
cancel stop abort terminate end kill halt
change edit modify set update alter
delete destroy drop erase remove wipe purge
disable deactivate
execute launch run start invoke trigger
move rename relocate
publish post send submit
reject deny decline
save store write
send mail email message
"""
"""Synonyms, one group per line."""


class VerbIndex:
    """An index of tools by verb, to find those that a message requests."""

    __slots__ = ("_by_verb",)

    def __init__(self) -> None:
        self._by_verb: dict[str, set[int]] = {}

    def add(self, number: int, entry: Entry) -> None:
        for verb in entry.verbs:
            self._by_verb.setdefault(verb, set()).add(number)

    def remove(self, number: int, entry: Entry) -> None:
        for verb in entry.verbs:
            self._by_verb[verb].discard(number)

    def find_requested(
        self,
        sentences: Sequence[Sequence[Need]],
        among: AbstractSet[int],
        entries: Mapping[int, Entry],
        vocabulary: Container[str],
    ) -> set[int]:
        """Return the numbers in `among` that are requested; `vocabulary` has all tools' terms.

        A tool is requested if one part of the message names its action and its object. For a part
        that names no object (“delete it”), any object in the whole message will do.
        """
        needs = [need for sentence in sentences for need in sentence]
        everything = {term for need in needs for term in need.terms}
        requested: set[int] = set()
        for need in needs:
            for verb in _verbs_in(need.text):
                candidates = self._tools_with(verb) & among
                if candidates:
                    objects = {term for term in need.terms if term != verb and term in vocabulary}
                    about = (objects or everything) | {verb}
                    requested.update(
                        number for number in candidates if _is_about(entries[number], about)
                    )
        return requested

    def _tools_with(self, verb: str) -> set[int]:
        verbs = _SYNONYMS.get(verb, {verb})
        return set[int]().union(*(self._by_verb.get(synonym, ()) for synonym in verbs))


def _verbs_in(text: str) -> set[str]:
    """Return possible requests in a part of a message, without negated and past ones."""
    words = [
        word.lower().replace("’", "'") for word in _WORD.findall("".join(text.split(MARK)[::2]))
    ]
    verbs: set[str] = set()
    for place, word in enumerate(words):
        is_negated = not _NOT.isdisjoint(words[max(0, place - _NEGATED_WORDS) : place])
        if not is_negated and not word.endswith("ed"):
            verbs.update(terms(word))
    return verbs


def _is_about(entry: Entry, words: set[str]) -> bool:
    return not entry.objects or not entry.objects.isdisjoint(words)


def _read_synonyms(groups: str) -> dict[str, set[str]]:
    synonyms: dict[str, set[str]] = {}
    for line in groups.strip().splitlines():
        group = set(terms(line))
        for verb in group:
            synonyms.setdefault(verb, set()).update(group)
    return synonyms


_SYNONYMS: Final = _read_synonyms(_SAME_VERBS)
