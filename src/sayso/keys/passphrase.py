"""Keys encrypted under a passphrase, for a backup.

scrypt derives a key from the passphrase with 128 MiB of memory, which makes guessing expensive
(RFC 7914; OWASP's parameters). AES-256-GCM then encrypts, as in `Keyring.seal`. Fernet would need
scrypt too, and adds a time that nothing reads. Each value has its own salt, so no nonce repeats
under a key. The parameters are part of the format, so a hostile file cannot choose them.
"""

import secrets
from pathlib import Path
from typing import Final

from sayso.errors import KeysError, UsageError
from sayso.keys.ring import KEY_BYTES, Keyring
from sayso.keys.source import read_keys, read_private

_MIN_CHARACTERS: Final = 12
_SALT_BYTES: Final = 16
_NONCE_BYTES: Final = 12
_HEAD_BYTES: Final = _SALT_BYTES + _NONCE_BYTES
_COST: Final = 1 << 17
_BLOCK: Final = 8


def read_passphrase(path: Path) -> str:
    """Return the first line of a file, such as `/dev/fd/3`. Raises `KeysError` or `UsageError`."""
    content = read_private(path, "Give a file whose first line is the passphrase.")
    try:
        line = content.decode().partition("\n")[0].rstrip("\r")
    except UnicodeDecodeError as error:
        fix = "Give a file whose first line is the passphrase."
        raise KeysError("the passphrase is not UTF-8", where=str(path), fix=fix) from error
    return line


def lock_keys(keys: Keyring, passphrase: str, *, bound: bytes) -> str:
    """Encrypt keys; `unlock_keys` requires the same `bound`. Raises `UsageError`."""
    if len(passphrase) < _MIN_CHARACTERS:
        what = f"the passphrase must have at least {_MIN_CHARACTERS} characters"
        raise UsageError(what, fix="Use several random words.")
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - 20 ms

    salt = secrets.token_bytes(_SALT_BYTES)
    nonce = secrets.token_bytes(_NONCE_BYTES)
    text = " ".join(keys.lines()).encode()
    sealed = AESGCM(_stretch(passphrase, salt)).encrypt(nonce, text, bound)
    return (salt + nonce + sealed).hex()


def unlock_keys(locked: str, passphrase: str, *, bound: bytes) -> Keyring:
    """Decrypt keys. Raises `KeysError` if the passphrase is wrong or the text was changed."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    try:
        raw = bytes.fromhex(locked)
        salt = raw[:_SALT_BYTES]
        nonce = raw[_SALT_BYTES:_HEAD_BYTES]
        cipher = AESGCM(_stretch(passphrase, salt))
        text = cipher.decrypt(nonce, raw[_HEAD_BYTES:], bound).decode()
    except (InvalidTag, ValueError):
        what = "the passphrase is wrong, or the encrypted keys were changed"
        raise KeysError(what, fix="Use the passphrase of this backup.") from None
    return read_keys(text.split(), "the encrypted keys")


def _stretch(passphrase: str, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt  # noqa: PLC0415

    return Scrypt(salt, KEY_BYTES, _COST, _BLOCK, 1).derive(passphrase.encode())
