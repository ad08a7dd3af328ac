"""Restores backups."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sayso.backup import archive
from sayso.backup.checking import check_copy
from sayso.backup.manifest import Manifest, bound_of, check_signature, read_manifest
from sayso.backup.stages import Progress, run_stage
from sayso.errors import KeysError
from sayso.keys import FILE_VARIABLE, Keyring, key_file, load_keys, unlock_keys, write_keys
from sayso.store import check_empty, fill_store, is_postgres, store_path


@dataclass(frozen=True, slots=True)
class Restored:
    """A store that was restored. `wrote_keys` is the key file, if it was created."""

    manifest: Manifest
    wrote_keys: Path | None
    problems: list[str]


async def restore(
    file: Path,
    url: str | None,
    *,
    passphrase: Callable[[], str],
    progress: Progress = lambda _s, _d, _t: None,
) -> Restored:
    """Restore a backup into an empty store; a missing SQLite file is created.

    The keys are those of this installation. If there are none, they come from the backup, and
    `passphrase` is asked for. Everything is checked before the store changes, in one transaction.
    Raises `UsageError` if the backup is damaged or newer, or if the store has data or is in use;
    `KeysError` for missing or other keys; and `StoreError`.
    """
    content, signature = archive.read_small(file)
    manifest = read_manifest(content, str(file))
    check_empty(url)
    keys, new_file = _keys_of(manifest, url, passphrase, where=str(file))
    check_signature(keys, content, signature, str(file))
    place = _place(url, file)
    with archive.work_folder(place) as folder:
        copy = folder / archive.STORE
        try:
            await run_stage(
                "Unpacking",
                lambda told: archive.unpack_store(
                    file, copy, size=manifest.bytes, digest=manifest.sha256, progress=told
                ),
                progress,
            )
            problems = await check_copy(copy, keys, where=str(file), progress=progress)
            if new_file is not None:
                write_keys(new_file, keys.lines())
            await run_stage("Restoring", lambda told: fill_store(url, copy, told), progress)
        except OSError as error:
            raise archive.cannot_write(place, error) from error
    return Restored(manifest, new_file, problems)


def _keys_of(
    manifest: Manifest, url: str | None, passphrase: Callable[[], str], *, where: str
) -> tuple[Keyring, Path | None]:
    """Return the keys, and the key file to create if they come from the backup."""
    beside = None if is_postgres(url) else store_path(url)
    path = key_file(beside)
    new_file = None
    if path is None or path.exists():
        keys = load_keys(beside)
    elif manifest.locked is None:
        fix = f"Copy the key file of the store to {path}, or set {FILE_VARIABLE} to it."
        raise KeysError("the backup contains no keys", where=where, fix=fix)
    else:
        keys = unlock_keys(manifest.locked, passphrase(), bound=bound_of(manifest.keys))
        new_file = path
    missing = [name for name in manifest.keys if name not in keys.ids]
    if missing:
        what = f"the keys here ({', '.join(keys.ids)}) lack the backup's key {missing[0]}"
        fix = f"Set {FILE_VARIABLE} to the key file of the store that was backed up."
        raise KeysError(what, where=where, fix=fix)
    return keys, new_file


def _place(url: str | None, file: Path) -> Path:
    """Return the file next to which the backup is unpacked."""
    return Path(tempfile.gettempdir()) / file.name if is_postgres(url) else store_path(url)
