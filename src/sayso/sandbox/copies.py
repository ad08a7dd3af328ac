"""Fresh copies of fixtures. A server writes to the copy and sees it at the original's path."""

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sayso.errors import UsageError
from sayso.sandbox.bubblewrap import HOME

MOST_BYTES: Final = 2 * 1024**3
MOST_FILES: Final = 200_000

SYSTEM_PATHS: Final = tuple(
    Path("/", name)
    for name in (
        *("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "run", "sbin", "sys"),
        *("usr", "var/run"),
    )
)
_SHARED: Final = tuple(map(Path, ("/home", HOME, "/tmp", "/var", "/var/tmp")))  # noqa: S108


@dataclass(slots=True)
class Tally:
    """Bytes and files copied so far, and what was skipped."""

    bytes: int = 0
    files: int = 0
    notes: list[str] = field(default_factory=list[str])


def fixture_path(given: Path) -> Path:
    """Return the absolute path of a fixture, as the server sees it. Raises `UsageError`."""
    path = Path(os.path.abspath(given.expanduser()))  # noqa: PTH100 - links stay, as the server names them
    if not path.is_dir():
        what = "the fixture is not a folder" if path.exists() else "the fixture does not exist"
        raise UsageError(what, where=str(given), fix="Give the folder that holds the fixture.")
    check_free(path)
    return path


def check_free(path: Path) -> None:
    """Raise `UsageError` if a path in the box overlaps the system's own files."""
    taken = [folder for folder in SYSTEM_PATHS if path.is_relative_to(folder)]
    above = [folder for folder in SYSTEM_PATHS if folder.is_relative_to(path)]
    if path in _SHARED or taken or above:
        raise UsageError(
            "a fixture must not overlap the system's folders",
            where=str(path),
            fix="Copy it to a separate folder.",
        )


def copy_tree(source: Path, target: Path, *, most_bytes: int = MOST_BYTES) -> tuple[str, ...]:
    """Copy a folder to a path that does not exist yet; return notes on what was skipped.

    Modes, times and symbolic links are kept; links are not followed. Sockets, pipes and devices are
    skipped. Raises `UsageError` for a tree above the limits, and `OSError` for unreadable files.
    """
    tally = Tally()
    copied_folders: list[tuple[Path, Path]] = []
    waiting = [(source, target)]
    while waiting:
        source_folder, target_folder = waiting.pop()
        target_folder.mkdir()
        copied_folders.append((source_folder, target_folder))
        waiting += _copy_entries(source_folder, target_folder, tally, most_bytes)
    # Modes and times come last: a folder may forbid writing, and each entry changes its times.
    for source_folder, target_folder in reversed(copied_folders):
        shutil.copystat(source_folder, target_folder)
    return tuple(tally.notes)


def _copy_entries(
    source_folder: Path, target_folder: Path, tally: Tally, most_bytes: int
) -> Iterator[tuple[Path, Path]]:
    for entry in sorted(os.scandir(source_folder), key=lambda child: child.name):
        to = target_folder / entry.name
        if entry.is_dir(follow_symlinks=False):
            yield Path(entry.path), to
        elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
            _count(tally, entry.stat(follow_symlinks=False).st_size, source_folder, most_bytes)
            shutil.copy2(entry.path, to, follow_symlinks=False)
        else:
            kind = _kind(entry.stat(follow_symlinks=False).st_mode)
            tally.notes.append(f"{entry.path}: {kind} is not copied")


def _count(tally: Tally, size: int, where: Path, most_bytes: int) -> None:
    tally.bytes += size
    tally.files += 1
    if tally.bytes > most_bytes or tally.files > MOST_FILES:
        raise UsageError(
            f"the fixture is larger than {most_bytes >> 20} MiB or {MOST_FILES} files",
            where=str(where),
            fix="Give a smaller folder: it is copied for every run.",
        )


def _kind(mode: int) -> str:
    if stat.S_ISSOCK(mode):
        return "a socket"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a device"
