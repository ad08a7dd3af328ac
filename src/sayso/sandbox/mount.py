"""The places that a contained server can write to, and whose each is."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Final


class Role(StrEnum):
    """Whose a place is."""

    FIXTURE = "fixture"
    """What the person keeps: a fixture, or the seeded world."""
    HOME = "home"
    """The private HOME, and what XDG names below it."""
    TEMPORARY = "temporary"
    PACKAGE = "package"
    """Where the server's own files lie, under an overlay that takes what it writes."""
    OWN = "own"
    """A path that the operator named as the server's own state."""


_LONGEST: Final = 4096
"""PATH_MAX of Linux: a server can make deeper folders, one step after the other."""


@dataclass(frozen=True, slots=True)
class Place:
    """`inside` is the path that the server sees, `host` where its bytes are, for observers."""

    inside: str
    host: Path
    role: Role

    def inside_of(self, host: Path) -> str:
        """The path that the server sees for a file below `host`."""
        return str(PurePosixPath(self.inside) / host.relative_to(self.host).as_posix())

    def host_of(self, inside: str) -> Path | None:
        """Where the bytes of a path that the server sees are.

        `None` where it is not below, or deeper than this machine can name it in one piece.
        """
        path = PurePosixPath(inside)
        if not path.is_relative_to(self.inside):
            return None
        host = self.host / path.relative_to(self.inside)
        return host if len(os.fsencode(host)) < _LONGEST else None


def place_of(places: Sequence[Place], inside: str) -> Place | None:
    """The innermost place that holds a path, as the server sees it."""
    found = [place for place in places if PurePosixPath(inside).is_relative_to(place.inside)]
    return max(found, key=lambda place: len(place.inside), default=None)
