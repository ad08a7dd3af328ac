"""Makes backups."""

import os
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

import msgspec

from sayso.backup import archive
from sayso.backup.checking import check_copy
from sayso.backup.manifest import Manifest, bound_of, sign
from sayso.backup.stages import Progress, run_stage
from sayso.keys import Keyring, lock_keys
from sayso.store import copy_store, is_postgres, read_status
from sayso.version import __version__


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was written. `problems` are those of the log, which the store has too."""

    file: Path
    bytes: int
    manifest: Manifest
    problems: list[str]


async def back_up(
    url: str | None,
    file: Path,
    keys: Keyring,
    *,
    passphrase: str | None = None,
    progress: Progress = lambda _s, _d, _t: None,
) -> Backup:
    """Write a backup of the store at `url` to a new file, and verify it.

    The store may be in use, and is not upgraded. With a passphrase, the keys are in the file,
    encrypted. When this is cancelled or fails, there is no file. Raises `UsageError` if the file
    exists or cannot be written, and `StoreError`.
    """
    archive.check_absent(file)
    locked = None
    if passphrase is not None:
        locked = lock_keys(keys, passphrase, bound=bound_of(keys.ids))
    with archive.work_folder(file) as folder:
        copy = folder / "copy.db"
        part = folder / "part"
        try:
            created = time.time()
            version = await run_stage("Copying", lambda told: copy_store(url, copy, told), progress)
            manifest = Manifest(
                version=version,
                sayso=__version__,
                created=created,
                database="postgresql" if is_postgres(url) else "sqlite",
                rows=read_status(f"sqlite:{copy}").rows,
                bytes=0,
                sha256="",
                keys=keys.ids,
                locked=locked,
            )
            manifest = await run_stage(
                "Packing", lambda told: _pack(copy, part, manifest, keys, told), progress
            )
            copy.unlink()
            problems = await _read_again(part, manifest, keys, file=file, progress=progress)
            size = part.stat().st_size
            archive.put_in_place(part, file)
        except OSError as error:
            raise archive.cannot_write(file, error) from error
    return Backup(file, size, manifest, problems)


def _pack(
    copy: Path, part: Path, draft: Manifest, keys: Keyring, progress: archive.Progress
) -> Manifest:
    handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with (
        os.fdopen(handle, "w+b") as file,
        zipfile.ZipFile(file, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=1) as target,
    ):
        size, digest = archive.pack_store(target, copy, progress)
        manifest = msgspec.structs.replace(draft, bytes=size, sha256=digest)
        content = manifest.encode()
        target.writestr(archive.MANIFEST, content)
        target.writestr(archive.SIGNATURE, sign(keys, content))
    return manifest


async def _read_again(
    part: Path, manifest: Manifest, keys: Keyring, *, file: Path, progress: Progress
) -> list[str]:
    """Unpack what was written, as a restore does, and return the problems of its log."""
    copy = part.with_name("check.db")
    await run_stage(
        "Reading",
        lambda told: archive.unpack_store(
            part, copy, size=manifest.bytes, digest=manifest.sha256, progress=told
        ),
        progress,
    )
    return await check_copy(copy, keys, where=str(file), progress=progress)
