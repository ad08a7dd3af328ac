"""The tools that may be selected, with their indexes and levels."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from sayso.catalog.select.entry import Entry
from sayso.catalog.select.index import Index
from sayso.catalog.select.needs import Need
from sayso.catalog.select.request_words import VerbIndex
from sayso.errors import UsageError
from sayso.intent import Level

_MAX_NAMES: Final = 5
_MIN_SIMILARITY: Final = 0.4
_NONE: Final[frozenset[int]] = frozenset()


@dataclass(frozen=True, slots=True)
class Pool:
    """The tools that a message selects from: all in `index` that are not `silent`.

    The tools left out are in `excluded` (by level) or in `unrequested` (the message must ask).
    """

    index: Index
    silent: AbstractSet[int]
    excluded: AbstractSet[int]
    unrequested: AbstractSet[int]

    def __iter__(self) -> Iterator[int]:
        return (number for number in self.index.numbers if number not in self.silent)

    def __len__(self) -> int:
        return len(self.index) - len(self.silent)

    def count(self, numbers: AbstractSet[int]) -> int:
        return sum(
            1 for number in numbers if number in self.index.numbers and number not in self.silent
        )


class Candidates:
    """Tools by number, each indexed once when added."""

    def __init__(self) -> None:
        self._entries: dict[int, Entry] = {}
        self._numbers: dict[str, int] = {}
        self._named: dict[str, set[int]] = {}
        self._indexes: dict[frozenset[Level], Index] = {frozenset(): Index()}
        self._verbs = VerbIndex()
        self._by_level: dict[Level, set[int]] = {level: set() for level in Level}
        self._without_level: set[int] = set()
        self._next = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, number: int) -> Entry:
        return self._entries[number]

    def replace(self, entries: Mapping[str, Entry]) -> None:
        """Replace all entries; unchanged ones are not reindexed."""
        for key in [key for key in self._numbers if key not in entries]:
            self.drop(self._numbers[key])
        for entry in entries.values():
            self.put(entry)

    def put(self, entry: Entry) -> None:
        old_number = self._numbers.get(entry.key)
        if old_number is not None:
            if entry.is_same(self._entries[old_number]):
                return
            self.drop(old_number)
        number = self._next
        self._next += 1
        self._entries[number] = entry
        self._numbers[entry.key] = number
        for name in entry.names():
            self._named.setdefault(name, set()).add(number)
        self._verbs.add(number, entry)
        self._without_level.add(number)
        words = entry.words()
        for levels, index in self._indexes.items():
            if not levels or entry.level not in levels:
                index.add(number, words, entry.key)

    def drop(self, number: int) -> None:
        entry = self._entries.pop(number)
        del self._numbers[entry.key]
        for name in entry.names():
            self._named[name].discard(number)
        self._verbs.remove(number, entry)
        for numbers in (self._without_level, *self._by_level.values()):
            numbers.discard(number)
        words = entry.words()
        for index in self._indexes.values():
            if number in index.numbers:
                index.remove(number, words)

    def find(self, name: str) -> int:
        """Return the number of a tool, by `server__tool` or by a unique name.

        Raises `UsageError` for an unknown name, with similar ones, and for an ambiguous one.
        """
        named = self._named.get(name, set())
        matches = [number for number in named if self._entries[number].qualified_name == name] or [
            *named
        ]
        if len(matches) == 1:
            return matches[0]
        if matches:
            names = sorted(self._entries[number].qualified_name for number in matches)[:_MAX_NAMES]
            what = f"{len(matches)} tools are called {name!r}"
            raise UsageError(what, fix=f"Use the full name: {', '.join(names)}.")
        names = sorted(known for known, numbers in self._named.items() if numbers)
        near = get_close_matches(name, names, _MAX_NAMES, _MIN_SIMILARITY)
        fix = None
        if near:
            fix = f"Similar names: {', '.join(near)}."
        raise UsageError(f"no tool is called {name!r}", fix=fix)

    def pool(
        self, needs: Sequence[Sequence[Need]], hidden: frozenset[Level], held: frozenset[Level]
    ) -> Pool:
        """Return the tools except of the levels `hidden`; of the levels `held` only requested ones.

        Tools of `hidden` do not influence the ranking of others: their words do not count as less
        rare. Tools of `held` influence it only if the message requests at least one of them.
        """
        excluded = self._at(hidden)
        unrequested = self._at(held - hidden)
        if not unrequested:
            return Pool(self._index(hidden), _NONE, excluded, _NONE)
        vocabulary = self._indexes[frozenset()]
        requested = self._verbs.find_requested(needs, unrequested, self._entries, vocabulary)
        if not requested:
            return Pool(self._index(hidden | held), _NONE, excluded, unrequested)
        silent = unrequested - requested
        return Pool(self._index(hidden), silent, excluded, silent)

    def _at(self, levels: frozenset[Level]) -> set[int]:
        if levels:
            for number in self._without_level:
                self._by_level[self._entries[number].level].add(number)
            self._without_level.clear()
        return set[int]().union(*(self._by_level[level] for level in levels))

    def _index(self, levels: frozenset[Level]) -> Index:
        if levels not in self._indexes:
            self._indexes[levels] = self._indexes[frozenset()].without(self._at(levels))
        return self._indexes[levels]
