"""What every program does and nobody means by it."""

from typing import Final

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


def is_noise(path: str) -> bool:
    """Whether writing there changes nothing that lasts: devices, shared memory, `/proc`."""
    is_setting = path.startswith(_SETTINGS)
    return path in _DEVICES or (path.startswith(_FOLDERS) and not is_setting)


def is_noise_socket(path: str) -> bool:
    """Whether a program's libraries connect there by themselves."""
    return path in _SOCKETS
