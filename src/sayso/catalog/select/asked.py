"""Which tools a message itself asks for: its own words say what the tool does, and to what."""

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
_REACH: Final = 3
"""So many words after a “not” are denied."""
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
"""Verbs that ask for the same deed, a group on each line."""


class Verbs:
    """Tools by what they do, to find those that a message asks for."""

    __slots__ = ("_by_verb",)

    def __init__(self) -> None:
        self._by_verb: dict[str, set[int]] = {}

    def add(self, number: int, entry: Entry) -> None:
        """Take in a tool."""
        for verb in entry.verbs:
            self._by_verb.setdefault(verb, set()).add(number)

    def remove(self, number: int, entry: Entry) -> None:
        """Let go of a tool."""
        for verb in entry.verbs:
            self._by_verb[verb].discard(number)

    def find_asked(
        self,
        sentences: Sequence[Sequence[Need]],
        among: AbstractSet[int],
        entries: Mapping[int, Entry],
        known: Container[str],
    ) -> set[int]:
        """Those of `among`, by their numbers, that are asked for; `known` has all tools' terms.

        A tool is asked for where one part of the message says what it does and what it is about.
        What a part that says nothing else is about (“delete it”) stands in the rest.
        """
        needs = [need for said in sentences for need in said]
        everything = {term for need in needs for term in need.terms}
        found: set[int] = set()
        for need in needs:
            for verb in _said_verbs(need.text):
                doing = self._doing(verb) & among
                if doing:
                    beside = {term for term in need.terms if term != verb and term in known}
                    about = (beside or everything) | {verb}
                    found.update(at for at in doing if _is_about(entries[at], about))
        return found

    def _doing(self, verb: str) -> set[int]:
        verbs = _SYNONYMS.get(verb, {verb})
        return set[int]().union(*(self._by_verb.get(synonym, ()) for synonym in verbs))


def _said_verbs(text: str) -> set[str]:
    """What a part of a message may say to do: not what it denies, nor what was done already."""
    words = [
        word.lower().replace("’", "'") for word in _WORD.findall("".join(text.split(MARK)[::2]))
    ]
    found: set[str] = set()
    for place, word in enumerate(words):
        is_denied = not _NOT.isdisjoint(words[max(0, place - _REACH) : place])
        if not is_denied and not word.endswith("ed"):
            found.update(terms(word))
    return found


def _is_about(entry: Entry, said: set[str]) -> bool:
    """Whether a tool's name says something of what was said; one that names nothing is for all."""
    return not entry.objects or not entry.objects.isdisjoint(said)


def _read_synonyms(groups: str) -> dict[str, set[str]]:
    synonyms: dict[str, set[str]] = {}
    for line in groups.strip().splitlines():
        group = set(terms(line))
        for verb in group:
            synonyms.setdefault(verb, set()).update(group)
    return synonyms


_SYNONYMS: Final = _read_synonyms(_SAME_VERBS)
