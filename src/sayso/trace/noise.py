"""Files and sockets that every program uses. Their use does not count as an effect."""

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
"""Kernel settings, which affect the whole machine and so are not noise."""
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
"""Sockets of the C library's name lookups and of `syslog`."""


def is_noise(path: str) -> bool:
    """Return whether a write to a path changes nothing lasting: devices, memory, `/proc`."""
    is_setting = path.startswith(_SETTINGS)
    return path in _DEVICES or (path.startswith(_FOLDERS) and not is_setting)


def is_noise_socket(path: str) -> bool:
    """Return whether the system's libraries connect to this socket without the program's doing."""
    return path in _SOCKETS
