"""Files that are replaced in one step: readers see the old bytes or the new, all of them.

All is done on descriptors of folders that nobody else can change (`sayso.clients.folder`).
"""

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
    """Return the bytes of a file that is only shown, whoever owns it. Raises `ConfigError`."""
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

    Where it is not `is_strict`, others may be able to write the folders on the way.
    """
    return locate(path, is_strict=is_strict)[1]


def locate(path: Path, *, is_strict: bool = True) -> tuple[Path, bytes]:
    """Return where a file really is, and all of its bytes. Raises `ConfigError` as `read` does."""
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
    """Write `data` where `expected` is, with the same mode, group and attributes.

    Raises `ConfigError`, and changes nothing, if the file changed meanwhile, would lose its owner
    or another name, or, where it is `is_strict`, is in a folder that others may write.
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
        fix = "Make it writable, or leave it."
        raise ConfigError("the file is read-only", where=str(path), fix=fix)
    _clear(folder, f".{name}.")
    part = _part(folder, name, data, dressed_as=number)
    try:
        now = os.stat(name, dir_fd=folder.number, follow_symlinks=False)
        is_same = (now.st_dev, now.st_ino) == (before.st_dev, before.st_ino)
        if not is_same or read_whole(number, path) != expected:
            fix = "Nothing was written. Close the program that writes it, and do this again."
            what = "the file was changed in the meantime"
            raise ConfigError(what, where=str(path), fix=fix)
        os.replace(part, name, src_dir_fd=folder.number, dst_dir_fd=folder.number)
    finally:
        folder.unlink(part)
    os.fsync(folder.number)


def _check(before: os.stat_result, path: Path) -> None:
    if before.st_nlink > 1:
        what = "the file has another name (a hard link), which would keep the old text"
        fix = "Make it a symbolic link, or a file of its own."
        raise ConfigError(what, where=str(path), fix=fix)
    if os.geteuid() not in (before.st_uid, _ROOT):
        fix = "Run sayso as the user whom it belongs to."
        raise ConfigError("the file belongs to another user", where=str(path), fix=fix)


def keep(path: Path, data: bytes) -> None:
    """Write a file of sayso's own, for this user alone; its folder is made."""
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
    """Delete what a crash has left in a folder of files that were being written."""
    with suppress(FileNotFoundError), open_folder(path) as folder:
        _clear(folder, ".")


def _clear(folder: Folder, start: str) -> None:
    for part in folder.names():
        if part.startswith(start) and part.endswith(_ENDING):
            folder.unlink(part)


def _part(folder: Folder, name: str, data: bytes, *, dressed_as: int | None = None) -> str:
    """Write a private file with the mode, group and attributes of the open `dressed_as`."""
    part = f".{name}.{secrets.token_hex(4)}{_ENDING}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    number = os.open(part, flags, _PRIVATE, dir_fd=folder.number)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            if dressed_as is not None:
                _dress(file.fileno(), dressed_as)
            os.fsync(file.fileno())
    except BaseException:
        folder.unlink(part)
        raise
    return part


def _dress(number: int, before: int) -> None:
    own = os.fstat(number)
    old = os.fstat(before)
    if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid):
        os.fchown(number, old.st_uid, old.st_gid)
    if hasattr(os, "listxattr"):
        for name in os.listxattr(before):
            with suppress(OSError):  # a file system may refuse some, as `cp -a` finds
                os.setxattr(number, name, os.getxattr(before, name))
    os.fchmod(number, old.st_mode & _PERMISSIONS)


def _unusable(path: Path, verb: str, error: OSError) -> ConfigError:
    if error.errno == errno.ELOOP:
        what = "the file or its folder was replaced by a link meanwhile"
        return ConfigError(what, where=str(path), fix="Look who did that.")
    what = f"the file cannot be {verb}: {error.strerror}"
    return ConfigError(what, where=str(path), fix="Check its name and who may use it.")
