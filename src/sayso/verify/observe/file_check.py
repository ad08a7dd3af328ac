"""Checks of files for changes that the trace of system calls does not decide."""

import contextlib
import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from sayso.sandbox import Place, place_of
from sayso.trace import MAPPED, PERHAPS_MADE, Effect, Kind, syscall_effect

_COARSE: Final = 0.02
"""The number of seconds by which a file system's clock may lag behind the trace's clock."""
_LARGEST: Final = 1 << 24
"""The maximum size of a mapped file to hash. Of a larger file, size and time are compared."""

_WRITTEN: Final = frozenset({Kind.WRITE, Kind.APPEND})

Digests = dict[str, bytes]


def settle(effects: Iterable[tuple[Effect, float]], places: Sequence[Place]) -> list[Effect]:
    """Drop effects that a look at the file disproves.

    The file's times show whether an open with `O_CREAT` created it, and whether a mapping wrote to
    it. If the file cannot be seen, the effect stays; a mapping then becomes `BLIND`.
    """
    effects = list(effects)
    written = {effect.target for effect, _ in effects if effect.kind in _WRITTEN}
    settled: list[Effect] = []
    for effect, time in effects:
        if effect.detail.startswith(PERHAPS_MADE):
            # If the file was also written, the effect of the write is enough.
            if effect.target not in written and not _is_as_before(effect, time, places):
                settled.append(effect)
        elif effect.detail.startswith(MAPPED):
            settled += _settle_mapping(effect, time, places)
        else:
            settled.append(effect)
    return settled


def _is_as_before(effect: Effect, time: float, places: Sequence[Place]) -> bool:
    status = _stat(effect.target, places)
    return status is not None and (effect.is_failed or status.st_ctime < time - _COARSE)


def _settle_mapping(effect: Effect, time: float, places: Sequence[Place]) -> Sequence[Effect]:
    found = _stat(effect.target, places)
    if found is None:
        return [replace(effect, kind=Kind.BLIND)]
    if found.st_mtime >= time - _COARSE:
        return [effect]
    # File systems without a device, such as tmpfs, may not update the time on such a write.
    return [] if os.major(found.st_dev) else [replace(effect, kind=Kind.BLIND)]


def _stat(inside: str, places: Sequence[Place]) -> os.stat_result | None:
    with contextlib.suppress(OSError, ValueError):
        host = _host_of(inside, places)
        return host and host.lstat()
    return None


def _host_of(inside: str, places: Sequence[Place]) -> Path | None:
    place = place_of(places, inside)
    return place and place.host_of(inside)


def digest_mapped(paths: Iterable[str], places: Sequence[Place]) -> Digests:
    """Return digests of mapped files, since no system call shows a write to a mapping."""
    digests: Digests = {}
    for inside in set(paths):
        host = _host_of(inside, places)
        if host is not None:
            with contextlib.suppress(OSError, ValueError):
                digests[inside] = _digest(host)
    return digests


def _digest(path: Path) -> bytes:
    found = path.stat()
    if found.st_size > _LARGEST:
        return f"{found.st_size} {found.st_mtime_ns}".encode()
    return hashlib.sha256(path.read_bytes()).digest()


def changed(before: Digests, after: Digests) -> list[Effect]:
    """Return effects for the mapped files whose content changed."""
    return [
        syscall_effect(Kind.WRITE, path, detail="through a mapping")
        for path, digest in sorted(after.items())
        if path in before and before[path] != digest
    ]
