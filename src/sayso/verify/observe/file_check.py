"""A look at the files themselves, where the trace alone cannot tell what a call did to them."""

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
"""Seconds by which the clock of file systems may lag behind that of the trace."""
_LARGEST: Final = 1 << 24
"""Bytes of a mapped file that are hashed; of a larger one only its time is looked at."""

_WRITTEN: Final = frozenset({Kind.WRITE, Kind.APPEND})

Digests = dict[str, bytes]


def settle(effects: Iterable[tuple[Effect, float]], places: Sequence[Place]) -> list[Effect]:
    """The effects without those that a look at the file shows to be none.

    A file that was opened with `O_CREAT` and had been there is as old as it was; so is one that
    was mapped and not written. Where the file cannot be seen, the effect stays as it was told;
    a mapping then only says that writes through it go unseen.
    """
    effects = list(effects)
    written = {effect.target for effect, _ in effects if effect.kind in _WRITTEN}
    settled: list[Effect] = []
    for effect, time in effects:
        if effect.detail.startswith(PERHAPS_MADE):
            # Where it was written too, that is what is sure.
            if effect.target not in written and not _is_as_before(effect, time, places):
                settled.append(effect)
        elif effect.detail.startswith(MAPPED):
            settled += _settle_mapping(effect, time, places)
        else:
            settled.append(effect)
    return settled


def _is_as_before(effect: Effect, time: float, places: Sequence[Place]) -> bool:
    found = _stat(effect.target, places)
    if effect.is_failed:
        return found is not None
    return found is not None and found.st_ctime < time - _COARSE


def _settle_mapping(effect: Effect, time: float, places: Sequence[Place]) -> Sequence[Effect]:
    found = _stat(effect.target, places)
    if found is None:
        return [replace(effect, kind=Kind.BLIND)]
    if found.st_mtime >= time - _COARSE:
        return [effect]
    # File systems without a device, such as tmpfs, may leave the time as it was.
    return [] if os.major(found.st_dev) else [replace(effect, kind=Kind.BLIND)]


def _stat(inside: str, places: Sequence[Place]) -> os.stat_result | None:
    host = host_of(inside, places)
    if host is None:
        return None
    with contextlib.suppress(OSError, ValueError):
        return host.lstat()
    return None


def host_of(inside: str, places: Sequence[Place]) -> Path | None:
    """Where a path of the server's lies for us."""
    place = place_of(places, inside)
    return None if place is None else place.host_of(inside)


def digest_mapped(paths: Iterable[str], places: Sequence[Place]) -> Digests:
    """What the files that are mapped hold now: no call tells when they are written."""
    digests: Digests = {}
    for inside in set(paths):
        host = host_of(inside, places)
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
    """The mapped files that hold something else than before."""
    return [
        syscall_effect(Kind.WRITE, path, detail="through a mapping")
        for path, digest in sorted(after.items())
        if path in before and before[path] != digest
    ]
