"""The files that are looked at together, so that a name imported from one leads to the other."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sayso.source.program import Module, parts_of


@dataclass(frozen=True, slots=True)
class Project:
    """Some files of one server."""

    modules: tuple[Module, ...]
    _by_last: Mapping[str, list[tuple[tuple[str, ...], Module]]] = field(repr=False)
    _depth: int = 0

    def find(self, dotted: str) -> tuple[Module, str] | None:
        """The file that a dotted name leads into, and the name in it."""
        home, _, name = dotted.rpartition(".")
        module = self._module(tuple(home.split("."))) if home else None
        return module and (module, name)

    def is_module(self, dotted: str) -> bool:
        """Whether a dotted name is that of a file."""
        return self._module(tuple(dotted.split("."))) is not None

    def _module(self, parts: tuple[str, ...]) -> Module | None:
        """The file that is imported as this; by one word, only one in the outermost folder."""
        if parts[0] in sys.stdlib_module_names:
            return None
        for known, module in self._by_last.get(parts[-1], ()):
            is_outer = len(parts) > 1 or len(known) == self._depth + 1
            if known[-len(parts) :] == parts and is_outer:
                return module
        return None


def make_project(modules: Iterable[Module]) -> Project:
    """A project of these files."""
    found = tuple(modules)
    by_last: dict[str, list[tuple[tuple[str, ...], Module]]] = {}
    for module in found:
        parts = parts_of(module.file)
        by_last.setdefault(parts[-1], []).append((parts, module))
    return Project(found, by_last, min((len(parts_of(module.file)) - 1 for module in found), default=0))
