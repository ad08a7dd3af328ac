"""The shelf: the tools that may be selected, what they are found by, and which levels they have."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from sayso.catalog.select.asked import Verbs
from sayso.catalog.select.entry import Entry
from sayso.catalog.select.index import Index
from sayso.catalog.select.needs import Need
from sayso.errors import UsageError
from sayso.intent import Level

_MOST_NAMED: Final = 5
_LEAST_ALIKE: Final = 0.4
_NONE: Final[frozenset[int]] = frozenset()


@dataclass(frozen=True, slots=True)
class Field:
    """The tools among which a message selects: all in `index` that are not `silent`.

    `excluded` and `unasked` are the numbers of all others, by the reason.
    """

    index: Index
    silent: AbstractSet[int]
    excluded: AbstractSet[int]
    unasked: AbstractSet[int]

    def __iter__(self) -> Iterator[int]:
        return (number for number in self.index.numbers if number not in self.silent)

    def __len__(self) -> int:
        return len(self.index) - len(self.silent)

    def count(self, numbers: AbstractSet[int]) -> int:
        """How many of some tools are among them."""
        return sum(1 for at in numbers if at in self.index.numbers and at not in self.silent)


class Shelf:
    """Tools by number; each is indexed once, when it comes."""

    def __init__(self) -> None:
        self._entries: dict[int, Entry] = {}
        self._numbers: dict[str, int] = {}
        self._named: dict[str, set[int]] = {}
        self._indexes: dict[frozenset[Level], Index] = {frozenset(): Index()}
        self._verbs = Verbs()
        self._by_level: dict[Level, set[int]] = {level: set() for level in Level}
        self._unread: set[int] = set()
        self._next = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, number: int) -> Entry:
        return self._entries[number]

    def replace(self, entries: Mapping[str, Entry]) -> None:
        """Hold these by their keys and no others; what stays as it is is not touched."""
        for key in [key for key in self._numbers if key not in entries]:
            self.drop(self._numbers[key])
        for entry in entries.values():
            self.put(entry)

    def put(self, entry: Entry) -> None:
        """Hold one more, or another in the place of the one with its key."""
        known = self._numbers.get(entry.key)
        if known is not None:
            if entry.is_same(self._entries[known]):
                return
            self.drop(known)
        number = self._next
        self._next = self._next + 1
        self._entries[number] = entry
        self._numbers[entry.key] = number
        for name in entry.names():
            self._named.setdefault(name, set()).add(number)
        self._verbs.add(number, entry)
        self._unread.add(number)
        words = entry.words()
        for levels, index in self._indexes.items():
            if not levels or entry.level not in levels:
                index.add(number, words, entry.key)

    def drop(self, number: int) -> None:
        """Let go of one."""
        entry = self._entries.pop(number)
        del self._numbers[entry.key]
        for name in entry.names():
            self._named[name].discard(number)
        self._verbs.remove(number, entry)
        for known in (self._unread, *self._by_level.values()):
            known.discard(number)
        words = entry.words()
        for index in self._indexes.values():
            if number in index.numbers:
                index.remove(number, words)

    def find(self, name: str) -> int:
        """The number of a tool, by `server__tool` or by a name that only one has.

        Raises `UsageError` for a name that none has, with those that are near, or several have.
        """
        named = self._named.get(name, set())
        found = [at for at in named if self._entries[at].qualified_name == name] or [*named]
        if len(found) == 1:
            return found[0]
        if found:
            names = sorted(self._entries[at].qualified_name for at in found)[:_MOST_NAMED]
            what = f"{len(found)} tools are called {name!r}"
            raise UsageError(what, fix=f"Say which: {', '.join(names)}.")
        names = sorted(known for known, numbers in self._named.items() if numbers)
        near = get_close_matches(name, names, _MOST_NAMED, _LEAST_ALIKE)
        fix = None
        if near:
            fix = f"Near it are: {', '.join(near)}."
        raise UsageError(f"no tool is called {name!r}", fix=fix)

    def field(
        self, needs: Sequence[Sequence[Need]], hidden: frozenset[Level], held: frozenset[Level]
    ) -> Field:
        """The tools without those of the levels `hidden`, and of `held` those that are asked for.

        What is not there has no part in how others are ranked: not as one that fits, nor by what
        words it makes less rare. Only where some of a level are asked for, do all of it count.
        """
        excluded = self._at(hidden)
        unasked = self._at(held - hidden)
        if not unasked:
            return Field(self._index(hidden), _NONE, excluded, _NONE)
        known = self._indexes[frozenset()]
        asked = self._verbs.find_asked(needs, unasked, self._entries, known)
        if not asked:
            return Field(self._index(hidden | held), _NONE, excluded, unasked)
        silent = unasked - asked
        return Field(self._index(hidden), silent, excluded, silent)

    def _at(self, levels: frozenset[Level]) -> set[int]:
        if levels:
            for number in self._unread:
                self._by_level[self._entries[number].level].add(number)
            self._unread.clear()
        return set[int]().union(*(self._by_level[level] for level in levels))

    def _index(self, levels: frozenset[Level]) -> Index:
        found = self._indexes.get(levels)
        if found is None:
            found = self._indexes[frozenset()].without(self._at(levels))
            self._indexes[levels] = found
        return found
