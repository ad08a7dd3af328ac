"""The seeded world: copied into a folder, and what there is in it for each role."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from sayso.verify.inputs.roles import Meaning, Role
from sayso.verify.inputs.world.values import Values, known_values
from sayso.verify.inputs.world.web import Site

INSIDE: Final = "/world"
"""Where a contained server sees it."""
FILES: Final = Path(__file__).with_name("files")
"""The world as it is kept; tools/write_world.py makes its binary files."""
MOMENT: Final = int(datetime(2026, 1, 15, 9, 30, tzinfo=UTC).timestamp())


@dataclass(frozen=True, slots=True)
class World:
    """A world on the disk. `folder` is where its bytes are, `inside` where the server sees them.

    `site` is the web that goes with it, while it is served.
    """

    folder: Path
    inside: str = INSIDE
    site: Site | None = None

    def with_site(self, site: Site) -> "World":
        """The same world, whose URLs lead to a web that is served."""
        return replace(self, site=site)

    def values(self, role: Role | Meaning) -> Values:
        """What there is for a role, as the server sees it; empty where the world has nothing.

        >>> World(Path("w")).values(Role.FILE)["existing"][0]
        '/world/notes.txt'
        """
        meaning = role if isinstance(role, Meaning) else Meaning(role)
        url = self.site.url if self.site else "http://127.0.0.1:8000"
        return known_values(meaning, self.inside, url=url)

    def ending(self, endings: Sequence[str]) -> tuple[str, ...]:
        """Its files whose names end in one of these, such as `.csv`, those of its root only."""
        names = sorted(path.name for path in self.folder.glob("*.*") if path.is_file())
        return tuple(
            f"{self.inside}/{name}" for end in endings for name in names if name.endswith(end)
        )

    def has(self, path: str) -> bool:
        """Whether there is something at a path, as the server sees it, when it starts."""
        if not PurePosixPath(path).is_relative_to(self.inside) or "\0" in path or ".." in path:
            return False
        try:
            return (self.folder / PurePosixPath(path).relative_to(self.inside)).exists()
        except OSError:
            return False


def make_world(folder: Path) -> World:
    """Copy the world into `folder`, which is made; the same bytes and times each time."""
    shutil.copytree(FILES, folder, dirs_exist_ok=True)
    (folder / "repo" / "git").rename(folder / "repo" / ".git")
    # No package holds an empty folder.
    (folder / "empty").mkdir(exist_ok=True)
    (folder / "maildir" / "tmp").mkdir(exist_ok=True)
    for path in sorted(folder.rglob("*"), reverse=True):
        os.utime(path, (MOMENT, MOMENT))
    os.utime(folder, (MOMENT, MOMENT))
    return World(folder)
