"""The differences between two snapshots of a folder, found without reading files."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from stat import S_IMODE
from typing import Final

from sayso.trace import Kind
from sayso.verify.observe.snapshot import Entry, Snapshot

RESTORED: Final = "written and restored"
SAME_BYTES: Final = "the same bytes written again"
REPLACED: Final = "replaced by a file with the same bytes"

Contains = Callable[[str, str], bool]
"""A function that returns whether the second digest's content begins with the first's."""


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one path. For a rename, `path` is the old path and `to` the new path."""

    kind: Kind
    path: str
    before: Entry | None = None
    after: Entry | None = None
    detail: str = ""
    to: str = ""


def compare(before: Snapshot, after: Snapshot, *, begins: Contains) -> list[Change]:
    """Return all changes, sorted by path. A moved folder with its content is one change."""
    gone = {path: entry for path, entry in before.items() if path not in after}
    new = {path: entry for path, entry in after.items() if path not in before}
    moved = dict(_moved(gone, {**new, **_exchanged(before, after)}, begins=begins))
    changes = [
        Change(Kind.RENAME, path, gone[path], after[to], f"to {PurePath(to).name}", to)
        for path, to in moved.items()
        if moved.get(str(PurePath(path).parent)) != str(PurePath(to).parent)
    ]
    changes += [
        Change(Kind.DELETE, path, entry, None, _sort(entry))
        for path, entry in gone.items()
        if path not in moved
    ]
    arrived = set(moved.values())
    changes += [_created(path, entry) for path, entry in new.items() if path not in arrived]
    for path, to in moved.items():
        if to in new:
            changes += _changed(to, gone[path], after[to], begins=begins, is_moved=True)
    for path, entry in after.items():
        known = before.get(path)
        if known is not None and known is not entry:
            changes += _changed(path, known, entry, begins=begins)
    return sorted(changes, key=lambda change: change.path)


def _created(path: str, entry: Entry) -> Change:
    if entry.sort == "whiteout":
        return Change(Kind.DELETE, path, None, entry, "removed in the overlay")
    return Change(Kind.CREATE, path, None, entry, _sort(entry))


def _sort(entry: Entry) -> str:
    if entry.sort == "link":
        return f"link to {entry.leads_to}"
    return "" if entry.sort == "file" else entry.sort


def _exchanged(before: Snapshot, after: Snapshot) -> dict[str, Entry]:
    """Return existing paths that now have a different inode: a file may have been moved there."""
    return {
        path: entry
        for path, entry in after.items()
        if (known := before.get(path)) is not None
        and known is not entry
        and known.stat.inode != entry.stat.inode
    }


def _moved(gone: Snapshot, new: Snapshot, *, begins: Contains) -> Iterator[tuple[str, str]]:
    by_inode = {(entry.stat.device, entry.stat.inode): path for path, entry in new.items()}
    for path, entry in gone.items():
        to = by_inode.get((entry.stat.device, entry.stat.inode))
        if to is not None and _is_same_file(entry, new[to], begins=begins):
            del by_inode[entry.stat.device, entry.stat.inode]
            yield path, to


def _is_same_file(old: Entry, new: Entry, *, begins: Contains) -> bool:
    """Return whether two entries with one inode number are the same file, not a reused number."""
    if old.sort != new.sort:
        return False
    if old.sort == "folder":
        return True
    if old.stat.mtime_ns == new.stat.mtime_ns and old.stat.size == new.stat.size:
        return True
    return old.sort == "file" and old.stat.size > 0 and begins(old.digest, new.digest)


def _changed(
    path: str, old: Entry, new: Entry, *, begins: Contains, is_moved: bool = False
) -> Iterator[Change]:
    if old.sort != new.sort:
        yield Change(Kind.WRITE, path, old, new, f"was a {old.sort}, is now a {new.sort}")
        return
    attributes = "; ".join(_attributes(old, new))
    if attributes:
        yield Change(Kind.METADATA, path, old, new, attributes)
    if new.sort == "link":
        if old.leads_to != new.leads_to:
            yield Change(Kind.WRITE, path, old, new, f"now leads to {new.leads_to}")
    elif new.sort == "file":
        content = _content(old, new, begins=begins, is_touched=bool(attributes) or is_moved)
        if content is not None:
            yield Change(content[0], path, old, new, content[1])


def _attributes(old: Entry, new: Entry) -> Iterator[str]:
    if S_IMODE(old.stat.mode) != S_IMODE(new.stat.mode):
        yield f"mode {S_IMODE(old.stat.mode):o} → {S_IMODE(new.stat.mode):o}"
    if (old.stat.uid, old.stat.gid) != (new.stat.uid, new.stat.gid):
        yield f"owner {old.stat.uid}:{old.stat.gid} → {new.stat.uid}:{new.stat.gid}"
    if old.xattrs != new.xattrs:
        names = sorted({name for name, _ in set(old.xattrs) ^ set(new.xattrs)})
        yield f"attributes {', '.join(names)}"
    is_same_file = old.stat.inode == new.stat.inode
    if new.sort == "file" and is_same_file and old.stat.links != new.stat.links:
        yield f"links {old.stat.links} → {new.stat.links}"


def _content(
    old: Entry, new: Entry, *, begins: Contains, is_touched: bool
) -> tuple[Kind, str] | None:
    """Return the change of a file's content, or `None`. Every write changes the ctime."""
    if not old.digest or not new.digest:
        same = (old.stat.size, old.stat.mtime_ns) == (new.stat.size, new.stat.mtime_ns)
        return None if same else (Kind.WRITE, "the content was not compared")
    if old.digest != new.digest:
        if begins(old.digest, new.digest):
            return Kind.APPEND, f"{new.stat.size - old.stat.size} bytes"
        return Kind.WRITE, f"{old.stat.size} → {new.stat.size} bytes"
    if is_touched and old.stat.mtime_ns == new.stat.mtime_ns:
        return None
    if old.stat.inode != new.stat.inode:
        return Kind.WRITE, REPLACED
    if old.stat.mtime_ns != new.stat.mtime_ns:
        return Kind.WRITE, SAME_BYTES
    return (Kind.WRITE, RESTORED) if old.stat.ctime_ns != new.stat.ctime_ns else None
