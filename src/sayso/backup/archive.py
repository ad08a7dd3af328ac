"""The file of a backup: pack, unpack, and put in its place when it is whole."""

import contextlib
import errno
import fcntl
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Generator
from hashlib import sha256
from pathlib import Path
from typing import IO, Final

from sayso.backup.manifest import damaged
from sayso.errors import UsageError

STORE: Final = "store.db"
MANIFEST: Final = "backup.json"
SIGNATURE: Final = "signature"
_CHUNK_BYTES: Final = 1 << 20
_MAX_SMALL_BYTES: Final = 1 << 20
_LEVEL: Final = 1
"""Records shrink to a fifth at this level; higher levels gain little and take long."""
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What `zipfile` raises for damaged archives; the last two, for changed methods and flags."""

Progress = Callable[[int, int], None]


@contextlib.contextmanager
def work_folder(beside: Path) -> Generator[Path]:
    """Create a private folder next to a file, and remove it at the end.

    What a killed process left there is removed first. Raises `UsageError` if another process uses
    it now, or if the folder cannot be created.
    """
    folder = beside.with_name(f".{beside.name}.part")
    with contextlib.ExitStack() as stack:
        try:
            beside.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(handle).st_uid != os.geteuid():
                raise PermissionError(errno.EPERM, f"{folder} belongs to another user")
            os.fchmod(handle, 0o700)
            for left in folder.iterdir():
                left.unlink()
        except BlockingIOError as error:
            what = "another process works on this file"
            raise UsageError(what, where=str(beside), fix="Wait for it.") from error
        except OSError as error:
            raise cannot_write(beside, error) from error
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        yield folder


def pack_store(archive: zipfile.ZipFile, source: Path, progress: Progress) -> tuple[int, str]:
    """Add the store to an archive; return its size and its SHA-256."""
    total = source.stat().st_size
    info = zipfile.ZipInfo(STORE)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    with source.open("rb") as file, archive.open(info, "w", force_zip64=True) as target:
        return _copy(file, target, total, progress)


def unpack_store(path: Path, target: Path, *, size: int, digest: str, progress: Progress) -> None:
    """Write the store of an archive to a new file. Raises `UsageError` if it is damaged."""
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with _reading(path) as archive, os.fdopen(handle, "wb") as file, archive.open(STORE) as source:
        found = _copy(source, file, size, progress)
    if found != (size, digest):
        raise damaged(f"the digest of {STORE} differs from its manifest", str(path))


def read_small(path: Path) -> tuple[bytes, bytes]:
    """Return the manifest and the signature of an archive. Raises `UsageError`."""
    try:
        with _reading(path) as archive:
            return _read_member(archive, MANIFEST), _read_member(archive, SIGNATURE)
    except OSError as error:
        what = f"cannot read the backup: {error.strerror or error}"
        raise UsageError(what, where=str(path), fix="Check its name and permissions.") from error


def put_in_place(part: Path, file: Path) -> None:
    """Give a whole file its name, on the disk too. Raises `UsageError` if the name is taken."""
    try:
        _sync(part)
        try:
            os.link(part, file)
        except FileExistsError:
            raise
        except OSError:  # such as on a USB stick: no links there
            check_absent(file)
            part.replace(file)
        _sync(file.parent)
    except FileExistsError as error:
        raise _exists(file) from error
    except OSError as error:
        raise cannot_write(file, error) from error


def check_absent(file: Path) -> None:
    """Raise `UsageError` if a file exists: no backup is overwritten."""
    if file.exists() or file.is_symlink():
        raise _exists(file)


def cannot_write(file: Path, error: OSError) -> UsageError:
    """Return the error for a file that cannot be written."""
    fix = "Choose a folder that is writable and has space."
    return UsageError(f"cannot write: {error.strerror or error}", where=str(file), fix=fix)


@contextlib.contextmanager
def _reading(path: Path) -> Generator[zipfile.ZipFile]:
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            yield archive
    except KeyError as error:
        raise damaged("a part is missing", str(path)) from error
    except _BROKEN as error:
        raise damaged(f"it is truncated or was changed ({error})", str(path)) from error


def _read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as file:
        return file.read(_MAX_SMALL_BYTES)


def _copy(source: IO[bytes], target: IO[bytes], total: int, progress: Progress) -> tuple[int, str]:
    """Copy at most one byte more than `total`; return the size and the SHA-256."""
    digest = sha256()
    done = 0
    while chunk := source.read(min(_CHUNK_BYTES, total + 1 - done)):
        digest.update(chunk)
        target.write(chunk)
        done += len(chunk)
        progress(done, total)
    return done, digest.hexdigest()


def _exists(file: Path) -> UsageError:
    return UsageError("the file exists already", where=str(file), fix="Choose another name.")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
