"""Files that are replaced in one step: whoever reads sees the old bytes or the new, all of them."""

import glob
import os
import secrets
import shutil
import stat
import time
from pathlib import Path
from typing import Final

from avow.errors import ConfigError

_PRIVATE: Final = 0o600
_ENDING: Final = ".avow-part"


def read(path: Path) -> bytes:
    """All bytes of a file; raises `ConfigError` where it cannot be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ConfigError("this is not a file", where=str(path))
        return path.read_bytes()
    except OSError as error:
        raise _unusable(path, "read", error) from error


def replace(path: Path, expected: bytes, data: bytes) -> None:
    """Write `data` where `expected` stands, with the same mode, owner and attributes.

    `path` is no symbolic link. Raises `ConfigError`, and changes nothing, where the file holds
    something else by now, or would lose its owner or another name.
    """
    try:
        before = path.stat()
        if before.st_nlink > 1:
            what = "the file has another name (a hard link), which would keep the old text"
            fix = "Make it a symbolic link, or a file of its own."
            raise ConfigError(what, where=str(path), fix=fix)
        if not os.access(path, os.W_OK):
            fix = "Make it writable, or let it be."
            raise ConfigError("the file is read-only", where=str(path), fix=fix)
        clear(path.parent, path.name)
        part = _part(path, data)
        try:
            _dress(part, path, before)
            if path.read_bytes() != expected:
                fix = "Nothing was written. Close the program that writes it, and do this again."
                what = "the file was changed in the meantime"
                raise ConfigError(what, where=str(path), fix=fix)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        _sync(path.parent)
    except OSError as error:
        raise _unusable(path, "written", error) from error


def keep(path: Path, data: bytes) -> None:
    """Write a file of avow's own, for this user alone; its folder is made."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = _part(path, data)
        part.replace(path)
        _sync(path.parent)
    except OSError as error:
        raise _unusable(path, "written", error) from error


def clear(folder: Path, name: str = "") -> None:
    """Take away what a crash has left of files that were being written: of `name`, or of all."""
    for part in folder.glob(f".{glob.escape(name) or '*'}.*{_ENDING}"):
        part.unlink(missing_ok=True)


def _part(path: Path, data: bytes) -> Path:
    """The whole content in a file beside `path`, synced; others can read it at no moment."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}{_ENDING}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "wb") as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            part.unlink()
            raise
    return part


def _dress(part: Path, path: Path, before: os.stat_result) -> None:
    """Give `part` the owner, mode and attributes of the file it is to replace."""
    own = part.stat()
    if (own.st_uid, own.st_gid) != (before.st_uid, before.st_gid):
        os.chown(part, before.st_uid, before.st_gid)
    shutil.copystat(path, part)
    os.utime(part, (time.time(), time.time()))  # a client looks at it to see that it is new


def _sync(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _unusable(path: Path, verb: str, error: OSError) -> ConfigError:
    what = f"the file cannot be {verb}: {error.strerror}"
    return ConfigError(what, where=str(path), fix="Check its name and who may use it.")
