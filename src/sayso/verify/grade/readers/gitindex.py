"""The index of git: staged content, without the files' stat data."""

import struct
from typing import Final

from sayso.trace import Loss
from sayso.verify.grade.readers.content import Outcome

MAGIC: Final = b"DIRC"
STAT_BYTES: Final = 40
"""The size of an entry's stat data (times, device, inode, mode, owner, size) before the name."""
NAME_BYTES: Final = 20
EXTENDED: Final = 0x4000
PREFIXED: Final = 4
"""From this version on, a path is written as its difference from the previous path."""

Entries = dict[tuple[bytes, int], tuple[int, bytes, int]]


class GitIndexReader:
    """Compares entries by path and stage. Nothing is lost, since git's objects remain."""

    name = "git index"

    def compare(self, before: bytes, after: bytes) -> Outcome:
        old = entries(before)
        new = entries(after)
        changed = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
        if not changed:
            return Outcome(is_same=True)
        first = min(changed)[0].decode(errors="replace")
        return Outcome(Loss.NONE, f"{len(changed)} entries, such as {first}")


def entries(content: bytes) -> Entries:
    """Return the entries of an index (gitformat-index). Raises `ValueError` for other bytes."""
    try:
        magic, version, count = struct.unpack_from(">4sII", content)
        if magic != MAGIC or version not in (2, 3, PREFIXED):
            raise ValueError("not a git index")
        return _entries(content, version, count)
    except (struct.error, IndexError) as error:
        raise ValueError("the git index is cut off") from error


def _entries(content: bytes, version: int, count: int) -> Entries:
    found: Entries = {}
    offset = 12
    path = b""
    for _ in range(count):
        start = offset
        mode = struct.unpack_from(">I", content, offset + 24)[0]
        offset += STAT_BYTES
        name = content[offset : offset + NAME_BYTES]
        offset += NAME_BYTES
        flags = struct.unpack_from(">H", content, offset)[0]
        offset += 2
        more = 0
        if flags & EXTENDED:
            more = struct.unpack_from(">H", content, offset)[0]
            offset += 2
        if version == PREFIXED:
            strip, offset = _number(content, offset)
            end = content.index(b"\0", offset)
            path = path[: len(path) - strip] + content[offset:end]
            offset = end + 1
        else:
            end = content.index(b"\0", offset)
            path = content[offset:end]
            offset = start + (end - start + 8) // 8 * 8
        found[path, flags >> 12 & 3] = (mode, name, (flags & 0x8000) << 16 | more)
    return found


def _number(content: bytes, offset: int) -> tuple[int, int]:
    """Return a number of variable width, as in pack files, and the position after it."""
    byte = content[offset]
    value = byte & 127
    while byte & 128:
        offset += 1
        byte = content[offset]
        value = (value + 1) << 7 | byte & 127
    return value, offset + 1
