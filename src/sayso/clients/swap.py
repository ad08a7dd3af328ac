"""Atomic replacement of files, through open folders (`sayso.clients.folder`)."""

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from sayso.clients.folder import Folder, open_folder, open_parent, read_whole
from sayso.errors import ConfigError

_ROOT: Final = 0
_PRIVATE: Final = 0o600
_PERMISSIONS: Final = 0o777
_ENDING: Final = ".sayso-part"


def look(path: Path) -> bytes:
    """Return a file's bytes for display; any user may own it. Raises `ConfigError`."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        number = os.open(path, flags)
        try:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                raise ConfigError("this is not a file", where=str(path))
            return read_whole(number, path)
        finally:
            os.close(number)
    except OSError as error:
        raise _unusable(path, "read", error) from error


def read(path: Path, *, is_strict: bool = True) -> bytes:
    """Return all bytes of a file. Raises `ConfigError` if it cannot be read safely.

    Without `is_strict`, other users may be able to write to the folders on the path.
    """
    return locate(path, is_strict=is_strict)[1]


def locate(path: Path, *, is_strict: bool = True) -> tuple[Path, bytes]:
    """Return a file's real path and its bytes. Raises `ConfigError` like `read`."""
    try:
        with open_parent(path, is_strict=is_strict) as (folder, name):
            number = folder.open_file(name)
            try:
                return folder.path / name, read_whole(number, path)
            finally:
                os.close(number)
    except OSError as error:
        raise _unusable(path, "read", error) from error


def replace(path: Path, expected: bytes, data: bytes, *, is_strict: bool = True) -> None:
    """Replace the content `expected` by `data`; keep the file's mode, group and attributes.

    Raises `ConfigError`, and changes nothing, if the file has changed or would lose its owner or a
    hard link. With `is_strict`, also if other users can write to its folder.
    """
    try:
        with open_parent(path, is_strict=is_strict) as (folder, name):
            number = folder.open_file(name)
            try:
                _replace(folder, name, number, expected, data)
            finally:
                os.close(number)
    except OSError as error:
        raise _unusable(path, "written", error) from error


def _replace(folder: Folder, name: str, number: int, expected: bytes, data: bytes) -> None:
    before = os.fstat(number)
    path = folder.path / name
    _check(before, path)
    if not os.access(name, os.W_OK, dir_fd=folder.number):
        raise ConfigError("the file is read-only", where=str(path), fix="Make it writable.")
    _clear(folder, f".{name}.")
    part = _part(folder, name, data, like=number)
    try:
        now = os.stat(name, dir_fd=folder.number, follow_symlinks=False)
        is_same = (now.st_dev, now.st_ino) == (before.st_dev, before.st_ino)
        if not is_same or read_whole(number, path) != expected:
            fix = "Nothing was written. Close the program that writes it, and try again."
            raise ConfigError("the file has changed", where=str(path), fix=fix)
        os.replace(part, name, src_dir_fd=folder.number, dst_dir_fd=folder.number)
    finally:
        folder.unlink(part)
    os.fsync(folder.number)


def _check(before: os.stat_result, path: Path) -> None:
    if before.st_nlink > 1:
        what = "the file has a hard link, which would still have the old text"
        fix = "Replace the hard link by a symbolic link or a copy."
        raise ConfigError(what, where=str(path), fix=fix)
    if os.geteuid() not in (before.st_uid, _ROOT):
        fix = "Run sayso as its owner."
        raise ConfigError("the file belongs to another user", where=str(path), fix=fix)


def keep(path: Path, data: bytes) -> None:
    """Write a private file of sayso, creating its folder."""
    try:
        with open_folder(path.parent, is_made=True) as folder:
            part = _part(folder, path.name, data)
            try:
                os.replace(part, path.name, src_dir_fd=folder.number, dst_dir_fd=folder.number)
            finally:
                folder.unlink(part)
            os.fsync(folder.number)
    except OSError as error:
        raise _unusable(path, "written", error) from error


def clear(path: Path) -> None:
    """Delete partial files that a crash left in a folder."""
    with suppress(FileNotFoundError), open_folder(path) as folder:
        _clear(folder, ".")


def _clear(folder: Folder, start: str) -> None:
    for part in folder.names():
        if part.startswith(start) and part.endswith(_ENDING):
            folder.unlink(part)


def _part(folder: Folder, name: str, data: bytes, *, like: int | None = None) -> str:
    """Write a temporary file with the mode, group and attributes of the open `like`."""
    part = f".{name}.{secrets.token_hex(4)}{_ENDING}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    number = os.open(part, flags, _PRIVATE, dir_fd=folder.number)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            if like is not None:
                _copy_attributes(file.fileno(), like)
            os.fsync(file.fileno())
    except BaseException:
        folder.unlink(part)
        raise
    return part


def _copy_attributes(number: int, before: int) -> None:
    own = os.fstat(number)
    old = os.fstat(before)
    if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid):
        os.fchown(number, old.st_uid, old.st_gid)
    if hasattr(os, "listxattr"):
        for name in os.listxattr(before):
            with suppress(OSError):  # a file system may reject some, as with `cp -a`
                os.setxattr(number, name, os.getxattr(before, name))
    os.fchmod(number, old.st_mode & _PERMISSIONS)


def _unusable(path: Path, verb: str, error: OSError) -> ConfigError:
    if error.errno == errno.ELOOP:
        what = "the file or its folder was replaced by a link"
        return ConfigError(what, where=str(path), fix="Check which program did that.")
    what = f"the file cannot be {verb}: {error.strerror}"
    return ConfigError(what, where=str(path), fix="Check its name and permissions.")
