"""Folders of this machine that a server needs to run, and those that it must never see whole."""

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
    """A path that is seen inside as it is outside. A package may be put under an overlay."""

    path: Path
    is_package: bool = False


def is_system(path: Path) -> bool:
    """Whether it is there in any box."""
    return any(path.is_relative_to(folder) for folder in _SYSTEM)


def is_crowded(path: Path) -> bool:
    """Whether it holds more than one program's files: a home, what lies above it, /tmp."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - no error where there is no home
    homes = {home, home.resolve()}
    return (
        path in _CROWDED
        or any(folder.is_relative_to(path) for folder in homes)
        or any(path == folder / name for folder in homes for name in _PERSONAL)
    )


def folder_or_file(file: Path) -> Path:
    """The folder of a file, or the file alone where others' files lie beside it."""
    if is_crowded(file.parent):
        return file
    return file.parent


def tidy(binds: Iterable[Bind]) -> tuple[Bind, ...]:
    """Without what is there anyway, or lies in another; outer folders first."""
    kept: list[Bind] = []
    for bind in sorted(
        dict.fromkeys(binds), key=lambda each: (len(each.path.parts), str(each.path))
    ):
        is_held = any(bind.path.is_relative_to(each.path) for each in kept)
        if not is_held and not is_system(bind.path) and bind.path.exists():
            kept.append(bind)
    return tuple(kept)
