"""Whether a place is one where a person keeps something.

What fails elsewhere is told and not punished: every program tries to leave bytecode, caches and
locks behind, and nobody means anything by it.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from sayso.trace import is_noise

_SYSTEM: Final = tuple(
    f"/{name}"
    for name in (
        *("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "opt", "proc"),
        *("dev", "run", "var", "boot", "nix", "snap"),
    )
)
_KERNEL: Final = ("/proc/sys", "/proc/sysrq-trigger", "/sys")
"""Settings of the whole machine, which no program writes by the way."""
_TEMPORARY: Final = ("/tmp", "/var/tmp")  # noqa: S108 - names to compare with
_RUNTIME: Final = frozenset({"__pycache__", ".cache", "node_modules", "site-packages", ".npm"})
_SIDECARS: Final = (".pyc", ".lock", "-wal", "-shm", "-journal")
_XDG: Final = {"XDG_CACHE_HOME": ".cache", "XDG_STATE_HOME": ".local/state"}


def is_kept(path: str, *, env: Mapping[str, str], is_there: bool) -> bool:
    """Whether a change at `path` is a change of what a person keeps.

    `env` is the server's environment; `is_there` says whether something stands at the path.
    """
    pure = PurePosixPath(path)
    if any(_is_under(pure, folder) for folder in _KERNEL):
        return True
    if is_noise(path) or path.endswith(_SIDECARS) or not _RUNTIME.isdisjoint(pure.parts):
        return False
    if any(_is_under(pure, folder) for folder in _scratch(env)):
        return False
    if any(_is_under(pure, folder) for folder in _TEMPORARY):
        # Programs that never ask for TMPDIR make new things there; what lies deeper is somebody's.
        return is_there or str(pure.parent) not in _TEMPORARY
    return not any(_is_under(pure, folder) for folder in _SYSTEM)


def is_way_to_others(path: str) -> bool:
    """Return whether a FIFO or a Unix socket stands at `path`: another process is behind it."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - names of any bytes
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _scratch(env: Mapping[str, str]) -> list[str]:
    home = env.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - for a name, not for a file
    return [env.get(name) or f"{home}/{below}" for name, below in _XDG.items()]


def _is_under(path: PurePosixPath, folder: str) -> bool:
    return path.is_relative_to(folder)
