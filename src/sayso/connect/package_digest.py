"""The digest of a package's files."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

MOST_FILES: Final = 50_000
MOST_BYTES: Final = 512_000_000


def files_below(folder: Path, *, has_hidden: bool = False) -> list[Path]:
    """Return all files in and below a folder. A link to a folder counts as a file.

    Skips `__pycache__`. Also skips hidden files, such as a working copy's `.git`, unless
    `has_hidden`: an installed package may have code in them. Raises `ValueError` if there are more
    than `MOST_FILES`.
    """
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [
            name for name in folders if name != "__pycache__" and (has_hidden or name[0] != ".")
        ]
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        kept = [name for name in names if has_hidden or name[0] != "."]
        found += [Path(place) / name for name in (*links, *kept)]
        if len(found) > MOST_FILES:
            raise ValueError(folder)
    return found


def digests_of(root: Path, files: Iterable[Path]) -> dict[str, str]:
    """Return the SHA-256 of files, in hexadecimal, by their paths from `root`.

    Raises `ValueError` without files or for too many bytes, and `OSError` for an unreadable file.
    """
    named = {file.relative_to(root).as_posix(): file for file in files}
    if not named or sum(file.stat().st_size for file in named.values()) > MOST_BYTES:
        raise ValueError(root)
    return {name: _digest(named[name]) for name in sorted(named, key=os.fsencode)}


def digest_of(digests: Mapping[str, str]) -> str:
    """Return one SHA-256, in hexadecimal, over the sorted paths of files and their digests."""
    whole = hashlib.sha256()
    for name in sorted(digests, key=os.fsencode):
        whole.update(b"%s\0%s\n" % (os.fsencode(name), digests[name].encode()))
    return whole.hexdigest()


def _digest(file: Path) -> str:
    if file.is_dir():  # a link, whose target is not part of the package
        return hashlib.sha256(os.fsencode(file.readlink())).hexdigest()
    if not file.is_file():
        raise ValueError(file)  # a pipe or a device, which might block
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
