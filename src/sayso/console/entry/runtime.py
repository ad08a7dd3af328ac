"""The private folder with the sockets of a user's running gateways."""

import os
import socket
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

VARIABLE: Final = "SAYSO_RUNTIME_DIR"
SUFFIX: Final = ".sock"
_NAME: Final = "sayso"
_PRIVATE: Final = 0o700


def folders() -> list[Path]:
    """Return the possible folders, best first; `SAYSO_RUNTIME_DIR` replaces all of them.

    A client may start its gateway without environment variables, so some folders need none.
    """
    if configured := os.environ.get(VARIABLE):
        return [Path(configured)]
    if sys.platform != "linux":
        return [Path.home() / "Library/Caches/TemporaryItems" / _NAME]
    session = os.environ.get("XDG_RUNTIME_DIR")
    usual = (Path(f"/run/user/{os.getuid()}"), Path(f"/tmp/runtime-{os.getuid()}"))  # noqa: S108 - checked below
    return [Path(place) / _NAME for place in dict.fromkeys((Path(session or usual[0]), *usual))]


def private_folder() -> Path | None:
    """Return the first usable folder, created if missing; `None` if no folder is usable."""
    for folder in folders():
        with suppress(OSError):
            if folder.parent.name.startswith("runtime-"):
                folder.parent.mkdir(mode=_PRIVATE, exist_ok=True)
            folder.mkdir(mode=_PRIVATE, parents=VARIABLE in os.environ, exist_ok=True)
            if is_private(folder):
                return folder
    return None


def is_private(folder: Path) -> bool:
    """Return whether only this user can read, write and replace a folder."""
    if not _is_ours(folder):
        return False
    parent = folder.parent.lstat()
    is_shared = bool(parent.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    is_safe = not is_shared or bool(parent.st_mode & stat.S_ISVTX)
    return is_safe and parent.st_uid in (0, os.getuid())


def _is_ours(folder: Path) -> bool:
    status = folder.lstat()
    is_closed = not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and is_closed


def sockets() -> list[Path]:
    """Return the sockets of this user's gateways, including dead ones."""
    paths: list[Path] = []
    for folder in folders():
        with suppress(OSError):
            if is_private(folder):
                paths += sorted(_sockets_in(folder))
    return paths


def _sockets_in(folder: Path) -> Iterable[Path]:
    for path in folder.iterdir():
        if path.suffix == SUFFIX and stat.S_ISSOCK(path.lstat().st_mode):
            yield path


def listen(folder: Path | None) -> tuple[socket.socket, Path]:
    """Return a listening socket, and its path, which exists from then on. Raises `OSError`."""
    if folder is None:
        raise FileNotFoundError
    path = folder / f"{os.getpid()}{SUFFIX}"
    part = folder / f".{os.getpid()}.new"
    part.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(part))
        part.chmod(0o600)
        listener.listen(16)
        listener.settimeout(0)
        part.rename(path)
    except BaseException:
        listener.close()
        raise
    return listener, path
