"""A snapshot of a folder: the stat data of all its entries, and the digests of its files."""

import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from sayso.sandbox import Place
from sayso.verify.observe.content_store import ContentStore

UNSETTLED_NS: Final = 50_000_000
"""If a file changed less than this time before a look, the next look reads it again.

A file system's clock has steps of some milliseconds, so two changes may have the same ctime.
"""


class Stat(NamedTuple):
    """The stat data that changes when a file changes."""

    mode: int
    uid: int
    gid: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    links: int
    special: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, folder, link to `leads_to`, or special file. Only files have a `digest`."""

    stat: Stat
    digest: str = ""
    leads_to: str = ""
    xattrs: tuple[tuple[str, bytes], ...] = ()
    is_settled: bool = True

    @property
    def sort(self) -> str:
        """Return the sort: `file`, `folder`, `link`, `socket`, `pipe`, `device` or `whiteout`."""
        mode = self.stat.mode
        if stat.S_ISCHR(mode) and self.stat.special == 0:
            return "whiteout"
        names = (
            (stat.S_ISREG, "file"),
            (stat.S_ISDIR, "folder"),
            (stat.S_ISLNK, "link"),
            (stat.S_ISSOCK, "socket"),
            (stat.S_ISFIFO, "pipe"),
        )
        return next((name for is_such, name in names if is_such(mode)), "device")


Snapshot = Mapping[str, Entry]
"""Entries by their path on the host."""


def scan(root: str) -> Iterator[tuple[str, Stat]]:
    """Yield all entries below a folder. Entries that vanish or are inaccessible are skipped."""
    pending = [root]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    try:
                        found = _stat(entry.stat(follow_symlinks=False))
                    except OSError:
                        continue
                    if stat.S_ISDIR(found.mode):
                        pending.append(entry.path)
                    yield entry.path, found
        except OSError:
            continue


def look(root: str, before: Snapshot, *, store: ContentStore) -> dict[str, Entry]:
    """Return the folder's entries. Read only files that are new, changed or recently changed."""
    youngest_ns = time.time_ns() - UNSETTLED_NS
    found: dict[str, Entry] = {}
    for path, status in scan(root):
        known = before.get(path)
        if known and known.stat == status and known.is_settled:
            found[path] = known
        else:
            found[path] = _entry(path, status, store=store, young=youngest_ns)
    return found


def _stat(found: os.stat_result) -> Stat:
    return Stat(
        found.st_mode,
        found.st_uid,
        found.st_gid,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
        found.st_ino,
        found.st_dev,
        found.st_nlink,
        found.st_rdev,
    )


def _entry(path: str, status: Stat, *, store: ContentStore, young: int) -> Entry:
    entry = Entry(status, is_settled=status.ctime_ns < young)
    if stat.S_ISLNK(status.mode):
        return replace(entry, leads_to=_leads_to(path))
    if stat.S_ISREG(status.mode):
        return replace(entry, digest=store.add(path), xattrs=_xattrs(path))
    if stat.S_ISDIR(status.mode):
        return replace(entry, xattrs=_xattrs(path))
    return entry


def _leads_to(path: str) -> str:
    try:
        return str(Path(path).readlink())
    except OSError:
        return ""


def _xattrs(path: str) -> tuple[tuple[str, bytes], ...]:
    try:
        names = os.listxattr(path, follow_symlinks=False)
        return tuple((name, os.getxattr(path, name, follow_symlinks=False)) for name in names)
    except OSError:
        return ()


def outermost(places: Sequence[Place]) -> tuple[Place, ...]:
    """Return the places that are not inside another place, so that changes are listed once."""
    hosts = [f"{each.host}/" for each in places]
    return tuple(
        place
        for number, place in enumerate(places)
        if not any(
            hosts[number].startswith(host) and (hosts[number] != host or other < number)
            for other, host in enumerate(hosts)
            if other != number
        )
    )
