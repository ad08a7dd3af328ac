"""What earlier calls taught, without which later ones cannot be read."""

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
"""Entries per table; beyond, the oldest is forgotten, so that memory stays bounded."""

_LOSING: Final = frozenset({"unlink", "unlinkat", "rename", "renameat", "renameat2"})

STARTS: Final = frozenset({"clone", "clone3", "fork", "vfork"})

PENDING: Final = frozenset({"EINPROGRESS", "EALREADY", "EINTR", "EISCONN"})
"""What `connect` answers where it goes on or has been done."""


V = TypeVar("V")


class Recent(OrderedDict[str, V]):
    """A table that forgets what was entered first."""

    def put(self, key: str, value: V) -> None:
        self[key] = value
        self.move_to_end(key)
        if len(self) > _MOST:
            self.popitem(last=False)


def _alone(pid: int) -> int:
    return pid


_LONGEST: Final = 4096


@dataclass(slots=True)
class Memory:
    """`process_of` gives the process of a thread. `private` are folders of the server's own.

    `learn` from a call after its effects were asked for.
    """

    process_of: Callable[[int], int] = _alone
    private: Sequence[str] = ()
    folders: Recent[str] = field(default_factory=Recent[str])
    """The working folder of each process."""
    opened: Recent[bool] = field(default_factory=Recent[bool])
    """The paths that were opened for writing, and whether what is written is appended."""
    peers: Recent[Address] = field(default_factory=Recent[Address])
    """Where each socket is connected to."""
    bound: Recent[Address] = field(default_factory=Recent[Address])
    listening: Recent[bool] = field(default_factory=Recent[bool])
    """The addresses that processes of the trace listen on themselves."""
    requests: Recent[str] = field(default_factory=Recent[str])
    """The HTTP request that was last begun on each socket: what follows belongs to it."""
    started: Recent[bool] = field(default_factory=Recent[bool])
    """The processes that were started in the trace, by their numbers inside."""
    mapped: Recent[str] = field(default_factory=Recent[str])
    """Files by the address that they are mapped to, shared and writable."""
    _latest: str = "/"

    def folder_of(self, pid: int) -> str:
        """The working folder of a thread, as far as it was told; else the last that was."""
        return self.folders.get(str(self.process_of(pid)), self._latest)

    def resolve(self, call: Call, path: int, folder: int | None = None) -> str | None:
        """The whole path that a call names by its arguments at these indexes."""
        name = escapes.quoted_path(call.argument(path))
        at = ""
        if folder is not None:
            at = read_descriptor(call.argument(folder)).path
        if name is None or (not name and not at):
            return at or None
        # A server can go deeper than any path can name; such a one is told by its beginning.
        whole = posixpath.join(at or self.folder_of(call.pid), name)[:_LONGEST]
        # POSIX lets two slashes at the front mean something else; Linux does not.
        return posixpath.normpath(whole).replace("//", "/", 1)

    def is_private(self, address: Address) -> bool:
        """Whether who listens there is traced too, or can only be the server's own."""
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
        """Take in what a call tells of the calls to come."""
        name = call.name
        if name in ("openat", "chdir", "fchdir"):
            self._learn_folder(call)
        if call.result is None:
            return
        if name in OPENS:
            self._learn_open(call)
        elif name in _LOSING and call.result == 0:
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
        """A new process works where its parent does."""
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
        address = self.bound.get(socket)
        if not is_ok:
            return
        self.listening.put(socket, value=True)
        if address is not None:
            name = str(address)
            if address.is_internet:
                name = f"*:{address.port}"
            self.listening.put(name, value=True)


def shared_mapping(call: Call) -> str:
    """The file that is mapped shared and writable by this call of `mmap`, or nothing."""
    if not call.result or call.error or "MAP_SHARED" not in call.argument(3):
        return ""
    file = read_descriptor(call.argument(4))
    if "PROT_WRITE" not in call.argument(2) or file.is_deleted:
        return ""
    return file.path
