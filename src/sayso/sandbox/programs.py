"""The programs of this machine that contain and watch."""

import functools
import shutil
import subprocess
from dataclasses import dataclass
from typing import Final

_PATH: Final = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin"


@dataclass(frozen=True, slots=True)
class Programs:
    """Where each program is; empty where it is not installed."""

    bwrap: str = ""
    strace: str = ""
    unshare: str = ""
    prlimit: str = ""
    setpriv: str = ""
    is_sealing: bool = False
    """Whether bubblewrap can keep the server from making user namespaces of its own."""

    def has(self, name: str) -> bool:
        return bool(getattr(self, name))


@functools.cache
def find_programs() -> Programs:
    """Look on the PATH, and where systems keep such programs."""
    names = ("bwrap", "strace", "unshare", "prlimit", "setpriv")
    found = {name: shutil.which(name) or shutil.which(name, path=_PATH) or "" for name in names}
    return Programs(**found, is_sealing=_can_seal(found["bwrap"]))


def _can_seal(bwrap: str) -> bool:
    """From version 0.8 on."""
    if not bwrap:
        return False
    done = subprocess.run([bwrap, "--help"], capture_output=True, check=False, timeout=10)  # noqa: S603 - found on the PATH
    return b"--disable-userns" in done.stdout + done.stderr
