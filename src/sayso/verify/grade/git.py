"""Git repositories: whether their objects and reflogs can restore lost content."""

import hashlib
import zlib
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

from sayso.verify.grade.context import CallContext

NAME: Final = 40
"""The number of characters in an object's name."""
MOST_BYTES: Final = 16 * 1024 * 1024
MOST_COMMITS: Final = 200


def split(path: str) -> tuple[str, str] | None:
    """Split a path inside a `.git` folder into that folder and the rest."""
    parts = PurePosixPath(path).parts
    if ".git" not in parts[:-1]:
        return None
    index = parts.index(".git") + 1
    return str(PurePosixPath(*parts[:index])), "/".join(parts[index:])


def holder(path: str, content: bytes, context: CallContext) -> str:
    """Return the git command that prints this content, or "" if no repository has it."""
    head = b"blob %d\0" % len(content)
    name = hashlib.sha1(head + content, usedforsecurity=False).hexdigest()
    for parent in PurePosixPath(path).parents:
        folder = context.host(str(parent / ".git"))
        if folder is None or not folder.is_dir() or folder.is_symlink():
            continue
        if (folder / "objects" / name[:2] / name[2:]).is_file() or _is_packed(folder, name):
            return f"git show {name[:12]}"
    return ""


def is_kept(folder: Path, old: str, new: str) -> bool:
    """Return whether the commit `old` is `new` or an ancestor of it, using loose objects only."""
    pending = [new]
    seen = set[str]()
    while pending and len(seen) < MOST_COMMITS:
        name = pending.pop()
        if name == old:
            return True
        if name not in seen:
            seen.add(name)
            pending += _parents(folder, name)
    return False


def logged(folder: Path, name: str) -> bool:
    """Return whether a reflog contains a commit."""
    logs = folder / "logs"
    if logs.is_symlink() or not logs.is_dir():
        return False
    for path in islice(logs.rglob("*"), 1_000):
        if path.is_file() and not path.is_symlink() and path.stat().st_size < MOST_BYTES:
            try:
                if name in path.read_text(encoding="utf-8", errors="replace"):
                    return True
            except OSError:
                continue
    return False


def _parents(folder: Path, name: str) -> list[str]:
    path = folder / "objects" / name[:2] / name[2:]
    try:
        content = zlib.decompressobj().decompress(path.read_bytes(), 64 * 1024)
    except (OSError, zlib.error):
        return []
    words = content.partition(b"\n\n")[0].decode("ascii", errors="replace").splitlines()
    return [line.removeprefix("parent ") for line in words if line.startswith("parent ")]


def _is_packed(folder: Path, name: str) -> bool:
    """Return whether a pack's index lists an object (gitformat-pack, version 2)."""
    wanted = bytes.fromhex(name)
    for path in (folder / "objects" / "pack").glob("*.idx"):
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_BYTES:
            continue
        content = path.read_bytes()
        count = int.from_bytes(content[8 + 255 * 4 : 8 + 256 * 4], "big")
        names = content[8 + 256 * 4 : 8 + 256 * 4 + count * 20]
        position = names.find(wanted)
        while position >= 0 and position % 20:
            position = names.find(wanted, position + 1)
        if position >= 0:
            return True
    return False
