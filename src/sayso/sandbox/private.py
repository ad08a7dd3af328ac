"""One private folder on the host for all that a box writes, gone again however sayso ends."""

import shutil
import stat
import subprocess
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio

_CLEAR: Final = """
read -r _
tries=0
while [ -e "$1" ] && [ "$tries" -lt 50 ]; do
    chmod -R u+rwx "$1"
    rm -rf -- "$1" || sleep 0.1
    tries=$((tries + 1))
done
"""
"""Waits until nobody holds the other end of its pipe, which a killed sayso does not either.

The tries are for files that the last processes of the box, dying too, still make.
"""

_TRIES: Final = 20


@asynccontextmanager
async def private_folder(name: str = "box") -> AsyncGenerator[Path]:
    """Make a folder that only this user can open; on leaving, also when cancelled, it is removed.

    A process beside sayso removes it where sayso itself no longer can.
    """
    folder, guardian = await anyio.to_thread.run_sync(_make, name)
    try:
        yield folder
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(remove, folder)
            await anyio.to_thread.run_sync(guardian.communicate)


def _make(name: str) -> tuple[Path, subprocess.Popen[bytes]]:
    folder = Path(tempfile.mkdtemp(prefix=f"sayso-{name}-")).resolve()
    return folder, _start_guardian(folder)


def _start_guardian(folder: Path) -> subprocess.Popen[bytes]:
    # In a session of its own: what ends sayso's process group must not end it.
    return subprocess.Popen(  # noqa: S603 - sayso's own words
        ["/bin/sh", "-c", _CLEAR, "sh", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env={"PATH": "/usr/bin:/bin"},
    )


def remove(folder: Path) -> None:
    """Remove a folder, with what a server has made unreadable in it.

    Raises `OSError` where something keeps on writing there.
    """
    for _ in range(_TRIES):
        try:
            _open_up(folder)
            shutil.rmtree(folder)
        except FileNotFoundError:
            if not folder.exists():
                return
        except (OSError, RecursionError):
            # Paths that are longer than the kernel takes, or folders in folders without end.
            _remove_deep(folder)
    if folder.exists():
        shutil.rmtree(folder)


def _remove_deep(folder: Path) -> None:
    """With programs that go from folder to folder, and hold no path as a whole."""
    for words in (["/bin/chmod", "-R", "u+rwx"], ["/bin/rm", "-rf"]):
        subprocess.run([*words, "--", str(folder)], check=False, stderr=subprocess.DEVNULL)  # noqa: S603 - the system's own


def _open_up(top: Path) -> None:
    """Let the owner into all folders below. Symbolic links are not followed."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        folder.chmod(stat.S_IRWXU)
        waiting += [each for each in folder.iterdir() if each.is_dir() and not each.is_symlink()]
