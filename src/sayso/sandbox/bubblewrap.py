"""Arguments of bubblewrap: the system visible inside a box, and its namespaces."""

import os
from pathlib import Path
from typing import Final

USER: Final = "user"
HOME: Final = "/home/user"
UID: Final = "1000"

_LINKED: Final = ("/bin", "/sbin", "/lib", "/lib32", "/libx32", "/lib64")

_ETC_BOUND: Final = (
    *("/etc/alternatives", "/etc/localtime", "/etc/mime.types", "/etc/timezone"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"),
    *("/etc/ca-certificates", "/etc/pki/ca-trust/extracted", "/etc/pki/tls/certs"),
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf"),
)

_ETC_WRITTEN: Final = {
    "passwd": f"{USER}:x:{UID}:{UID}:{USER}:{HOME}:/bin/sh\n",
    "group": f"{USER}:x:{UID}:\n",
    "hosts": "127.0.0.1 localhost box\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    # Nothing listens there, so a lookup fails at once and is traced.
    "resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
}

USERS_APART: Final = ("--unshare-user", "--uid", UID, "--gid", UID, "--cap-drop", "ALL")
PROCESSES_APART: Final = (
    *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--hostname", "box", "--die-with-parent", "--new-session"),
)
NETWORK_APART: Final = ("--unshare-net",)
SEALED: Final = (*("--remount-ro", "/dev"), *("--remount-ro", "/proc"), *("--remount-ro", "/"))
"""Arguments that follow all mounts and make the mount points read-only, which are in memory.

/proc too: if root started the box, the server could write /proc/sys, the kernel's settings of the
whole machine.
"""

_MASKED: Final = ("iomem", "kcore", "keys", "kmsg", "kpagecgroup", "kpagecount", "kpageflags")
"""Files of /proc by which root can read the memory or the log of the whole machine."""


def system_words() -> tuple[str, ...]:
    """Mount what any program needs, read-only: /usr, its links, a fresh /proc and /dev."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in _LINKED:
        path = Path(name)
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), name]  # noqa: PTH115 - as it is written
        elif path.is_dir():
            words += ["--ro-bind", name, name]
    if Path("/nix/store").is_dir():
        words += ["--ro-bind", "/nix/store", "/nix/store"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for path in (f"/proc/{name}" for name in _MASKED):
        if Path(path).exists():
            words += ["--ro-bind", "/dev/null", path]
    return tuple(words)


def etc_words(folder: Path, *, is_online: bool = False) -> tuple[str, ...]:
    """Write and mount a small /etc with one user. `is_online` keeps this machine's resolver."""
    folder.mkdir()
    words: list[str] = []
    for name, text in _ETC_WRITTEN.items():
        (folder / name).write_text(text, encoding="utf-8")
        source = folder / name
        if is_online and name in ("hosts", "resolv.conf"):
            source = Path("/etc", name)
        words += ["--ro-bind-try", str(source), f"/etc/{name}"]
    for path in _ETC_BOUND:
        words += ["--ro-bind-try", path, path]
    return tuple(words)
