"""Results of earlier system calls that are needed to understand later ones."""

import posixpath
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from sayso.trace import escapes
from sayso.trace.address import Address, read_address
from sayso.trace.arguments import Call
from sayso.trace.calls import OPENS
from sayso.trace.descriptor import read_descriptor

_MOST: Final = 20_000
"""The maximum number of entries per table; beyond it the oldest is dropped."""

_REMOVING: Final = frozenset({"unlink", "unlinkat", "rename", "renameat", "renameat2"})

STARTS: Final = frozenset({"clone", "clone3", "fork", "vfork"})

PENDING: Final = frozenset({"EINPROGRESS", "EALREADY", "EINTR", "EISCONN"})
"""Errors of a `connect` that is still under way or already connected."""


V = TypeVar("V")


class Recent(OrderedDict[str, V]):
    """A bounded table that drops its oldest entry."""

    def put(self, key: str, value: V) -> None:
        self[key] = value
        self.move_to_end(key)
        if len(self) > _MOST:
            self.popitem(last=False)


_LONGEST: Final = 4096


@dataclass(slots=True)
class Memory:
    """The state of the traced processes. `private` are folders that belong to the server alone."""

    process_of: Callable[[int], int] = int
    private: Sequence[str] = ()
    folders: Recent[str] = field(default_factory=Recent[str])
    """The working folder of each process."""
    opened: Recent[bool] = field(default_factory=Recent[bool])
    """Paths that were opened for writing, and whether writes append."""
    peers: Recent[Address] = field(default_factory=Recent[Address])
    """The remote address of each socket."""
    bound: Recent[Address] = field(default_factory=Recent[Address])
    """The local address of each socket."""
    listening: Recent[bool] = field(default_factory=Recent[bool])
    """Sockets and addresses on which traced processes listen."""
    requests: Recent[str] = field(default_factory=Recent[str])
    """The HTTP request begun last on each socket; later bytes belong to this request."""
    started: Recent[bool] = field(default_factory=Recent[bool])
    """Processes that traced processes started, by their number inside the sandbox."""
    mapped: Recent[str] = field(default_factory=Recent[str])
    """Files with a shared writable mapping, by process and address."""
    _latest: str = "/"

    def folder_of(self, pid: int) -> str:
        """Return the working folder of a thread; if unknown, the last one learned for any."""
        return self.folders.get(str(self.process_of(pid)), self._latest)

    def resolve(self, call: Call, path: int, folder: int | None = None) -> str | None:
        """Return the absolute path given by the arguments at the indexes `path` and `folder`."""
        name = escapes.quoted_path(call.argument(path))
        folder_path = ""
        if folder is not None:
            folder_path = read_descriptor(call.argument(folder)).path
        if name is None or (not name and not folder_path):
            return folder_path or None
        # A server can create folders so deep that no path can name them; cut such a path.
        whole = posixpath.join(folder_path or self.folder_of(call.pid), name)[:_LONGEST]
        # POSIX gives a leading `//` a special meaning; Linux does not.
        return posixpath.normpath(whole).replace("//", "/", 1)

    def is_private(self, address: Address) -> bool:
        """Return whether the listener at an address is traced too, or in a `private` folder."""
        if str(address) in self.listening:
            return True
        if address.is_internet:
            return address.is_loopback and f"*:{address.port}" in self.listening
        if address.host.startswith("/"):
            return any(
                posixpath.commonpath((folder, address.host)) == folder for folder in self.private
            )
        return False

    def learn(self, call: Call) -> None:
        """Remember what later calls depend on, such as an opened path or a working folder."""
        name = call.name
        if name in ("openat", "chdir", "fchdir"):
            self._learn_folder(call)
        if call.result is None:
            return
        if name in OPENS:
            self._learn_open(call)
        elif name in _REMOVING and call.result == 0:
            places = (0,) if name in ("unlink", "rename") else (1, 0)
            self.opened.pop(self.resolve(call, *places) or "", None)
        elif name == "mmap":
            self._learn_map(call)
        elif name in ("connect", "bind", "listen", "getsockname"):
            self._learn_socket(call)
        elif name in STARTS and call.result > 0:
            self.started.put(str(call.result), value=True)

    def _learn_folder(self, call: Call) -> None:
        key = str(self.process_of(call.pid))
        if call.name == "openat":
            first = call.argument(0)
            if key in self.folders or not first.startswith("AT_FDCWD<"):
                return
            path = read_descriptor(first).path
        elif call.result != 0:
            return
        elif call.name == "chdir":
            path = self.resolve(call, 0)
        else:
            path = read_descriptor(call.argument(0)).path
        if path:
            self.folders.put(key, path)
            self._latest = path

    def inherit(self, child: int, parent: int) -> None:
        """Give a new process the working folder of its parent."""
        folder = self.folders.get(str(self.process_of(parent)))
        if folder is not None and str(child) not in self.folders:
            self.folders.put(str(child), folder)

    def _learn_open(self, call: Call) -> None:
        flags = " ".join(call.arguments[1:3])
        if call.name == "creat" or "O_WRONLY" in flags or "O_RDWR" in flags:
            path = read_descriptor(call.returned).path
            if path:
                self.opened.put(path, "O_APPEND" in flags)

    def _learn_map(self, call: Call) -> None:
        path = shared_mapping(call)
        if path:
            self.mapped.put(f"{self.process_of(call.pid)}:{call.result:#x}", path)

    def _learn_socket(self, call: Call) -> None:
        socket = read_descriptor(call.argument(0)).identity
        address = read_address(call.argument(1))
        if not socket:
            return
        if call.name == "listen":
            self._learn_listening(socket, is_ok=call.result == 0)
        elif address is None:
            return
        elif call.name == "connect" and (call.result == 0 or call.error in PENDING):
            self.peers.put(socket, address)
        elif call.name in ("bind", "getsockname") and call.result == 0:
            self.bound.put(socket, address)
            if socket in self.listening:
                self._learn_listening(socket, is_ok=True)

    def _learn_listening(self, socket: str, *, is_ok: bool) -> None:
        if not is_ok:
            return
        self.listening.put(socket, value=True)
        if address := self.bound.get(socket):
            name = f"*:{address.port}" if address.is_internet else str(address)
            self.listening.put(name, value=True)


def shared_mapping(call: Call) -> str:
    """Return the path of the file that this `mmap` call maps shared and writable, or ""."""
    if not call.result or call.error or "MAP_SHARED" not in call.argument(3):
        return ""
    file = read_descriptor(call.argument(4))
    if "PROT_WRITE" not in call.argument(2) or file.is_deleted:
        return ""
    return file.path
