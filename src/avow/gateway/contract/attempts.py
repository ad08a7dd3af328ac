"""What a twin tried and could not do, as its trace tells."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from avow.connect import CommandTarget
from avow.connect.environment import child_environment
from avow.gateway.contract.kept import is_kept
from avow.verify.effect import Effect, Kind
from avow.verify.observe.syscalls.arguments import Call
from avow.verify.observe.syscalls.files import PERHAPS_MADE
from avow.verify.observe.syscalls.meaning import effects_of
from avow.verify.observe.syscalls.memory import Memory
from avow.verify.observe.syscalls.stitch import Stitcher
from avow.verify.observe.syscalls.tail import Tail

_OUTSIDE: Final = (Kind.CONNECT, Kind.SEND, Kind.LOOKUP)
_LOOPBACK: Final = ("127.", "[::1]", "[::ffff:127.", "0.0.0.0:", "[::]:")
_UNIX: Final = "unix:"
_FAILED: Final = " = -1 "
_HARMLESS: Final = ("ENOENT", "ENXIO", "ENOTDIR", "EEXIST", "EISDIR")
"""Most of what fails: nothing was there, or what was wanted was there already."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One thing that was tried. `is_breach` where it would have changed what a person keeps."""

    kind: Kind
    target: str
    is_breach: bool

    def __str__(self) -> str:
        """In words, such as `write /home/bo/notes.txt`."""
        return f"{self.kind} {self.target}"


class Attempts:
    """Reads the trace of the twin of `target`, from where the last reading ended."""

    def __init__(self, trace: Path, target: CommandTarget, *, is_open: bool) -> None:
        self._tail = Tail(trace)
        self._stitcher = Stitcher()
        self._memory = Memory()
        self._env = child_environment(target.env)
        self._cwd = target.cwd or str(Path.cwd())
        self._own = target.contract.own if target.contract else ()
        self._is_open = is_open

    def read(self) -> Sequence[Attempt]:
        """What was tried since, each once."""
        return list(dict.fromkeys(self._read()))

    def _read(self) -> Iterator[Attempt]:
        for line in self._tail.lines():
            # The last of these is strace's own: a path may hold anything before it.
            if line.rpartition(_FAILED)[2].startswith(_HARMLESS):
                continue
            call = self._stitcher.take(line)
            if isinstance(call, Call) and call.error:
                self._memory.folders.put(str(call.pid), _folder_of(call.pid) or self._cwd)
                failed = (one for one in effects_of(call, self._memory) if one.is_failed)
                yield from (self._judged(one, call) for one in failed)

    def _judged(self, effect: Effect, call: Call) -> Attempt:
        kind, target = effect.kind, effect.target
        if kind in _OUTSIDE:
            is_here = target.startswith((*_LOOPBACK, _UNIX))
            return Attempt(kind, target, is_breach=not self._is_open and not is_here)
        is_there = os.path.lexists(target)
        is_kept_there = self._is_kept(target, is_there=is_there)
        if effect.detail.startswith(PERHAPS_MADE) and is_there:
            # Whoever opens what is there for both may only read it, as SQLite does.
            is_breach = is_kept_there and "O_RDWR" not in _flags(call)
            return Attempt(Kind.WRITE, target, is_breach=is_breach)
        return Attempt(kind, target, is_breach=is_kept_there)

    def _is_kept(self, path: str, *, is_there: bool) -> bool:
        if any(PurePosixPath(path).is_relative_to(one) for one in self._own):
            return False
        return is_kept(path, env=self._env, is_there=is_there)


def _flags(call: Call) -> str:
    return " ".join(call.arguments[1:3])


def _folder_of(thread: int) -> str:
    """Where a thread works that is still there; in a twin, folders have their own names."""
    try:
        return os.readlink(f"/proc/{thread}/cwd")  # noqa: PTH115 - a name is wanted, not a path
    except OSError:
        return ""
