"""Ed25519 keys (RFC 8032). Others can verify a signature with the public key."""

import base64
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sayso.errors import KeysError
from sayso.intent import fault_of_key
from sayso.keys.source import read_private

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_FIX: Final = "Make a signing key: sayso receipt keygen FILE."


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key. `public` is its public key in base64, as written in a policy.toml."""

    public: str
    _private: "Ed25519PrivateKey" = field(repr=False)

    def sign(self, message: bytes) -> bytes:
        """Return the signature of `message`, 64 bytes."""
        return self._private.sign(message)


def make_signing_key(path: Path) -> SigningKey:
    """Write a new key to a file (PEM, PKCS #8) that only this user can read, and return the key.

    Raises `KeysError` if the file exists, because an overwritten key cannot be restored.
    """
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - 20 ms, for those who sign
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    private = Ed25519PrivateKey.generate()
    text = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError as error:
        fix = "Choose another name, or move the file: an overwritten key cannot be restored."
        raise KeysError("the file exists already", where=str(path), fix=fix) from error
    except OSError as error:
        what = f"cannot write the key: {error.strerror}"
        raise KeysError(what, where=str(path)) from error
    return _with_public(private)


def load_signing_key(path: Path) -> SigningKey:
    """Return the key in a file. Raises `KeysError` for an invalid key or a file not private."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    try:
        private = serialization.load_pem_private_key(read_private(path, _FIX), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # Drop the cause: it may quote the key.
        raise KeysError("not a private key", where=str(path), fix=_FIX) from None
    if not isinstance(private, Ed25519PrivateKey):
        raise KeysError("not an Ed25519 key", where=str(path), fix=_FIX)
    return _with_public(private)


def is_signed(message: bytes, *, public: str, signature: bytes) -> bool:
    """Return whether the private key of `public` signed `message`; `False` for an invalid key."""
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
