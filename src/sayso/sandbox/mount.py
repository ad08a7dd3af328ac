"""The places that a contained server can write to, and their owners."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Final


class Role(StrEnum):
    """The owner of a place."""

    FIXTURE = "fixture"
    """Kept by the user: a fixture, or the seeded world."""
    HOME = "home"
    """The private HOME with its XDG folders."""
    TEMPORARY = "temporary"
    PACKAGE = "package"
    """The server's own files, under an overlay that takes its writes."""
    OWN = "own"
    """A path that the operator named as the server's own state."""


_LONGEST: Final = 4096
"""PATH_MAX of Linux. A server can make deeper folders step by step."""


@dataclass(frozen=True, slots=True)
class Place:
    """A writable place: `inside` is the server's path, `host` is where its bytes are."""

    inside: str
    host: Path
    role: Role

    def inside_of(self, host: Path) -> str:
        """Return the server's path of a file below `host`."""
        return str(PurePosixPath(self.inside) / host.relative_to(self.host).as_posix())

    def host_of(self, inside: str) -> Path | None:
        """Return the host path of a server's path, or `None` if outside this place or too long."""
        path = PurePosixPath(inside)
        if not path.is_relative_to(self.inside):
            return None
        host = self.host / path.relative_to(self.inside)
        return host if len(os.fsencode(host)) < _LONGEST else None


def place_of(places: Sequence[Place], inside: str) -> Place | None:
    """Return the innermost place that holds a path of the server."""
    containing = [place for place in places if PurePosixPath(inside).is_relative_to(place.inside)]
    return max(containing, key=lambda place: len(place.inside), default=None)
