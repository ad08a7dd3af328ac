"""Where keys come from: `SAYSO_KEYS`, a file, or a file that is made beside the store."""

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


def load_keys(beside: Path | None = None, *, is_made: bool = False) -> Keyring:
    """The keys of this installation.

    `SAYSO_KEYS` holds them, separated by spaces or commas, the active one first; `SAYSO_KEYS_FILE`
    names a file with one on each line. Without either they are in the file `beside` with `.keys`
    at its end, which is made, for this user alone, where `is_made` says so.

    Raises `KeysError` when there are none, or one is no key, or others may read the file.
    """
    if given := os.environ.get(VARIABLE):
        return _read(given.replace(",", " ").split(), VARIABLE)
    if named := os.environ.get(FILE_VARIABLE):
        return _read_file(Path(named).expanduser())
    if beside is None:
        fix = (
            f"Several machines share this store: give all of them the same {VARIABLE} or "
            f"{FILE_VARIABLE}. {_FIX}"
        )
        raise KeysError("there are no keys", fix=fix)
    path = keys_path(beside)
    if is_made and not path.exists():
        _make(path)
    return _read_file(path)


def keys_path(beside: Path) -> Path:
    """The file that holds the keys of the store in the file `beside`."""
    return beside.with_name(f"{beside.name}.keys")


def make_key() -> str:
    """A new key, as it stands in a file or in the environment."""
    return base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def _make(path: Path) -> None:
    """Make a file with one key; where another process is faster, its file stands."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = _part(path, make_key())
        try:
            with contextlib.suppress(FileExistsError):
                os.link(part, path)
        finally:
            part.unlink()
    except OSError as error:
        raise _unusable(path, error) from error


def _part(path: Path, key: str) -> Path:
    """The whole content in a file beside `path`, synced; others can read it at no moment."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{_HEAD}{key}\n")
        file.flush()
        os.fsync(file.fileno())
    return part


def _read_file(path: Path) -> Keyring:
    text = _text(path)
    if stat.S_IMODE(path.stat().st_mode) & _OTHERS:
        fix = f"Take their rights away: chmod 600 {path}"
        raise KeysError("others may read this file of keys", where=str(path), fix=fix)
    return _read(_lines(text), str(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        fix = f"Give the file of this store in {FILE_VARIABLE}, or its keys in {VARIABLE}."
        raise KeysError("there is no file of keys", where=str(path), fix=fix) from error
    except UnicodeDecodeError as error:
        raise KeysError("this is no file of keys", where=str(path), fix=_FIX) from error
    except OSError as error:
        raise _unusable(path, error) from error


def _lines(text: str) -> list[str]:
    found = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line for line in found if line]


def _read(words: list[str], where: str) -> Keyring:
    if not words:
        raise KeysError("there is no key in it", where=where, fix=_FIX)
    return Keyring.of([_key(word, f"{where}, key {at}") for at, word in enumerate(words, start=1)])


def _key(word: str, where: str) -> bytes:
    """One key. What is wrong with it is told without repeating it."""
    try:
        key = base64.b64decode(word.replace("-", "+").replace("_", "/"), validate=True)
    except binascii.Error as error:
        raise KeysError("this is not base64", where=where, fix=_FIX) from error
    if len(key) != KEY_BYTES:
        what = f"a key has {KEY_BYTES} bytes, this one has {len(key)}"
        raise KeysError(what, where=where, fix=_FIX)
    return key


def _unusable(path: Path, error: OSError) -> KeysError:
    what = f"the file of keys cannot be used: {error.strerror}"
    return KeysError(what, where=str(path))
