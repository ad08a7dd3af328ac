"""The keys of an installation, from `SAYSO_KEYS`, a file, or a file next to the store."""

import base64
import binascii
import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from sayso.errors import KeysError
from sayso.keys.ring import KEY_BYTES, Keyring

VARIABLE: Final = "SAYSO_KEYS"
FILE_VARIABLE: Final = "SAYSO_KEYS_FILE"
_HEAD: Final = "# The active key comes first. Keep the old ones: they verify what they signed.\n"
_FIX: Final = "A key is 32 random bytes in base64: openssl rand -base64 32."
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_MAX_FILE_BYTES: Final = 1 << 20


def load_keys(beside: Path | None = None, *, is_made: bool = False) -> Keyring:
    """Return the keys of this installation.

    `SAYSO_KEYS` holds them, separated by spaces or commas, the active one first; `SAYSO_KEYS_FILE`
    names a file with one on each line. Without either they are in the file `beside` with `.keys`
    at its end, which is created, for this user alone, if `is_made`.

    Raises `KeysError` if there are none, if one is invalid, or if others may read the file.
    """
    if value := os.environ.get(VARIABLE):
        return _read(value.replace(",", " ").split(), VARIABLE)
    if name := os.environ.get(FILE_VARIABLE):
        return _read_file(Path(name).expanduser())
    if beside is None:
        fix = (
            f"Several machines share this store: give all of them the same {VARIABLE} or "
            f"{FILE_VARIABLE}. {_FIX}"
        )
        raise KeysError("no keys are configured", fix=fix)
    path = keys_path(beside)
    if is_made and not path.exists():
        _make(path)
    return _read_file(path)


def keys_path(beside: Path) -> Path:
    """Return the path of the key file of the store in the file `beside`."""
    return beside.with_name(f"{beside.name}.keys")


def make_key() -> str:
    """Return a new key, in the form that a file or the environment holds."""
    return base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def read_private(path: Path, fix: str) -> bytes:
    """Return the content of a key file. Raises `KeysError` if others may read it."""
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


def _make(path: Path) -> None:
    """Make a file with one key; if another process is faster, its file stays."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Complete and synced before it has its name: others can read it at no moment.
        part = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{_HEAD}{make_key()}\n")
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
    fix = f"Give the key file of this store in {FILE_VARIABLE}, or its keys in {VARIABLE}."
    try:
        lines = read_private(path, fix).decode().splitlines()
    except UnicodeDecodeError as error:
        raise KeysError("not a key file", where=str(path), fix=_FIX) from error
    keys = [line.partition("#")[0].strip() for line in lines]
    return _read([key for key in keys if key], str(path))


def _read(words: list[str], where: str) -> Keyring:
    if not words:
        raise KeysError("it holds no key", where=where, fix=_FIX)
    return Keyring.of([_key(word, f"{where}, key {at}") for at, word in enumerate(words, start=1)])


def _key(word: str, where: str) -> bytes:
    """Decode one key. An error never repeats it."""
    try:
        key = base64.b64decode(word.replace("-", "+").replace("_", "/"), validate=True)
    except binascii.Error as error:
        raise KeysError("a key must be base64", where=where, fix=_FIX) from error
    if len(key) != KEY_BYTES:
        what = f"a key must have {KEY_BYTES} bytes, got {len(key)}"
        raise KeysError(what, where=where, fix=_FIX)
    return key
