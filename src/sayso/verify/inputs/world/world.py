"""The seeded world: files for a tested server, and values for its inputs."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from sayso.source import Constant, Constants, fold
from sayso.verify.inputs.roles import Meaning, Role
from sayso.verify.inputs.world.values import Values, known_values
from sayso.verify.inputs.world.web import Site

INSIDE: Final = "/world"
"""The world's path in a sandbox."""
FILES: Final = Path(__file__).with_name("files")
"""The world's files. tools/write_world.py writes the binary files."""
MOMENT: Final = int(datetime(2026, 1, 15, 9, 30, tzinfo=UTC).timestamp())


@dataclass(frozen=True, slots=True)
class World:
    """A copy of the world in `folder`, which the server sees at `inside`.

    `site` is the world's web site, if it runs. `constants` are those that the server's code
    compares values with, by the value's name.
    """

    folder: Path
    inside: str = INSIDE
    site: Site | None = None
    constants: Constants = field(default_factory=dict[str, tuple[Constant, ...]])

    def compared(self, parameter: str) -> tuple[Constant, ...]:
        """Return the constants that the server compares a parameter of this name with."""
        return self.constants.get(fold(parameter), ())

    def with_site(self, site: Site) -> "World":
        """Return this world with `site`, to whose address the URLs in `values` point."""
        return replace(self, site=site)

    def values(self, role: Role | Meaning) -> Values:
        """Return values for a role, as the server sees them; empty if the world has none.

        >>> World(Path("w")).values(Role.FILE)["existing"][0]
        '/world/notes.txt'
        """
        meaning = role if isinstance(role, Meaning) else Meaning(role)
        url = self.site.url if self.site else "http://127.0.0.1:8000"
        return known_values(meaning, self.inside, url=url)

    def ending(self, endings: Sequence[str]) -> tuple[str, ...]:
        """Return the world's top-level files with these endings, such as `.csv`."""
        names = sorted(path.name for path in self.folder.glob("*.*") if path.is_file())
        return tuple(
            f"{self.inside}/{name}" for end in endings for name in names if name.endswith(end)
        )

    def holding(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the world's folders with a file or folder of one of these names."""
        folders = sorted({path.parent for name in names for path in self.folder.glob(f"*/{name}")})
        return tuple(f"{self.inside}/{folder.relative_to(self.folder)}" for folder in folders)

    def has(self, path: str) -> bool:
        """Return whether the world contains a path; `path` is as the server sees it."""
        if not PurePosixPath(path).is_relative_to(self.inside) or "\0" in path or ".." in path:
            return False
        try:
            return (self.folder / PurePosixPath(path).relative_to(self.inside)).exists()
        except OSError:
            return False


def make_world(folder: Path) -> World:
    """Copy the world into a new `folder`, with fixed bytes and times."""
    shutil.copytree(FILES, folder, dirs_exist_ok=True)
    (folder / "repo" / "git").rename(folder / "repo" / ".git")
    # A wheel keeps no empty folders.
    (folder / "empty").mkdir(exist_ok=True)
    (folder / "maildir" / "tmp").mkdir(exist_ok=True)
    for path in sorted(folder.rglob("*"), reverse=True):
        os.utime(path, (MOMENT, MOMENT))
    os.utime(folder, (MOMENT, MOMENT))
    return World(folder)
