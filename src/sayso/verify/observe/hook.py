"""An audit hook for a Python server in this process.

The hook sees operations that go through the interpreter (PEP 578), but not C code, other processes
or writes to open files. So what it sees is never full evidence for a hint.
"""

import os
import shlex
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

from sayso.sandbox import Layer
from sayso.trace import Effect, Kind, Observer, is_install, is_noise, is_noise_socket

_MOST: Final = 5_000
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MAP_WRITE: Final = 2
"""`ACCESS_WRITE` of `mmap`."""
_CHANGING_MODES: Final = frozenset("wax+")

Telling = Callable[[tuple[Any, ...]], Sequence[Effect]]


@dataclass(slots=True)
class HookWatcher:
    """A `Watcher` for a server in this process.

    From `begin` to `end` it sees all threads of the process, including the caller's. Do nothing
    else in between.
    """

    layer: Layer = field(
        default=Layer("hook", is_active=True, detail="audit hook of this process; partial")
    )
    _seen: dict[Effect, None] = field(default_factory=dict[Effect, None])

    async def begin(self) -> None:
        self._seen.clear()
        _install()
        _watching.append(self)

    async def end(self, call: int) -> Sequence[Effect]:
        """Stop watching, and return each effect once."""
        if self in _watching:
            _watching.remove(self)
        found = [replace(effect, call=call) for effect in self._seen]
        self._seen.clear()
        return found

    def take(self, effects: Sequence[Effect]) -> None:
        """Remember effects, up to the maximum number."""
        for effect in effects:
            if len(self._seen) < _MOST:
                self._seen[effect] = None

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


_watching: Final[list[HookWatcher]] = []
_hooked: Final[list[bool]] = []
_inside: Final = threading.local()


def _install() -> None:
    # Python cannot remove an audit hook, so all watchers share one.
    if not _hooked:
        _hooked.append(True)
        sys.addaudithook(_on_event)


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watching or event not in _TELLING or getattr(_inside, "is_busy", False):
        return
    _inside.is_busy = True
    try:
        effects = read_event(event, arguments)
        for watcher in _watching:
            watcher.take(effects)
    finally:
        _inside.is_busy = False


def read_event(event: str, arguments: tuple[Any, ...]) -> Sequence[Effect]:
    """Return the effects of one audit event. The event comes before the operation."""
    telling = _TELLING.get(event)
    if telling is None:
        return ()
    try:
        return telling(arguments)
    except (IndexError, TypeError, ValueError):
        return ()


def _tell(kind: Kind, target: str, detail: str = "") -> tuple[Effect, ...]:
    return (Effect(kind, target, Observer.HOOK, detail=detail),)


def _on_file(kind: Kind, detail: str = "", *, at: int = 0, folder: int | None = None) -> Telling:
    """Return a reader of events whose argument number `at` is a path.

    Argument number `folder` is the descriptor of the folder that the path is relative to.
    """

    def tell(arguments: tuple[Any, ...]) -> Sequence[Effect]:
        path = _path(arguments[at], -1 if folder is None else arguments[folder])
        if path is None or is_noise(path) or _is_idle(kind, path, detail):
            return ()
        return _tell(kind, path, detail)

    return tell


def _is_idle(kind: Kind, path: str, detail: str) -> bool:
    if kind is Kind.DELETE:
        return not os.path.lexists(path)
    return kind is Kind.CREATE and detail == "folder" and os.path.lexists(path)


def _path(value: Any, folder: int = -1) -> str | None:
    if isinstance(value, int) or value is None:
        return _path_of_descriptor(value)
    at = _path_of_descriptor(folder) if folder >= 0 else None
    return os.path.normpath(Path(at or Path.cwd(), os.fsdecode(value)))


def _path_of_descriptor(number: int | None) -> str | None:
    try:
        target = str(Path(f"/proc/self/fd/{number}").readlink())
    except OSError:
        return None
    return target if target.startswith("/") else None


def _on_open(arguments: tuple[Any, ...]) -> Sequence[Effect]:
    path, mode, flags = arguments
    is_writing = bool(flags & _WRITING) if mode is None else bool(_CHANGING_MODES & set(mode))
    if not is_writing or isinstance(path, int):
        return ()
    return _on_file(Kind.WRITE, "opened for writing")((path,))


def _on_rename(arguments: tuple[Any, ...]) -> Sequence[Effect]:
    old = _path(arguments[0], arguments[2])
    new = _path(arguments[1], arguments[3])
    return (
        *_tell(Kind.RENAME, str(old), f"to {new}"),
        *_tell(Kind.RENAME, str(new), f"from {old}"),
    )


def _on_map(arguments: tuple[Any, ...]) -> Sequence[Effect]:
    number, _, access, _ = arguments
    # With access 0, flags decide. The event lacks them: assume a shared writable mapping.
    if number == -1 or access not in (0, _MAP_WRITE):
        return ()
    return _on_file(Kind.WRITE, "mapped shared and writable")((number,))


def _on_address(kind: Kind) -> Telling:
    def tell(arguments: tuple[Any, ...]) -> Sequence[Effect]:
        target = _address(arguments[1])
        return () if target is None else _tell(kind, target)

    return tell


def _address(address: Any) -> str | None:
    if isinstance(address, (str, bytes)):
        path = os.fsdecode(address)
        return None if is_noise_socket(path) else f"unix:{path.replace(chr(0), '@', 1)}"
    if address is None:
        return None
    host = str(address[0])
    port = int(address[1])
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _on_lookup(arguments: tuple[Any, ...]) -> Sequence[Effect]:
    name = arguments[0]
    if isinstance(name, bytes):
        name = name.decode("utf-8", "backslashreplace")
    # These need no lookup.
    if not name or name == "localhost" or _is_address(name):
        return ()
    return _tell(Kind.LOOKUP, str(name))


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _on_run(at: int) -> Telling:
    def tell(arguments: tuple[Any, ...]) -> Sequence[Effect]:
        words = _words(arguments[at])
        if len(words) == 1:
            words = shlex.split(words[0])
        kind = Kind.INSTALL if is_install(words) else Kind.EXECUTE
        return _tell(kind, shlex.join(words))

    return tell


def _words(given: Any) -> list[str]:
    if isinstance(given, (str, bytes)) or hasattr(given, "__fspath__"):
        return [os.fsdecode(given)]
    return [os.fsdecode(word) for word in given]


def _on_signal(arguments: tuple[Any, ...]) -> Sequence[Effect]:
    pid, number = arguments
    if pid in (0, os.getpid()) or number == 0:
        return ()
    return _tell(Kind.SIGNAL, f"process {pid}", str(number))


def _on_database(arguments: tuple[Any, ...]) -> Sequence[Effect]:
    # The hook cannot see SQLite's writes, which C code makes.
    path = os.fsdecode(arguments[0])
    return () if path in ("", ":memory:") else _tell(Kind.BLIND, f"SQLite {path}")


def _on_native(arguments: tuple[Any, ...]) -> Sequence[Effect]:
    return _tell(Kind.BLIND, f"ctypes {arguments[0]}")


_TELLING: Final[dict[str, Telling]] = {
    "open": _on_open,
    "os.remove": _on_file(Kind.DELETE, folder=1),
    "os.rmdir": _on_file(Kind.DELETE, "folder", folder=1),
    "shutil.rmtree": _on_file(Kind.DELETE, "folder with its content"),
    "os.mkdir": _on_file(Kind.CREATE, "folder", folder=2),
    "os.link": _on_file(Kind.CREATE, "link", at=1, folder=3),
    "os.symlink": _on_file(Kind.CREATE, "link", at=1, folder=2),
    "os.truncate": _on_file(Kind.WRITE, "truncate"),
    "os.rename": _on_rename,
    "os.chmod": _on_file(Kind.METADATA, "chmod", folder=2),
    "os.chown": _on_file(Kind.METADATA, "chown", folder=3),
    "os.utime": _on_file(Kind.METADATA, "utime", folder=3),
    "os.setxattr": _on_file(Kind.METADATA, "setxattr"),
    "os.removexattr": _on_file(Kind.METADATA, "removexattr"),
    "mmap.__new__": _on_map,
    "socket.connect": _on_address(Kind.CONNECT),
    "socket.sendto": _on_address(Kind.SEND),
    "socket.sendmsg": _on_address(Kind.SEND),
    "socket.getaddrinfo": _on_lookup,
    "socket.gethostbyname": _on_lookup,
    "subprocess.Popen": _on_run(1),
    "os.exec": _on_run(1),
    "os.posix_spawn": _on_run(1),
    "os.system": _on_run(0),
    "os.kill": _on_signal,
    "sqlite3.connect": _on_database,
    "ctypes.dlopen": _on_native,
}
