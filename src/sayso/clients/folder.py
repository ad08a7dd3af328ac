"""Folders opened as descriptors, along paths that no other user can change.

A path is walked from the root, name by name, and each folder is opened without following a link.
Every folder on the path must belong to this user or root, and only its owner may write to it. Then
no other user can replace it between check and use. Links in such folders are trusted and followed.
"""

import errno
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.errors import ConfigError

MAX_FILE_BYTES: Final = 16 * 1024 * 1024
"""The largest client configuration that is read."""
_MAX_LINKS: Final = 40
"""The limit of Linux for one path (path_resolution(7))."""
_MAX_PARTS: Final = 4096
_ROOT: Final = 0
_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_MODE: Final = 0o700


@dataclass(frozen=True, slots=True)
class Folder:
    """An open folder with its real `path`.

    `is_shared` marks a sticky folder, in which others may create files. The owners of files are
    checked only with `is_strict`.
    """

    number: int
    path: Path
    is_shared: bool = False
    is_strict: bool = True

    def open_file(self, name: str) -> int:
        """Open a regular file of this user or root for reading, and return its descriptor.

        Raises `ConfigError` for anything else. Also raises `OSError`.
        """
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        number = os.open(name, flags, dir_fd=self.number)
        try:
            self._check(os.fstat(number), self.path / name)
        except BaseException:
            os.close(number)
            raise
        return number

    def _check(self, found: os.stat_result, path: Path) -> None:
        if not stat.S_ISREG(found.st_mode):
            raise ConfigError("this is not a file", where=str(path))
        is_own = not self.is_strict or found.st_uid in (_ROOT, os.geteuid())
        # Root may change another user's file, if that user cannot replace the file meanwhile.
        if not is_own and (self.is_shared or os.geteuid() != _ROOT):
            raise _of_another(path, "file")

    def names(self) -> list[str]:
        """Return the names of the entries."""
        return os.listdir(self.number)  # noqa: PTH208 - of a descriptor

    def unlink(self, name: str) -> None:
        """Delete a file, if it exists."""
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.number)


def read_whole(number: int, where: Path) -> bytes:
    """Return the bytes of an open file. Raises `ConfigError` if larger than `MAX_FILE_BYTES`."""
    with os.fdopen(os.dup(number), "rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        what = f"the file is larger than {MAX_FILE_BYTES // 1024 // 1024} MiB"
        raise ConfigError(what, where=str(where), fix="Name another file.")
    return data


@contextmanager
def open_folder(path: Path, *, is_made: bool = False) -> Generator[Folder]:
    """Open a folder. With `is_made`, create missing folders with access for this user only.

    Raises `ConfigError` if another user could change the path, and `OSError`.
    """
    with _walked(_Walk(path, is_made=is_made)) as (folder, name):
        if name is not None:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        yield folder


@contextmanager
def open_parent(path: Path, *, is_strict: bool = True) -> Generator[tuple[Folder, str]]:
    """Open the real folder of a file, and yield it with the file's name. The file may be missing.

    Raises like `open_folder`, and `ConfigError` if `path` is a folder. Without `is_strict`, other
    users may be able to change the path, as in a shared project.
    """
    with _walked(_Walk(path, is_file=True, is_strict=is_strict)) as (folder, name):
        if name is None:
            raise ConfigError("this is not a file", where=str(path))
        yield folder, name


@contextmanager
def _walked(walk: "_Walk") -> Generator[tuple[Folder, str | None]]:
    """Walk along a path. Yield the last folder, and the file's name (`None` for a folder)."""
    try:
        yield walk.run()
    finally:
        walk.close()


class _Walk:
    """A walk along a path: the current open folder, and the remaining names."""

    def __init__(
        self, path: Path, *, is_made: bool = False, is_file: bool = False, is_strict: bool = True
    ) -> None:
        self._is_made = is_made
        self._is_file = is_file
        self._is_strict = is_strict
        self._left = [*_parts(path.absolute())]
        self._links = 0
        self._number = -1
        self._path = Path("/")

    def close(self) -> None:
        if self._number >= 0:
            os.close(self._number)
            self._number = -1

    def run(self) -> tuple[Folder, str | None]:
        self._restart()
        steps = 0
        while self._left:
            steps += 1
            if steps > _MAX_PARTS:
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
            name = self._left.pop(0)
            if name == "..":
                self._enter("..", self._path.parent)
                continue
            found = self._look(name)
            if found is not None and stat.S_ISLNK(found.st_mode):
                self._follow(name, found)
            elif self._is_file and not self._left and not _is_folder(found):
                return self._here(), name
            else:
                self._enter(name, self._path / name)
        return self._here(), None

    def _here(self) -> Folder:
        mode = os.fstat(self._number).st_mode
        return Folder(self._number, self._path, bool(mode & stat.S_IWOTH), self._is_strict)

    def _restart(self) -> None:
        self.close()
        self._number = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._path = Path("/")
        self._check()

    def _check(self) -> None:
        if self._is_strict:
            _check(os.fstat(self._number), self._path)

    def _look(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=self._number, follow_symlinks=False)
        except FileNotFoundError:
            if self._is_made:
                os.mkdir(name, _MODE, dir_fd=self._number)
            elif self._left or not self._is_file:
                raise
            return None

    def _enter(self, name: str, path: Path) -> None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        number = os.open(name, flags, dir_fd=self._number)
        self.close()
        self._number = number
        self._path = path
        self._check()

    def _follow(self, name: str, found: os.stat_result) -> None:
        self._links += 1
        if self._links > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if self._is_strict and found.st_uid not in (_ROOT, os.geteuid()):
            raise _of_another(self._path / name, "link")
        target = os.readlink(name, dir_fd=self._number)
        self._left = [*_parts(Path(target)), *self._left]
        if target.startswith("/"):
            self._restart()


def _parts(path: Path) -> Iterator[str]:
    return (part for part in path.parts if part not in ("/", "//", "."))


def _is_folder(found: os.stat_result | None) -> bool:
    return found is not None and stat.S_ISDIR(found.st_mode)


def _check(found: os.stat_result, path: Path) -> None:
    """Raise `ConfigError` if another user could change the folder's entries."""
    if found.st_uid not in (_ROOT, os.geteuid()):
        raise _of_another(path, "folder")
    writable = found.st_mode & _WRITABLE_BY_OTHERS
    if not writable or found.st_mode & stat.S_ISVTX:
        # In a sticky folder, others cannot delete or replace this user's files.
        return
    if writable == stat.S_IWGRP and _is_own_group(found.st_gid, found.st_uid):
        return
    fix = f"Run chmod go-w {path}, or name a file in another folder."
    raise ConfigError("other users can write to this folder", where=str(path), fix=fix)


def _is_own_group(group: int, user: int) -> bool:
    """Return whether the user is the only member of the group."""
    import grp  # noqa: PLC0415 - missing on Windows, where nothing is written
    import pwd  # noqa: PLC0415 - missing on Windows

    if group == _ROOT:
        return True
    try:
        name = pwd.getpwuid(user).pw_name
        named = grp.getgrgid(group).gr_mem
    except KeyError:
        return False
    others = (entry.pw_uid for entry in pwd.getpwall() if entry.pw_gid == group)
    return set(named) <= {name} and all(other == user for other in others)


def _of_another(path: Path, what: str) -> ConfigError:
    fix = "Run sayso as its owner."
    return ConfigError(f"this {what} belongs to another user", where=str(path), fix=fix)
