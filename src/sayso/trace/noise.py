"""Calls told as effects, without what every program does and nobody means by it."""

from typing import Final

from sayso.trace.arguments import Call
from sayso.trace.effect import Effect, Kind, Observer

_DEVICES: Final = frozenset(
    f"/dev/{name}"
    for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "stdout", "stderr")
)
_FOLDERS: Final = (
    "/dev/pts/",
    "/dev/shm/",  # noqa: S108 - a name to compare with
    "/dev/fd/",
    "/proc/",
    "/memfd:",
    "/SYSV",
    "/anon_hugepage",
)
_SETTINGS: Final = ("/proc/sys/", "/proc/sysrq-trigger")
"""The kernel's settings, which are the whole machine's."""
_SOCKETS: Final = frozenset(
    {
        "/var/run/nscd/socket",
        "/run/nscd/socket",
        "/run/systemd/resolve/io.systemd.Resolve",
        "/run/systemd/userdb/io.systemd.DynamicUser",
        "/run/avahi-daemon/socket",
        "/dev/log",
    }
)
"""Where the C library asks for names, and where `syslog` goes."""

REFUSALS: Final = frozenset(
    {"EROFS", "EACCES", "EPERM", "ENOSPC", "EDQUOT", "EFBIG", "EIO", "ETXTBSY"}
)
"""Errors of an attempt that would have changed something. Others mean: there was nothing to do."""


def tell(kind: Kind, target: str, *, detail: str = "", is_failed: bool = False) -> Effect:
    """An effect, not yet of a call."""
    return Effect(kind, target, Observer.SYSCALLS, detail=detail, is_failed=is_failed)


def tell_of_file(call: Call, kind: Kind, path: str | None, detail: str = "") -> tuple[Effect, ...]:
    """The effect of a call on a file: done, refused, or none where it changed nothing."""
    if path is None or call.result is None or is_noise(path):
        return ()
    if call.result >= 0:
        return (tell(kind, path, detail=detail),)
    if call.error not in REFUSALS:
        return ()
    return (tell(kind, path, detail=f"{detail}; {call.error}".lstrip("; "), is_failed=True),)


def is_noise(path: str) -> bool:
    """Whether writing there changes nothing that lasts: devices, shared memory, `/proc`."""
    is_setting = path.startswith(_SETTINGS)
    return path in _DEVICES or (path.startswith(_FOLDERS) and not is_setting)


def is_noise_socket(path: str) -> bool:
    """Whether a program's libraries connect there by themselves."""
    return path in _SOCKETS
