"""The digest of a package's files, as they lie there."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

MOST_FILES: Final = 50_000
MOST_BYTES: Final = 512_000_000


def files_below(folder: Path, *, has_hidden: bool = False) -> list[Path]:
    """All files in a folder and below it, and links to folders, which are not followed.

    What running leaves is passed over (bytecode), and what is hidden unless it `has_hidden`: a
    working copy has its history there, an installed package perhaps its code. Raises `ValueError`
    where there are too many: then it is no package, but somebody's home.
    """
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [
            one for one in folders if one != "__pycache__" and (has_hidden or one[0] != ".")
        ]
        links = [one for one in folders if (Path(place) / one).is_symlink()]
        kept = [one for one in names if one[-4:] != ".pyc" and (has_hidden or one[0] != ".")]
        found += [Path(place) / one for one in (*links, *kept)]
        if len(found) > MOST_FILES:
            raise ValueError(folder)
    return found


def digest_files(root: Path, files: Iterable[Path]) -> str:
    """SHA-256, in hexadecimal, over the sorted paths of files from `root` and their digests.

    Raises `ValueError` where there are none, or they are too large, `OSError` where one cannot be
    read.
    """
    named = {os.fsencode(one.relative_to(root).as_posix()): one for one in files}
    if not named or sum(one.stat().st_size for one in named.values()) > MOST_BYTES:
        raise ValueError(root)
    whole = hashlib.sha256()
    for name in sorted(named):
        whole.update(b"%s\0%s\n" % (name, _digest(named[name]).encode()))
    return whole.hexdigest()


def _digest(file: Path) -> str:
    if file.is_dir():  # a link: where it leads to is somebody else's
        return hashlib.sha256(os.fsencode(file.readlink())).hexdigest()
    if not file.is_file():
        raise ValueError(file)  # a pipe or a device, which might be waited for
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
