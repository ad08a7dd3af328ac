"""A private folder on the host for all that a box writes, removed even if sayso is killed."""

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
"""Waits until the other end of its pipe closes: sayso closes it, or the kernel when sayso ends.

The script retries because the box's last processes may still create files while they end.
"""

_TRIES: Final = 20


@asynccontextmanager
async def private_folder(name: str = "box") -> AsyncGenerator[Path]:
    """Create a folder that only this user can open; remove it on leaving or cancellation.

    A separate process removes it if sayso is killed.
    """
    folder, cleaner = await anyio.to_thread.run_sync(_make, name)
    try:
        yield folder
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(remove, folder)
            await anyio.to_thread.run_sync(cleaner.communicate)


def _make(name: str) -> tuple[Path, subprocess.Popen[bytes]]:
    folder = Path(tempfile.mkdtemp(prefix=f"sayso-{name}-")).resolve()
    # A separate session, because a signal to sayso's process group must not end the cleaner.
    return folder, subprocess.Popen(  # noqa: S603 - sayso's own words
        ["/bin/sh", "-c", _CLEAR, "sh", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env={"PATH": "/usr/bin:/bin"},
    )


def remove(folder: Path) -> None:
    """Remove a folder, even an unreadable one. Raises `OSError` if it keeps being written to."""
    for _ in range(_TRIES):
        try:
            _open_up(folder)
            shutil.rmtree(folder)
        except FileNotFoundError:
            if not folder.exists():
                return
        except (OSError, RecursionError):
            # A path is longer than the kernel accepts, or folders are nested too deeply.
            _remove_deep(folder)
    if folder.exists():
        shutil.rmtree(folder)


def _remove_deep(folder: Path) -> None:
    """Remove with programs that descend step by step and never hold a whole path."""
    for words in (["/bin/chmod", "-R", "u+rwx"], ["/bin/rm", "-rf"]):
        subprocess.run([*words, "--", str(folder)], check=False, stderr=subprocess.DEVNULL)  # noqa: S603 - the system's own


def _open_up(top: Path) -> None:
    """Make all folders below accessible to the owner. Symbolic links are not followed."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        folder.chmod(stat.S_IRWXU)
        waiting += [each for each in folder.iterdir() if each.is_dir() and not each.is_symlink()]
