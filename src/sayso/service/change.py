"""A change from one state of a unit to another, with a way back at every step.

A file of somebody else at the unit's place is copied beside it before it is replaced. Files are
written atomically, so a crash leaves either the old unit or the new one; running the same command
again finishes the change.
"""

import hashlib
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from typing import Final

from sayso.clients import keep, read
from sayso.errors import ConfigError, SaysoError, UsageError
from sayso.service.place import Place
from sayso.service.systemd import Systemd, shown
from sayso.service.unit import Unit, is_edited, is_ours, replaced_by

_FILE: Final = re.compile(r"\bfile=([0-7]{3,4})\b")
_PRIVATE: Final = 0o600
_RUNNING: Final = frozenset({"active", "activating", "reloading", "refreshing"})


@dataclass(frozen=True, slots=True)
class State:
    """One state of a unit; `data` is its file, or `None` without a file of this user."""

    data: bytes | None
    mode: int = _PRIVATE
    is_enabled: bool = False
    is_active: bool = False

    @property
    def is_used(self) -> bool:
        """True if systemd has anything to stop or disable."""
        return self.data is not None or self.is_enabled or self.is_active

    def __str__(self) -> str:
        """Return the state without its file's text, as `_parsed` reads it."""
        words = [f"file={self.mode:o}" if self.data is not None else "none"]
        words += ["enabled"] * self.is_enabled
        words += ["active"] * self.is_active
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a unit. `has_kept` is true if a copy of another file is beside the unit.

    `edited` is where the file of sayso goes if a person has edited it.
    """

    place: Place
    before: State
    after: State
    has_kept: bool
    edited: Path | None

    @property
    def is_removal(self) -> bool:
        """True if the unit of sayso goes."""
        return self.after.data is None or not is_ours(self.after.data)


def plan_install(unit: Unit, place: Place, systemd: Systemd) -> Change:
    """Plan to install a unit, in place of an earlier one of sayso or of another file.

    Raises `UsageError` if the unit cannot be replaced, `ConfigError` for an unusable file.
    """
    before = _state(place, systemd)
    data = before.data
    if data is not None and is_ours(data):
        original = replaced_by(data)
        has_kept = place.kept.exists()
    else:
        original = str(before)
        has_kept = data is not None
        if data is not None and place.kept.exists() and read(place.kept) != data:
            fix = "Move one of the two files away, or choose another --name."
            what = f"cannot be kept: {place.kept.name} has the copy of another file"
            raise UsageError(what, where=str(place.path), fix=fix)
    text = replace(unit, replaced=original).text()
    after = State(text.encode(), is_enabled=True, is_active=True)
    return Change(place, before, after, has_kept, _edited(place, data))


def plan_removal(place: Place, systemd: Systemd) -> Change:
    """Plan to remove the unit, and to restore what was there before. Raises `UsageError`."""
    before = _state(place, systemd)
    if before.data is None:
        fix = "Run sayso service install, or give the name with --name."
        raise UsageError(f"the service {place.name} is not installed", fix=fix)
    if not is_ours(before.data):
        what = "sayso service install did not write this file"
        raise UsageError(what, where=str(place.path), fix="Remove it with systemctl.")
    after = _parsed(replaced_by(before.data), place.kept)
    return Change(place, before, after, after.data is not None, _edited(place, before.data))


def commands(change: Change) -> list[str]:
    """Return the command lines that `carry_out` runs, in order."""
    unit = change.place.unit
    steps = [*_stopping(change.before, unit), ("daemon-reload",), *_starting(change.after, unit)]
    return [shown(words) for words in steps]


def difference(change: Change) -> Iterator[str]:
    """Return the lines of the new file, or what changes in an existing file."""
    old, new = (
        (state.data or b"").decode(errors="replace").splitlines()
        for state in (change.before, change.after)
    )
    if not old:
        return iter(new)
    lines = unified_diff(old, new, lineterm="", n=1)
    return (line for number, line in enumerate(lines) if number > 1)


def carry_out(change: Change, systemd: Systemd) -> None:
    """Carry out a change; if a step fails or is interrupted, restore the state before.

    Raises `SaysoError`, which names what could not be restored.
    """
    place = change.place
    _check_unchanged(change)
    if change.edited is not None and change.before.data is not None:
        keep(change.edited, change.before.data)
    is_new_copy = change.has_kept and not change.is_removal and not place.kept.exists()
    try:
        if is_new_copy and change.before.data is not None:
            keep(place.kept, change.before.data)
        _move(change, systemd)
    except BaseException as error:
        problems = _restore(change, systemd)
        if is_new_copy and not problems:
            place.kept.unlink(missing_ok=True)
        if change.edited is not None and not problems:
            change.edited.unlink(missing_ok=True)
        if isinstance(error, SaysoError):
            raise _failed(error, change, problems) from error
        raise
    if change.is_removal and change.has_kept:
        place.kept.unlink(missing_ok=True)


def _check_unchanged(change: Change) -> None:
    """Raise `ConfigError` if the file is not the one that the plan showed."""
    path = change.place.path
    data = read(path) if path.exists() else None
    if path.is_symlink() or data != change.before.data:
        what = "the file has changed since it was shown"
        raise ConfigError(what, where=str(path), fix="Nothing was done. Try again.")


def _move(change: Change, systemd: Systemd) -> None:
    place = change.place
    # A unit of sayso describes what was there before: while it is on disk, a crash loses nothing.
    if not change.is_removal:
        _write(place.path, change.after)
    for words in _stopping(change.before, place.unit):
        systemd.run(*words)
    if change.is_removal:
        _write(place.path, change.after)
    for words in (("daemon-reload",), *_starting(change.after, place.unit)):
        systemd.run(*words)


def _stopping(state: State, unit: str) -> list[tuple[str, ...]]:
    return [("disable", "--now", unit)] if state.is_used else []


def _starting(state: State, unit: str) -> list[tuple[str, ...]]:
    steps: list[tuple[str, ...]] = []
    if state.is_enabled:
        steps.append(("enable", unit))
    if state.is_active:
        steps.append(("start", unit))
    return steps


def _restore(change: Change, systemd: Systemd) -> list[str]:
    """Go back to the state before, as far as possible; return what failed."""
    place = change.place
    problems: list[str] = []
    # It fails where systemd has not read the unit yet; then there is nothing to stop.
    with suppress(SaysoError):
        systemd.run("disable", "--now", place.unit)
    try:
        _write(place.path, change.before)
    except (SaysoError, OSError) as error:
        problems.append(str(error).rstrip("."))
    for words in (("daemon-reload",), *_starting(change.before, place.unit)):
        try:
            systemd.run(*words)
        except SaysoError:
            problems.append(f"run {shown(words)}")
    with suppress(SaysoError):
        systemd.run("reset-failed", place.unit)
    return problems


def _failed(error: SaysoError, change: Change, problems: list[str]) -> SaysoError:
    log = f"Read the log with journalctl --user --unit {change.place.unit} -n 20."
    if problems:
        fix = f"It was not all undone. By hand: {'; '.join(problems)}. {log}"
    else:
        fix = f"Everything is as it was before. {log}"
    return SaysoError(error.what, where=error.where, fix=fix)


def _write(path: Path, state: State) -> None:
    try:
        if state.data is None:
            path.unlink(missing_ok=True)
            return
        keep(path, state.data)
        if state.mode != _PRIVATE:
            path.chmod(state.mode)
    except OSError as error:
        what = f"the file cannot be changed: {error.strerror}"
        raise ConfigError(what, where=str(path), fix="Check its permissions.") from error


def _state(place: Place, systemd: Systemd) -> State:
    if place.path.is_symlink():
        what = "this is a link: a unit that systemctl has linked or masked"
        fix = "Choose another --name, or remove the link with systemctl --user disable or unmask."
        raise UsageError(what, where=str(place.path), fix=fix)
    found = systemd.properties(place.unit, "UnitFileState", "ActiveState")
    is_enabled = found["UnitFileState"] == "enabled"
    is_active = found["ActiveState"] in _RUNNING
    if not place.path.exists():
        return State(None, is_enabled=is_enabled, is_active=is_active)
    mode = stat.S_IMODE(place.path.stat().st_mode)
    return State(read(place.path), mode, is_enabled, is_active)


def _parsed(text: str, kept: Path) -> State:
    """Return the state that `State.__str__` has described, with the kept copy of its file."""
    file = _FILE.search(text)
    if file is not None and not kept.exists():
        return State(None)  # somebody has removed the copy
    is_enabled = "enabled" in text.split()
    is_active = "active" in text.split()
    if file is None:
        return State(None, is_enabled=is_enabled, is_active=is_active)
    return State(read(kept), int(file[1], 8), is_enabled, is_active)


def _edited(place: Place, data: bytes | None) -> Path | None:
    if data is None or not is_edited(data):
        return None
    digest = hashlib.sha256(data).hexdigest()[:8]
    return place.path.with_name(f"{place.unit}.edited-{digest}")
