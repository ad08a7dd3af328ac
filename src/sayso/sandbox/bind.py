"""Host folders that a server needs to run, and folders that it must never see whole."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_SYSTEM: Final = tuple(
    Path(name) for name in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store")
)

_PERSONAL: Final = (".cache", ".config", ".gnupg", ".local", ".local/share", ".ssh")

_CROWDED: Final = frozenset(
    Path("/", name)
    for name in (
        *("", "dev", "etc", "home", "mnt", "opt", "proc", "run", "srv", "sys", "tmp", "var"),
        "var/tmp",
    )
)


@dataclass(frozen=True, slots=True)
class Bind:
    """A path with the same name inside and outside. A package may be put under an overlay."""

    path: Path
    is_package: bool = False


def is_system(path: Path) -> bool:
    """Return whether a path is part of every box."""
    return any(path.is_relative_to(folder) for folder in _SYSTEM)


def is_crowded(path: Path) -> bool:
    """Return whether a folder holds more than one program's files: a home, its parents, /tmp."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - no error where there is no home
    homes = {home, home.resolve()}
    return (
        path in _CROWDED
        or any(folder.is_relative_to(path) for folder in homes)
        or any(path == folder / name for folder in homes for name in _PERSONAL)
    )


def folder_or_file(file: Path) -> Path:
    """Return the folder of a file, or only the file if the folder is shared."""
    if is_crowded(file.parent):
        return file
    return file.parent


def tidy(binds: Iterable[Bind]) -> tuple[Bind, ...]:
    """Drop binds that are in every box or inside another bind; sort outer folders first."""
    kept: list[Bind] = []
    for bind in sorted(
        dict.fromkeys(binds), key=lambda each: (len(each.path.parts), str(each.path))
    ):
        is_covered = any(bind.path.is_relative_to(each.path) for each in kept)
        if not is_covered and not is_system(bind.path) and bind.path.exists():
            kept.append(bind)
    return tuple(kept)
