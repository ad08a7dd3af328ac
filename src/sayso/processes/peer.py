"""The process at the other end of a Unix socket, as the kernel names it."""

import os
import select
import socket
import struct
import sys
from dataclasses import dataclass
from typing import Final

_SO_PEERPIDFD: Final = 77
_LOCAL_PEERPID: Final = 0x002
_LOCAL_PEERCRED: Final = 0x001
_SOL_LOCAL: Final = 0
_XUCRED: Final = struct.Struct("IIh")
_XUCRED_BYTES: Final = 76


@dataclass(slots=True)
class Peer:
    """The process that opened a connection. `handle` is its pidfd, or -1."""

    pid: int
    uid: int
    handle: int = -1

    @property
    def is_gone(self) -> bool:
        """Return whether the process has ended; then another process may have its number."""
        if self.handle < 0:
            return False
        poll = select.poll()
        poll.register(self.handle, select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1


def peer_of(connection: socket.socket) -> Peer | None:
    """Return the process that connected, or `None` if the system does not name it."""
    try:
        return _peer_of_linux(connection) if sys.platform == "linux" else _peer_of_bsd(connection)
    except (OSError, struct.error):
        return None


def _peer_of_linux(connection: socket.socket) -> Peer:
    layout = struct.Struct("3i")
    option = getattr(socket, "SO_PEERCRED", 17)
    pid, uid, _ = layout.unpack(connection.getsockopt(socket.SOL_SOCKET, option, layout.size))
    try:
        # Since Linux 6.5. A pidfd names one process; a number may be used again.
        handle = connection.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD)
    except OSError:
        handle = -1
    return Peer(pid, uid, handle)


def _peer_of_bsd(connection: socket.socket) -> Peer:
    credentials = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES)
    _, uid, _ = _XUCRED.unpack_from(credentials)
    return Peer(connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID), uid)
