"""The seccomp filter of a read-only process: it refuses calls, or asks the supervisor to decide.

Landlock and read-only mounts protect regular files. This filter protects Unix sockets (which accept
connections even on a read-only mount), the kernel's keyrings, and locks. A filter cannot read
memory, so it cannot see a Unix socket's path. It therefore acts when the socket is created.
"""

import errno
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sayso.sandbox import NOTIFY, Rule, Test, assemble, refuse, shared_rules, this_machine

_FIRST_UNKNOWN: Final = 463
"""System calls from this number on fail with ENOSYS, as on an older kernel."""

_AF_UNIX: Final = 1
_AF_NETLINK: Final = 16
_STREAM: Final = 1
_SEQPACKET: Final = 5
_TYPE_MASK: Final = 0xF
_NEW_USER: Final = 0x10000000
_LOCK_MASK: Final = 3
"""LOCK_SH and LOCK_EX of flock(2)."""
_LOCK_COMMANDS: Final = (6, 7, 37, 38, 1024)
"""F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW and F_SETLEASE of fcntl(2)."""
_TERMINAL_COMMANDS: Final = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which insert input into a terminal."""
_INTERNET_LENGTHS: Final = (16, 28)
"""The sizes of sockaddr_in and sockaddr_in6. strace records connections to such addresses."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """System call numbers of one kind of machine. No server needs those in `refused`."""

    seccomp: int
    socket: int
    socketpair: int
    connect: int
    ioctl: int
    fcntl: int
    flock: int
    clone: int
    unshare: int
    keys: tuple[int, int, int]
    refused: tuple[int, ...]


_REFUSED_EVERYWHERE: Final = (435, 438)
"""clone3, whose flags a filter cannot see (programs fall back to clone), and pidfd_getfd."""

# `keys` are add_key, request_key and keyctl; `refused` are ptrace, process_vm_writev, setns and
# open_by_handle_at.
NUMBERS: Final[Mapping[str, Numbers]] = {
    "x86_64": Numbers(
        *(317, 41, 53, 42, 16, 72, 73, 56, 272),
        keys=(248, 249, 250),
        refused=(101, 311, 308, 304, *_REFUSED_EVERYWHERE),
    ),
    "aarch64": Numbers(
        *(277, 198, 199, 203, 29, 25, 32, 220, 97),
        keys=(217, 218, 219),
        refused=(117, 271, 268, 265, *_REFUSED_EVERYWHERE),
    ),
}


def readonly_filter(*, has_own: bool) -> tuple[bytes, Numbers] | None:
    """Return the filter and the call numbers for the supervisor; `None` for other machines.

    If the server `has_own` folders, the supervisor also decides connections to sockets.
    """
    machine = this_machine()
    if machine is None:
        return None
    calls = NUMBERS[machine]
    connects = [Rule([calls.connect], NOTIFY, [Test(2, _INTERNET_LENGTHS, is_among=False)])]
    rules = [
        Rule(calls.keys, NOTIFY),
        Rule([calls.socket], NOTIFY, [Test(0, [_AF_UNIX])]),
        *(connects if has_own else ()),
        Rule([calls.flock], NOTIFY, [Test(1, [0], mask=_LOCK_MASK, is_among=False)]),
        Rule([calls.fcntl], NOTIFY, [Test(1, _LOCK_COMMANDS)]),
        *_refusals(calls),
        *shared_rules(machine),
    ]
    return assemble(machine, rules, first_unknown=_FIRST_UNKNOWN), calls


def _refusals(calls: Numbers) -> list[Rule]:
    connected = Test(1, [_STREAM, _SEQPACKET], mask=_TYPE_MASK, is_among=False)
    new_user = Test(0, [_NEW_USER], mask=_NEW_USER)
    return [
        Rule(calls.refused, refuse(errno.ENOSYS)),
        # One socket of a datagram pair can still send to other addresses; a stream pair cannot.
        Rule([calls.socketpair], refuse(errno.EAFNOSUPPORT), [connected]),
        # The C library needs netlink's protocol 0 (routes and addresses); refuse all others.
        Rule(
            [calls.socket],
            refuse(errno.EPROTONOSUPPORT),
            [Test(0, [_AF_NETLINK]), Test(2, [0], is_among=False)],
        ),
        # In a new user namespace the process would be root.
        Rule([calls.clone, calls.unshare], refuse(errno.EPERM), [new_user]),
        Rule([calls.ioctl], refuse(errno.EPERM), [Test(1, _TERMINAL_COMMANDS)]),
    ]
