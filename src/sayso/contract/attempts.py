"""The failed attempts of a read-only process to change something, read from its trace."""

import os
import posixpath
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Final

from sayso.connect import CommandTarget, child_environment
from sayso.contract.launcher import MARK
from sayso.trace import (
    OPENS,
    PERHAPS_MADE,
    Call,
    CallReader,
    Effect,
    Kind,
    Memory,
    Tail,
    effects_of,
    is_noise,
    is_noise_socket,
    read_address,
)

_TO_ADDRESSES: Final = ("connect", "sendto", "sendmsg", "sendmmsg")
_OUTSIDE: Final = (Kind.CONNECT, Kind.SEND, Kind.LOOKUP)
_LOOPBACK: Final = ("127.", "[::1]", "[::ffff:127.", "0.0.0.0:", "[::]:")
_UNIX: Final = "unix:"
_MARK: Final = f'"{MARK}/'
_FAILED: Final = " = -1 "
_PROCESS_LINK: Final = re.compile(
    r'"/+(?:proc/+(?:self|thread-self|\d+)(?:/+task/+\d+)?|dev)/+'
    r'(?P<link>root|cwd|fd/+\d+)(?=[/"])'
)
_UNKNOWN_FILE: Final = "(a file that was already open)"
_LISTENING: Final = Path("/proc/net/unix")
_HARMLESS: Final = ("ENOENT", "ENXIO", "ENOTDIR", "EEXIST", "EISDIR")
"""Errors of calls that would have changed nothing: the file was missing, or existed already."""
_SYSTEM: Final = tuple(
    f"/{name}"
    for name in (
        *("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "opt", "proc"),
        *("dev", "run", "var", "boot", "nix", "snap"),
    )
)
_KERNEL: Final = ("/proc/sys", "/proc/sysrq-trigger", "/sys")
"""Kernel settings of the whole machine. No program writes them by accident."""
_TEMPORARY: Final = ("/tmp", "/var/tmp")  # noqa: S108 - names to compare with
_RUNTIME: Final = frozenset({"__pycache__", ".cache", "node_modules", "site-packages", ".npm"})
_SIDECARS: Final = (".pyc", ".lock", "-wal", "-shm", "-journal")
_XDG: Final = {"XDG_CACHE_HOME": ".cache", "XDG_STATE_HOME": ".local/state"}


@dataclass(frozen=True, slots=True)
class Attempt:
    """A failed attempt. It `is_breach` if it would have changed something that a person keeps.

    For a shared lock, which does not fail, `holder` is the process that holds the lock.
    """

    kind: Kind | str
    target: str
    is_breach: bool
    holder: int = field(default=0, compare=False)

    def __str__(self) -> str:
        """Return the attempt in words, such as `write /home/bo/notes.txt`."""
        return f"{self.kind} {self.target}"


class Attempts:
    """Reads the new attempts from the trace of a read-only process of `target`."""

    def __init__(self, trace: Path, target: CommandTarget, *, is_open: bool) -> None:
        self._tail = Tail(trace)
        self._reader = CallReader()
        self._memory = Memory()
        self._env = child_environment(target.env)
        self._cwd = target.cwd or str(Path.cwd())
        # Only this process uses its temporary folder, so a write there changes nothing for others.
        self._own = [str(trace.parent / "tmp")]
        if target.contract:
            self._own += target.contract.own
        self._is_open = is_open

    def read(self) -> Sequence[Attempt]:
        """Return the attempts since the last call of this method, each once."""
        return list(dict.fromkeys(self._read()))

    def _read(self) -> Iterator[Attempt]:
        for line in self._tail.lines():
            is_mark = _MARK in line
            # Only the last " = -1 " is strace's: a path earlier in the line may contain this text.
            if not is_mark and line.rpartition(_FAILED)[2].startswith(_HARMLESS):
                continue
            call = self._reader.take(line)
            if not isinstance(call, Call) or not call.error:
                continue
            self._memory.folders.put(str(call.pid), _folder_of(call.pid) or self._cwd)
            if is_mark and call.name == "unlink":
                path = self._memory.resolve(call, 0) or ""
                if path.startswith(f"{MARK}/"):
                    yield from self._marked(path.removeprefix(f"{MARK}/"), call.pid)
                    continue
            call = self._from_outside(call)
            if attempt := self._way_to_others(call):
                yield attempt
                continue
            failed = (effect for effect in effects_of(call, self._memory) if effect.is_failed)
            yield from (self._judged(effect, call) for effect in failed)

    def _marked(self, text: str, pid: int) -> Iterator[Attempt]:
        action, _, name = text.partition("/")
        path = f"/{name}"
        match action:
            case "keyring" | "keyring-read":
                yield Attempt("use", "the kernel's keyring", is_breach=action == "keyring")
            case "connect":
                yield self._to_socket(name if name.startswith("@") else path)
            case "lock-shared" if not self._is_own(path):
                yield Attempt("lock", path, is_breach=False, holder=pid)
            case "lock-exclusive" if not self._is_own(path):
                yield Attempt("lock", path, is_breach=self._is_kept(path, is_there=True))
            case _:
                return

    def _way_to_others(self, call: Call) -> Attempt | None:
        """Return a call's attempt to write to a FIFO or connect to a Unix socket, or `None`."""
        if call.name in OPENS:
            places = (1, 0) if call.name in ("openat", "openat2") else (0,)
            path = self._memory.resolve(call, *places)
            is_fifo = path is not None and not self._is_own(path) and is_way_to_others(path)
            is_written = any(flag in _flags(call) for flag in ("O_WRONLY", "O_RDWR"))
            if path and is_fifo and is_written:
                return Attempt(Kind.WRITE, path, is_breach=True)
            return None
        if call.name in _TO_ADDRESSES:
            address = read_address(" ".join(call.arguments[1:]))
            if address is not None and address.family == "AF_UNIX" and address.host:
                return self._to_socket(address.host, call.pid)
        return None

    def _to_socket(self, name: str, pid: int = 0) -> Attempt:
        if name.startswith("@"):
            return Attempt(Kind.CONNECT, _UNIX + name, is_breach=_is_listening(name))
        path = posixpath.normpath(posixpath.join(_folder_of(pid) or self._cwd, name))
        is_breach = not is_noise_socket(path) and not self._is_own(path) and is_way_to_others(path)
        return Attempt(Kind.CONNECT, _UNIX + path, is_breach=is_breach)

    def _judged(self, effect: Effect, call: Call) -> Attempt:
        kind = effect.kind
        target = effect.target
        if kind in _OUTSIDE:
            is_here = target.startswith(_LOOPBACK)
            return Attempt(kind, target, is_breach=not self._is_open and not is_here)
        is_there = os.path.lexists(target)
        is_kept_there = self._is_kept(target, is_there=is_there) or self._leads_away(target, call)
        if effect.detail.startswith(PERHAPS_MADE) and is_there:
            # A file that is opened for reading and writing may only be read, as SQLite does.
            is_breach = is_kept_there and "O_RDWR" not in _flags(call)
            return Attempt(Kind.WRITE, target, is_breach=is_breach)
        return Attempt(kind, target, is_breach=is_kept_there)

    def _is_own(self, path: str) -> bool:
        return any(PurePosixPath(path).is_relative_to(own) for own in self._own)

    def _is_kept(self, path: str, *, is_there: bool) -> bool:
        """Return whether a person keeps the file at a path, or the file that a link leads to."""
        return any(
            not self._is_own(each) and is_kept(each, env=self._env, is_there=is_there)
            for each in dict.fromkeys((path, os.path.realpath(path)))
        )

    def _leads_away(self, path: str, call: Call) -> bool:
        """Return whether a write below a folder of the server's own failed as read-only.

        This means that a link led out of the folder. The link may be gone when we look.
        """
        return call.error == "EROFS" and any(
            PurePosixPath(path).is_relative_to(own) and os.path.lexists(own) for own in self._own
        )

    def _from_outside(self, call: Call) -> Call:
        """Return the call with paths as the gateway sees them, whose /proc/self is different."""
        arguments = tuple(self._named(argument, call.pid) for argument in call.arguments)
        return replace(call, arguments=arguments)

    def _named(self, argument: str, pid: int) -> str:
        match = _PROCESS_LINK.match(argument)
        if match is None:
            return argument
        if match["link"].startswith("fd"):
            # A pipe or a device can be opened again; this call failed, so it names a file.
            return f'"/{_UNKNOWN_FILE}"'
        start = ""
        if match["link"] == "cwd":
            start = _folder_of(pid) or self._cwd
        return f'"{start}{argument[match.end() :]}'


def _flags(call: Call) -> str:
    return " ".join(call.arguments[1:3])


def _folder_of(thread: int) -> str:
    """Return the working folder of a running thread, as the gateway sees it, or ""."""
    try:
        return os.readlink(f"/proc/{thread}/cwd")  # noqa: PTH115 - a name is wanted, not a path
    except OSError:
        return ""


def _is_listening(name: str) -> bool:
    try:
        lines = _LISTENING.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return True
    return any(line.endswith(f" {name}") for line in lines)


def is_kept(path: str, *, env: Mapping[str, str], is_there: bool) -> bool:
    """Return whether a person would keep a file at `path`, so that a change to it is a breach.

    `env` is the server's environment. `is_there` is whether the path exists.
    """
    pure = PurePosixPath(path)
    if any(pure.is_relative_to(folder) for folder in _KERNEL):
        return True
    if is_noise(path) or path.endswith(_SIDECARS) or not _RUNTIME.isdisjoint(pure.parts):
        return False
    if any(pure.is_relative_to(folder) for folder in _scratch(env)):
        return False
    if any(pure.is_relative_to(folder) for folder in _TEMPORARY):
        # Programs that ignore TMPDIR create files here. A file in a subfolder is another program's.
        return is_there or str(pure.parent) not in _TEMPORARY
    return not any(pure.is_relative_to(folder) for folder in _SYSTEM)


def is_way_to_others(path: str) -> bool:
    """Return whether `path` is a FIFO or a Unix socket, which lead to another process."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - names of any bytes
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _scratch(env: Mapping[str, str]) -> list[str]:
    home = env.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - for a name, not for a file
    return [env.get(name) or f"{home}/{below}" for name, below in _XDG.items()]
