"""Ed25519 (RFC 8032): keys that sign for others to read, and whether one has signed."""

import base64
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sayso.errors import KeysError
from sayso.intent import fault_of_key

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_LARGEST: Final = 4096
_FIX: Final = "Make one: sayso receipt keygen FILE."
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key. `public` is its other half, as a configuration holds it."""

    public: str
    _private: "Ed25519PrivateKey" = field(repr=False)

    def sign(self, message: bytes) -> bytes:
        """The signature of `message`, 64 bytes."""
        return self._private.sign(message)


def make_signing_key(path: Path) -> SigningKey:
    """A new key, written to a file (PEM, PKCS #8) that this user alone can read.

    Raises `KeysError` where there is such a file already: nothing is ever overwritten.
    """
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - 20 ms, for those who sign
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    private = Ed25519PrivateKey.generate()
    text = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError as error:
        fix = "Choose another name, or move the file away: who has lost a key cannot sign by it."
        raise KeysError("there is a file of that name", where=str(path), fix=fix) from error
    except OSError as error:
        what = f"the key cannot be written: {error.strerror}"
        raise KeysError(what, where=str(path)) from error
    return _with_public(private)


def load_signing_key(path: Path) -> SigningKey:
    """The key in a file. Raises `KeysError` where there is none, or others may read it."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    text = _read(path)
    try:
        private = serialization.load_pem_private_key(text, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # Without the cause: it may quote the key.
        raise KeysError("this is no private key", where=str(path), fix=_FIX) from None
    if not isinstance(private, Ed25519PrivateKey):
        raise KeysError("this key is not of Ed25519", where=str(path), fix=_FIX)
    return _with_public(private)


def is_signed(message: bytes, *, public: str, signature: bytes) -> bool:
    """Whether the private half of `public` has signed `message`; `False` for a key that is none."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    if fault_of_key(public) is not None:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(base64.b64decode(public)).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _with_public(private: "Ed25519PrivateKey") -> SigningKey:
    public = private.public_key().public_bytes_raw()
    return SigningKey(base64.b64encode(public).decode(), private)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(_LARGEST)
    except OSError as error:
        what = f"the file of a key cannot be read: {error.strerror}"
        raise KeysError(what, where=str(path), fix=_FIX) from error
    if stat.S_IMODE(mode) & _OTHERS:
        fix = f"Take their rights away: chmod 600 {path}"
        raise KeysError("others may read this file of a key", where=str(path), fix=fix)
    return text
