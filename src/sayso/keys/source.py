"""The keys of an installation, from `SAYSO_KEYS`, a file, or a file next to the store."""

import base64
import binascii
import contextlib
import os
import secrets
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sayso.errors import KeysError
from sayso.keys.ring import KEY_BYTES, Keyring

VARIABLE: Final = "SAYSO_KEYS"
FILE_VARIABLE: Final = "SAYSO_KEYS_FILE"
_HEAD: Final = "# The active key comes first. Keep the old ones: they verify what they signed."
_FIX: Final = "A key is 32 random bytes in base64: openssl rand -base64 32."
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_MAX_FILE_BYTES: Final = 1 << 20


def load_keys(store_file: Path | None = None, *, is_made: bool = False) -> Keyring:
    """Return the keys of this installation.

    `SAYSO_KEYS` contains the keys, separated by spaces or commas; the first is the active key.
    `SAYSO_KEYS_FILE` names a file with one key per line. Without both, the file is the path
    `store_file` plus `.keys`. With `is_made`, a missing file is created, for this user only. Raises
    `KeysError` if there is no key, a key is invalid, or others may read the file.
    """
    if value := os.environ.get(VARIABLE):
        return read_keys(value.replace(",", " ").split(), VARIABLE)
    if name := os.environ.get(FILE_VARIABLE):
        return _read_file(Path(name).expanduser())
    if store_file is None:
        fix = (
            f"Several machines share this store: set the same {VARIABLE} or {FILE_VARIABLE} "
            f"on all of them. {_FIX}"
        )
        raise KeysError("no keys are configured", fix=fix)
    path = keys_path(store_file)
    if is_made and not path.exists():
        write_keys(path, [make_key()])
    return _read_file(path)


def key_file(store_file: Path | None = None) -> Path | None:
    """Return the file from which `load_keys` reads; `None` if it reads no file."""
    if os.environ.get(VARIABLE):
        return None
    if name := os.environ.get(FILE_VARIABLE):
        return Path(name).expanduser()
    return None if store_file is None else keys_path(store_file)


def keys_path(store_file: Path) -> Path:
    """Return the path of the key file of the store in `store_file`."""
    return store_file.with_name(f"{store_file.name}.keys")


def make_key() -> str:
    """Return a new key in base64, as written in a key file or `SAYSO_KEYS`."""
    return base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def read_private(path: Path, fix: str) -> bytes:
    """Return the content of a key file. Raises `KeysError` if it is unreadable or not private."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read(_MAX_FILE_BYTES)
    except OSError as error:
        what = f"cannot read the key file: {error.strerror}"
        raise KeysError(what, where=str(path), fix=fix) from error
    if stat.S_IMODE(mode) & _OTHERS:
        what = "other users may read the key file"
        raise KeysError(what, where=str(path), fix=f"Run: chmod 600 {path}")
    return content


def write_keys(path: Path, keys: Sequence[str]) -> None:
    """Create a key file for this user only; keep a file that another process created first."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Write another file and link it, so that the file is complete when it gets its name.
        part = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write("\n".join([_HEAD, *keys, ""]))
            file.flush()
            os.fsync(file.fileno())
        try:
            with contextlib.suppress(FileExistsError):
                os.link(part, path)
        finally:
            part.unlink()
    except OSError as error:
        raise KeysError(f"cannot make the key file: {error.strerror}", where=str(path)) from error


def _read_file(path: Path) -> Keyring:
    fix = f"Set {FILE_VARIABLE} to the key file of this store, or {VARIABLE} to its keys."
    try:
        lines = read_private(path, fix).decode().splitlines()
    except UnicodeDecodeError as error:
        raise KeysError("not a key file", where=str(path), fix=_FIX) from error
    keys = [line.partition("#")[0].strip() for line in lines]
    return read_keys([key for key in keys if key], str(path))


def read_keys(words: Sequence[str], where: str) -> Keyring:
    """Return the keys that are written in base64. Raises `KeysError`, which names `where`."""
    if not words:
        raise KeysError("contains no key", where=where, fix=_FIX)
    return Keyring.of([_key(word, f"{where}, key {at}") for at, word in enumerate(words, start=1)])


def _key(word: str, where: str) -> bytes:
    """Decode one key. Error messages do not contain the key."""
    try:
        key = base64.b64decode(word.replace("-", "+").replace("_", "/"), validate=True)
    except binascii.Error as error:
        raise KeysError("a key must be base64", where=where, fix=_FIX) from error
    if len(key) != KEY_BYTES:
        what = f"a key must have {KEY_BYTES} bytes, got {len(key)}"
        raise KeysError(what, where=where, fix=_FIX)
    return key
