"""File descriptors as `strace -yy` describes them: `3</path>`, `4<TCP:[…]>`."""

import re
from dataclasses import dataclass
from typing import Final

from sayso.trace import escapes

_DECORATED: Final = re.compile(r"(?:-?\d+|AT_FDCWD)?<(.*)>(\(deleted\))?", re.DOTALL)
_SOCKET: Final = re.compile(r"([A-Za-z][\w-]*):\[(.*)\]", re.DOTALL)
_DEVICE: Final = re.compile(r"<(?:char|block) [^<>]*>$")
_NOT_SOCKETS: Final = frozenset({"pipe", "anon_inode", "mnt", "net", "pid", "user"})


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A file (`path`) or a socket (`socket`). Both are empty for a pipe, a timer and so on.

    `socket` is the protocol. `identity` is the socket's number or its two addresses, from strace.
    """

    path: str = ""
    socket: str = ""
    identity: str = ""
    is_deleted: bool = False


NOTHING: Final = Descriptor()


def read_descriptor(argument: str) -> Descriptor:
    """Return the descriptor that an argument or a result describes.

    >>> read_descriptor("3</etc/hosts>").path
    '/etc/hosts'
    """
    match = _DECORATED.match(argument)
    if match is None:
        return NOTHING
    inside = match[1]
    if inside.startswith("/"):
        path = escapes.path(_DEVICE.sub("", inside))
        return Descriptor(path, is_deleted=match[2] is not None)
    socket = _SOCKET.fullmatch(inside)
    if socket is None or socket[1] in _NOT_SOCKETS:
        return NOTHING
    return Descriptor(socket=socket[1], identity=socket[2])
