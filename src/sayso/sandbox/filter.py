"""The seccomp filter for calls that reach out of the namespaces or escape the tracer.

No server needs these calls. Programs do without io_uring or file clones if the kernel refuses them.
"""

import errno
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sayso.sandbox.bpf import Rule, Test, assemble, refuse, this_machine

_FAMILIES: Final = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6, AF_NETLINK stay in a network namespace; AF_VSOCK leaves it."""

_CLONES: Final = (0x40049409, 0x4020940D)
"""FICLONE and FICLONERANGE write to a file, and `ioctl` is not traced."""
_FLAGS: Final = (0x40086602, 0x401C5820)
"""FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR change a file's flags."""


@dataclass(frozen=True, slots=True)
class _Numbers:
    socket: int
    ioctl: int
    refused: Sequence[int]


_EVERYWHERE: Final = (425, 426, 427, 469)
"""io_uring_setup, io_uring_enter, io_uring_register, file_setattr."""

# Of each: add_key, request_key, keyctl (keys of the user who runs sayso), perf_event_open, bpf,
# userfaultfd, io_setup.
_NUMBERS: Final[Mapping[str, _Numbers]] = {
    "x86_64": _Numbers(41, 16, (248, 249, 250, 298, 321, 323, 206, *_EVERYWHERE)),
    "aarch64": _Numbers(198, 29, (217, 218, 219, 241, 280, 282, 0, *_EVERYWHERE)),
}


def filter_program() -> bytes:
    """Return the filter for bubblewrap's `--seccomp`; empty on an unsupported machine."""
    machine = this_machine()
    if machine is None:
        return b""
    return assemble(machine, shared_rules(machine))


def shared_rules(machine: str) -> list[Rule]:
    """Return the rules for every contained server."""
    numbers = _NUMBERS[machine]
    return [
        Rule(numbers.refused, refuse(errno.ENOSYS)),
        Rule([numbers.ioctl], refuse(errno.EOPNOTSUPP), [Test(1, _CLONES + _FLAGS)]),
        Rule([numbers.socket], refuse(errno.EAFNOSUPPORT), [Test(0, _FAMILIES, is_among=False)]),
    ]
