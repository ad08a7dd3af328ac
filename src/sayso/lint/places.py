"""Where in a file each tool of a list stands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sayso.settings import Step, members


@dataclass(frozen=True, slots=True)
class Places:
    """A file, and the line of each tool in it by its place in the list; no file for a URL.

    `first` is the line of what is about the whole server, and of tools that have none.
    """

    file: str | None = None
    lines: Mapping[int, int] = field(default_factory=dict[int, int])
    first: int = 1

    def line(self, index: int | None) -> int | None:
        """The line of a tool, or of the server; `None` for no file."""
        if self.file is None:
            return None
        return self.first if index is None else self.lines.get(index, self.first)


def places_in(file: str, text: str, steps: Sequence[Step]) -> Places:
    """The lines of the tools in the array that `steps` lead to, in one pass over the text."""
    lines: dict[int, int] = {}
    line = 1
    at = 0
    for index, member in enumerate(members(text, steps)):
        line += text.count("\n", at, member.value_at)
        at = member.value_at
        lines[index] = line
    return Places(file, lines)
