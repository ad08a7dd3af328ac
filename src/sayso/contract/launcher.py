"""A program that starts a server under Landlock and a seccomp filter, and supervises its calls.

Run `python -I -S launcher.py SETTINGS COMMAND…` inside bubblewrap and under strace. SETTINGS is
JSON with the keys of `Settings`. The server is a child of this process:

- Landlock (kernel 5.13) lets the server write only below `writable`. This applies to FIFOs too.
- The filter (`sayso.contract.filter`) hands some calls to this process (seccomp_unotify(2)). This
  process replaces each new Unix socket by an Internet socket, which cannot connect to a path. If
  the path is below `own`, this process connects to it and gives the server the connected socket.

This process reports each refusal in strace's file, which the server cannot change: it tries to
remove a file below `MARK` that does not exist, and strace records the failed call.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MARK = "/proc/sayso"

_SET_NO_NEW_PRIVILEGES = 38
_SET_DUMPABLE = 4
_LANDLOCK_CREATE = 444
_LANDLOCK_ADD = 445
_LANDLOCK_RESTRICT = 446
_SECCOMP_FILTER = 1
_NEW_LISTENER = 8
_JOIN_SESSION_KEYRING = 1
_RECEIVE = 0xC0502100
_ANSWER = 0xC0182101
_IS_VALID = 0x40082102
_ADD_FD = 0x40182103
_CONTINUE = 1
_IN_PLACE = 1
_AND_ANSWER = 2
_REQUEST = struct.Struct("=QIIiIQ6Q")

_ACCESS_FILE = (1 << 1) | (1 << 14)
"""Write and truncate a file."""
_ACCESS_FOLDER = sum(1 << bit for bit in range(4, 14))
"""Remove, create and move entries of a folder."""
_FIRST_ABI = (1 << 13) - 1
_REFER_ABI = 2
_TRUNCATE_ABI = 3
_SCOPE_ABI = 6
_SCOPES = 3
"""Connections to abstract Unix sockets, and signals to processes outside the sandbox."""

_KEYS_READ = frozenset({0, 6, 10, 11, 17, 22, 31})
"""Operations of keyctl(2) that only read. They are refused too, but do not count as breaches."""
_SHARED = 0
_LEASE = 1024
_CONNECT_SECONDS = 5
_MAX_ADDRESS_BYTES = 110

_kernel = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Settings:
    """The settings. `filter` is hexadecimal; `calls` has the fields of `filter.Numbers`."""

    filter: str
    calls: dict[str, Any]
    writable: tuple[str, ...]
    own: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """A system call whose thread waits for an answer. `arguments` are six register values."""

    id: int
    thread: int
    number: int
    arguments: tuple[int, ...]


def main(argv: Sequence[str]) -> int:
    """Start the command and return its exit code. Raises `SystemExit` if it would run as root."""
    settings = Settings(**json.loads(argv[0]))
    _check_unprivileged()
    # Start with an empty session keyring. Some containers forbid this call; then only the filter
    # protects the inherited keyring.
    _kernel.syscall(settings.calls["keys"][2], _JOIN_SESSION_KEYRING, None)
    here, there = socket.socketpair()
    child = os.fork()
    if child == 0:
        here.close()
        _become(argv[1:], settings, there)
    there.close()
    _, descriptors, _, _ = socket.recv_fds(here, 1, 1)
    if descriptors:
        # The server must not open this process's memory or descriptors.
        _kernel.prctl(_SET_DUMPABLE, 0, 0, 0, 0)
        supervise(descriptors[0], child, settings)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF


def _check_unprivileged() -> None:
    with open("/proc/self/status") as file:
        capabilities = next(line for line in file if line.startswith("CapEff:"))
    if os.geteuid() == 0 or int(capabilities.split()[1], 16):
        sys.exit("the server would run as root: user namespaces do not map it to another user")


def _become(command: Sequence[str], settings: Settings, link: socket.socket) -> None:
    """Replace this process by the server. This function never returns."""
    try:
        for number in (signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        _call(_kernel.prctl, _SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        restrict(settings.writable)
        listener = install(bytes.fromhex(settings.filter), settings.calls["seccomp"])
        socket.send_fds(link, [b"."], [listener])
        os.closerange(3, 1 << 16)
        os.execvp(command[0], [*command])  # noqa: S606 - the configured command
    except BaseException as error:  # noqa: BLE001 - the forked process must end in any case
        os.write(2, f"{error}\n".encode(errors="replace"))
    os._exit(127)


def restrict(writable: Sequence[str]) -> None:
    """Let this process write only below these paths. Raises `OSError` without Landlock."""
    version = _kernel.syscall(_LANDLOCK_CREATE, None, 0, 1)
    if version < 1:
        raise OSError(errno.ENOSYS, "Landlock is not available; use Linux 5.13+ with lsm=landlock")
    handled = (1 << 1) | _ACCESS_FOLDER & _FIRST_ABI
    if version >= _REFER_ABI:
        handled |= 1 << 13
    if version >= _TRUNCATE_ABI:
        handled |= 1 << 14
    attributes = struct.pack("=Q", handled)
    if version >= _SCOPE_ABI:
        attributes += struct.pack("=QQ", 0, _SCOPES)
    rules = _call(_kernel.syscall, _LANDLOCK_CREATE, attributes, len(attributes), 0)
    for path in writable:
        with contextlib.suppress(FileNotFoundError):
            _allow(rules, path, handled)
    _call(_kernel.syscall, _LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)


def _allow(rules: int, path: str, handled: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    allowed = handled
    if not os.path.isdir(path):
        allowed &= _ACCESS_FILE
    rule = struct.pack("=Qi", allowed, place)
    _call(_kernel.syscall, _LANDLOCK_ADD, rules, 1, rule, 0)
    os.close(place)


def install(program: bytes, seccomp: int) -> int:
    """Install a filter in this process. Return the descriptor that delivers the calls to decide."""
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    return _call(_kernel.syscall, seccomp, _SECCOMP_FILTER, _NEW_LISTENER, header)


def supervise(listener: int, child: int, settings: Settings) -> None:
    """Answer the supervised calls until the child ends."""
    end = os.pidfd_open(child)
    waiting = select.poll()
    waiting.register(end, select.POLLIN)
    waiting.register(listener, select.POLLIN)
    while True:
        ready = [number for number, _ in waiting.poll()]
        if end in ready:
            return
        request = _receive(listener)
        if request is None:
            continue
        try:
            _decide(listener, request, settings)
        except OSError as error:
            _answer(listener, request, error=error.errno or errno.EPERM)
        except (ValueError, OverflowError, struct.error):
            _answer(listener, request, error=errno.EFAULT)  # an invalid address


def _receive(listener: int) -> Request | None:
    buffer = bytearray(_REQUEST.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, buffer)
    except OSError:
        return None  # the thread is gone
    number, thread, _, call, _, _, *arguments = _REQUEST.unpack(buffer)
    return Request(number, thread, call, tuple(arguments))


def _decide(listener: int, request: Request, settings: Settings) -> None:
    calls = settings.calls
    if request.number == calls["socket"]:
        _give_dead_socket(listener, request)
    elif request.number == calls["connect"]:
        _connect(listener, request, settings.own)
    elif request.number in (calls["flock"], calls["fcntl"]):
        _lock(listener, request, is_flock=request.number == calls["flock"])
    else:
        is_read = request.number == calls["keys"][2] and request.arguments[0] in _KEYS_READ
        mark("keyring-read" if is_read else "keyring")
        _answer(listener, request, error=errno.EPERM)


def _give_dead_socket(listener: int, request: Request) -> None:
    """Give the thread an unconnected Internet socket in place of a Unix socket."""
    kind = request.arguments[1]
    sort = socket.SOCK_STREAM
    if kind & 0xF == socket.SOCK_DGRAM:
        sort = socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET, sort) as dead:
        dead.setblocking(not kind & socket.SOCK_NONBLOCK)
        # SOCK_CLOEXEC and O_CLOEXEC have the same value (socket(2)).
        flags = kind & socket.SOCK_CLOEXEC & os.O_CLOEXEC
        _add(listener, struct.pack("=QIIII", request.id, _AND_ANSWER, dead.fileno(), 0, flags))


def _connect(listener: int, request: Request, own: Sequence[str]) -> None:
    descriptor, address, length = request.arguments[:3]
    descriptor &= 0x7FFFFFFF
    read = _read(request.thread, address, min(length & 0xFFFFFFFF, _MAX_ADDRESS_BYTES))
    if read[:2] != struct.pack("=H", socket.AF_UNIX):
        _answer(listener, request, is_continued=True)
        return
    named = read[2:]
    if named[:1] in (b"", b"\0"):
        mark("connect/@" + os.fsdecode(named[1:]))
        _answer(listener, request, error=errno.ECONNREFUSED)
        return
    name = os.fsdecode(named.partition(b"\0")[0])
    path = os.path.realpath(os.path.join(f"/proc/{request.thread}/cwd", name))
    if not _is_own(path, own):
        _refuse_path(listener, request, path)
        return
    place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        # The server may have replaced a folder by a link since the check above.
        path = os.readlink(f"/proc/self/fd/{place}")
        if _is_own(path, own):
            _put_connected(listener, request, descriptor, place)
        else:
            _refuse_path(listener, request, path)
    finally:
        os.close(place)


def _is_own(path: str, own: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in own)


def _refuse_path(listener: int, request: Request, path: str) -> None:
    mark(f"connect{path}")
    _answer(listener, request, error=errno.EACCES)


def _put_connected(listener: int, request: Request, descriptor: int, place: int) -> None:
    flags = _flags(request.thread, descriptor)
    with socket.socket(socket.AF_UNIX) as made:
        made.settimeout(_CONNECT_SECONDS)
        made.connect(f"/proc/self/fd/{place}")
        made.setblocking(not flags & os.O_NONBLOCK)
        words = (request.id, _IN_PLACE, made.fileno(), descriptor, flags & os.O_CLOEXEC)
        _add(listener, struct.pack("=QIIII", *words))
    _answer(listener, request)


def _lock(listener: int, request: Request, *, is_flock: bool) -> None:
    """Report a lock and allow it, because reading a database needs one. Refuse only leases."""
    descriptor, command, pointer = request.arguments[:3]
    if is_flock:
        is_shared = not command & fcntl.LOCK_EX
    elif command == _LEASE:
        # A lease stops others from opening the file. Programs work without one.
        mark(f"lock-exclusive{_path_of(request.thread, descriptor)}")
        _answer(listener, request, error=errno.EACCES)
        return
    else:
        # The kernel itself refuses an exclusive fcntl lock on a file that is not open for writing.
        (kind,) = struct.unpack("=h", _read(request.thread, pointer, 2))
        is_shared = True
        if kind != _SHARED:
            _answer(listener, request, is_continued=True)
            return
    path = _path_of(request.thread, descriptor)
    if path.startswith("/"):
        sort = "shared" if is_shared else "exclusive"
        mark(f"lock-{sort}{path}")
    _answer(listener, request, is_continued=True)


def mark(what: str) -> None:
    """Report an attempt: strace records this failing call."""
    with contextlib.suppress(OSError, ValueError):
        os.unlink(f"{MARK}/{what}".replace("\0", "?"))


def _path_of(thread: int, descriptor: int) -> str:
    return os.readlink(f"/proc/{thread}/fd/{descriptor & 0x7FFFFFFF}")


def _flags(thread: int, descriptor: int) -> int:
    with open(f"/proc/{thread}/fdinfo/{descriptor}") as file:
        return next(int(line.split()[1], 8) for line in file if line.startswith("flags:"))


def _read(thread: int, address: int, length: int) -> bytes:
    with open(f"/proc/{thread}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(length)


def _answer(listener: int, request: Request, *, error: int = 0, is_continued: bool = False) -> None:
    flags = _CONTINUE if is_continued else 0
    with contextlib.suppress(FileNotFoundError):  # the thread is gone
        fcntl.ioctl(listener, _ANSWER, struct.pack("=QqiI", request.id, 0, -error, flags))


def _add(listener: int, words: bytes) -> None:
    """Give a descriptor to the waiting thread. Raises `OSError` before Linux 5.14."""
    try:
        fcntl.ioctl(listener, _ADD_FD, words)
    except OSError as error:
        raise OSError(errno.EAFNOSUPPORT, "cannot give the server a socket") from error


def _call(function: Any, *arguments: object) -> int:
    result: int = function(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
