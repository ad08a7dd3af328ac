"""Merging of the effects that several observers saw, so that each change is listed once."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from sayso.trace import Effect, Kind, Life, Observer
from sayso.verify.grade.context import CallContext, path_of

ON_FILES: Final = frozenset(
    {Kind.CREATE, Kind.WRITE, Kind.APPEND, Kind.DELETE, Kind.RENAME, Kind.METADATA}
)
SIDECARS: Final = ("-wal", "-shm", "-journal")
Paths = dict[int, set[str]]
GONE: Final = "gone by the end of the call"
UNCHANGED: Final = "the file is unchanged"


def merge(effects: Sequence[Effect], context: CallContext) -> tuple[Effect, ...]:
    """Return the effects to grade. File changes replace effects seen by system calls and hooks.

    If no change of the file remains, the effect of a system call or hook gets the life `transient`.
    """
    rows = {path_of(effect) for effect in effects if "#" in effect.target}
    seen, moved = _by_path(effects)
    merged: list[Effect] = []
    for effect in effects:
        if effect.observer is Observer.FILES and _is_described_by_rows(effect, rows):
            continue
        if effect.observer in (Observer.SYSCALLS, Observer.HOOK) and effect.kind in ON_FILES:
            merged += _settled(effect, seen, moved=moved, context=context)
        else:
            merged.append(effect)
    return tuple(_once(merged))


def _by_path(effects: Sequence[Effect]) -> tuple[Paths, Paths]:
    changed: Paths = defaultdict(set)
    moved: Paths = defaultdict(set)
    for effect in effects:
        if effect.observer in (Observer.FILES, Observer.SQLITE):
            changed[effect.call].add(path_of(effect))
            if effect.kind is Kind.RENAME:
                moved[effect.call] |= {effect.target, effect.detail.removeprefix("to ")}
        changed[effect.call] |= moved[effect.call]
    return changed, moved


def _is_described_by_rows(effect: Effect, rows: set[str]) -> bool:
    """Return whether changed rows already describe a changed file or its SQLite sidecar."""
    is_change = effect.kind in (Kind.WRITE, Kind.APPEND)
    return (is_change and effect.target in rows) or database_of(effect.target) in rows


def database_of(path: str) -> str | None:
    """Return the SQLite file that a sidecar file belongs to, or `None` for another file."""
    return next((path.removesuffix(end) for end in SIDECARS if path.endswith(end)), None)


def _settled(
    effect: Effect, seen: Paths, *, moved: Paths, context: CallContext
) -> Iterator[Effect]:
    path = effect.target
    if effect.is_failed or context.place(path) is None:
        yield effect
        return
    changed = seen[effect.call]
    above = {str(parent) for parent in PurePosixPath(path).parents}
    if path in changed or database_of(path) in changed or above & moved[effect.call]:
        return
    host = context.host(path)
    is_there = host is not None and os.path.lexists(host)
    reason = UNCHANGED if is_there else GONE
    yield replace(effect, life=Life.TRANSIENT, reason=reason)


def _once(effects: Sequence[Effect]) -> Iterator[Effect]:
    keys: set[tuple[object, ...]] = set()
    for effect in effects:
        key: tuple[object, ...] = (effect.kind, effect.target, effect.call, effect.is_failed)
        key += (effect.observer,)
        if effect.observer not in (Observer.SYSCALLS, Observer.HOOK) or effect.kind not in ON_FILES:
            key += (effect.detail,)
        if key not in keys:
            keys.add(key)
            yield effect
