"""The programs of this machine that contain and trace."""

import functools
import shutil
import subprocess
from dataclasses import dataclass
from typing import Final

_PATH: Final = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin"


@dataclass(frozen=True, slots=True)
class Programs:
    """The path of each program; empty if it is not installed."""

    bwrap: str = ""
    strace: str = ""
    unshare: str = ""
    prlimit: str = ""
    setpriv: str = ""
    is_sealing: bool = False
    """Whether bubblewrap can forbid user namespaces in the box (since version 0.8)."""

    def has(self, name: str) -> bool:
        return bool(getattr(self, name))


@functools.cache
def find_programs() -> Programs:
    """Look on the PATH and in the system's folders."""
    names = ("bwrap", "strace", "unshare", "prlimit", "setpriv")
    found = {name: shutil.which(name) or shutil.which(name, path=_PATH) or "" for name in names}
    return Programs(**found, is_sealing=bool(found["bwrap"]) and _can_seal(found["bwrap"]))


def _can_seal(bwrap: str) -> bool:
    done = subprocess.run([bwrap, "--help"], capture_output=True, check=False, timeout=10)  # noqa: S603 - found on the PATH
    return b"--disable-userns" in done.stdout + done.stderr
