"""Tests of a file's content for whether a running program generated the file."""

import importlib.util
import struct
from pathlib import Path, PurePosixPath
from typing import Final

from sayso.sandbox import Role
from sayso.trace import Effect
from sayso.verify.grade.context import CallContext
from sayso.verify.grade.loss import content_of

CACHE_TAG: Final = b"Signature: 8a477f597d28d172789f06886806bc55"
"""The first bytes of a CACHEDIR.TAG (bford.info/cachedir)."""
SIDECARS: Final = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
"""The first bytes of an SQLite WAL in both byte orders, and of a journal (sqlite.org/fileformat)"""
HEADER: Final = 16
CHECKED_BY_HASH: Final = 1


def is_bytecode(effect: Effect, context: CallContext) -> bool:
    """Return whether a file is the bytecode of an existing Python source, by its header."""
    path = PurePosixPath(effect.target)
    if path.name == "__pycache__":
        sources = context.host(str(path.parent))
        return sources is not None and any(sources.glob("*.py"))
    folder = path.parent
    if folder.name != "__pycache__":
        return False
    source = folder.parent / f"{path.name.partition('.')[0]}.py"
    content = content_of(effect.after)
    host = context.host(str(source))
    if content is None:
        return host is None or not context.is_role(str(source), Role.FIXTURE)
    return _fits(content, host)


def _fits(content: bytes, source: Path | None) -> bool:
    if len(content) < HEADER or content[2:4] != importlib.util.MAGIC_NUMBER[2:4]:
        return False
    flags, seconds, size = struct.unpack_from("<III", content, 4)
    if source is None or flags & CHECKED_BY_HASH:
        return True
    try:
        status = source.stat()
    except OSError:
        return False
    return (int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF) == (seconds, size)


def is_sidecar(effect: Effect) -> bool:
    """Return whether a file's content is an SQLite WAL or journal."""
    content = content_of(effect.after) or content_of(effect.before)
    return content is not None and content.startswith(SIDECARS)


def is_tagged_cache(path: str, context: CallContext) -> bool:
    """Return whether a path lies in a folder with a cache tag."""
    folders = [PurePosixPath(path), *PurePosixPath(path).parents]
    for folder in folders:
        tag = context.host(str(folder / "CACHEDIR.TAG"))
        if tag is None or tag.is_symlink() or not tag.is_file():
            continue
        with tag.open("rb") as file:
            if file.read(len(CACHE_TAG)) == CACHE_TAG:
                return True
    return False
