"""Locks on files that a twin keeps after a call: who writes there has to wait."""

import os
from pathlib import Path
from typing import Final

_LOCKS: Final = Path("/proc/locks")
_NO_PROCESS: Final = "-1"
"""What the kernel says of a lock that belongs to an open file (F_OFD_SETLK)."""


def is_locked(path: str, *, by: int) -> bool:
    """Return whether a process in the PID namespace of the process `by` holds a lock on a file.

    False if the file or the process is gone. A lock that belongs to an open file counts whoever
    opened it, since the kernel does not tell.
    """
    try:
        inode = str(os.stat(path).st_ino)  # noqa: PTH116 - names of any bytes
        box = _box_of(str(by))
        lines = _LOCKS.read_text().splitlines()
    except (OSError, ValueError):
        return False
    # `1: POSIX  ADVISORY  READ  1234 08:01:5678 0 EOF`; with `->`, a lock that is waited for.
    held = [words for words in map(str.split, lines) if "->" not in words]
    holders = {words[4] for words in held if words[5].rpartition(":")[2] == inode}
    return _NO_PROCESS in holders or any(_is_in(holder, box) for holder in holders)


def _is_in(process: str, box: str) -> bool:
    try:
        return _box_of(process) == box
    except OSError:
        return False


def _box_of(process: str) -> str:
    return os.readlink(f"/proc/{process}/ns/pid")  # noqa: PTH115 - a name is wanted, not a path
