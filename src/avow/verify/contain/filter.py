"""A filter of system calls: what reaches past the box's namespaces, or works unseen by the tracer.

None of it is needed by a server. Programs that would use io_uring or a clone of a file go another
way where the kernel says that it has none.
"""

import errno
import platform
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_LOAD, _IS, _IS_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
"""Instructions of linux/bpf_common.h: load a word, compare it, give a verdict."""
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
"""Verdicts of linux/seccomp.h; to a refusal the error's number is added."""
_NUMBER, _MACHINE, _FIRST, _SECOND = 0, 4, 16, 24
"""Where seccomp_data holds the call, the machine and the low halves of two arguments."""

_FOREIGN: Final = 0x40000000
"""From here on, x86_64 counts the calls of x32."""

_FAMILIES: Final = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: what a network namespace holds. AF_VSOCK leaves it."""

_CLONES: Final = (0x40049409, 0x4020940D)
"""FICLONE and FICLONERANGE fill a file, and `ioctl` is not traced."""
_FLAGS: Final = (0x40086602, 0x401C5820)
"""FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR mark a file."""


@dataclass(frozen=True, slots=True)
class _Machine:
    """Its number in linux/audit.h, and those of its calls."""

    number: int
    socket: int
    ioctl: int
    refused: Sequence[int]
    has_x32: bool = False


_EVERYWHERE: Final = (425, 426, 427, 469)
"""io_uring_setup, io_uring_enter, io_uring_register, file_setattr."""

# Of each: add_key, request_key, keyctl (keys of whoever runs avow), perf_event_open, bpf,
# userfaultfd, io_setup.
_MACHINES: Final[Mapping[str, _Machine]] = {
    "x86_64": _Machine(
        0xC000003E, 41, 16, (248, 249, 250, 298, 321, 323, 206, *_EVERYWHERE), has_x32=True
    ),
    "aarch64": _Machine(0xC00000B7, 198, 29, (217, 218, 219, 241, 280, 282, 0, *_EVERYWHERE)),
}


def filter_program() -> bytes:
    """The filter as bubblewrap's `--seccomp` takes it; empty on a machine that has none.

    Programs for another machine (32 bits) are ended: their calls are counted otherwise.
    """
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return b""
    return b"".join(struct.pack("=HBBI", *one) for one in _instructions(machine))


def _instructions(machine: _Machine) -> Iterator[tuple[int, int, int, int]]:
    yield _LOAD, 0, 0, _MACHINE
    yield _IS, 1, 0, machine.number
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    if machine.has_x32:
        yield _IS_LEAST, 0, 1, _FOREIGN
        yield _RETURN, 0, 0, _REFUSE | errno.ENOSYS
    for number in machine.refused:
        yield _IS, 0, 1, number
        yield _RETURN, 0, 0, _REFUSE | errno.ENOSYS
    # Where it is not this call, on to the next: over the load, a jump and a verdict for each.
    yield _IS, 0, 2 * len(_CLONES + _FLAGS) + 2, machine.ioctl
    yield _LOAD, 0, 0, _SECOND
    for command in _CLONES + _FLAGS:
        yield _IS, 0, 1, command
        yield _RETURN, 0, 0, _REFUSE | errno.EOPNOTSUPP
    yield _RETURN, 0, 0, _ALLOW
    yield _IS, 0, len(_FAMILIES) + 2, machine.socket
    yield _LOAD, 0, 0, _FIRST
    for place, family in enumerate(_FAMILIES):
        yield _IS, len(_FAMILIES) - place, 0, family
    yield _RETURN, 0, 0, _REFUSE | errno.EAFNOSUPPORT
    yield _RETURN, 0, 0, _ALLOW
