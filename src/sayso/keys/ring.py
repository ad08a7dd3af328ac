"""The keys in use: the active key signs and encrypts; all keys verify and decrypt."""

import base64
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, Self

from sayso.errors import SealError
from sayso.schema import canonical

KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_ID_DIGITS: Final = 16


def key_id(key: bytes) -> str:
    """Return the id of a key, the same on every machine, which does not reveal the key."""
    return hmac.digest(key, b"sayso key id", sha256).hex()[:_ID_DIGITS]


@dataclass(frozen=True, slots=True)
class Keyring:
    """Keys by id. The key `active` signs; the other keys only verify and decrypt.

    Each purpose has its own derived key (HMAC as in RFC 5869, expand with one block), so that a
    signature for one purpose is invalid for another.
    """

    active: str
    _keys: Mapping[str, bytes] = field(repr=False)

    @classmethod
    def of(cls, keys: Sequence[bytes]) -> Self:
        """Return a ring of these 32-byte keys; the first one is the active key."""
        return cls(key_id(keys[0]), {key_id(key): key for key in keys})

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of all keys, the active one first."""
        return tuple(self._keys)

    def lines(self) -> tuple[str, ...]:
        """Return the keys themselves in base64, the active one first, as in a key file."""
        return tuple(base64.b64encode(key).decode() for key in self._keys.values())

    def derive(self, purpose: str, name: str | None = None) -> bytes | None:
        """Derive the key for one purpose from the key of this name; `None` if it is missing."""
        key = self._keys.get(self.active if name is None else name)
        if key is None:
            return None
        return hmac.digest(key, f"{purpose}\x01".encode(), sha256)

    def sign(self, purpose: str, message: bytes) -> str:
        """Return a signature by the active key: `id:mac`, both in hexadecimal."""
        return f"{self.active}:{self._mac(purpose, self.active, message)}"

    def verify(self, purpose: str, message: bytes, signature: str) -> bool:
        """Return whether one of the keys signed the message; compares in constant time."""
        name, _, mac = signature.partition(":")
        if name not in self._keys:
            return False
        return hmac.compare_digest(self._mac(purpose, name, message).encode(), mac.encode())

    def seal(self, purpose: str, value: Any, *, bound: Mapping[str, Any] | None = None) -> str:
        """Encrypt a JSON value with AES-256-GCM; `open` requires the same `bound`."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - 20 ms, for those who seal

        nonce = secrets.token_bytes(_NONCE_BYTES)
        cipher = AESGCM(self._need(purpose, self.active))
        text = json.dumps(value, ensure_ascii=False).encode()
        sealed = cipher.encrypt(nonce, text, _associated(purpose, self.active, bound))
        return f"{self.active}.{(nonce + sealed).hex()}"

    def open(self, purpose: str, sealed: str, *, bound: Mapping[str, Any] | None = None) -> Any:
        """Decrypt a value of `seal`. Raises `SealError`, without a reason."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

        name, _, text = sealed.partition(".")
        try:
            raw = bytes.fromhex(text)
            cipher = AESGCM(self._need(purpose, name))
            nonce = raw[:_NONCE_BYTES]
            body = raw[_NONCE_BYTES:]
            return json.loads(cipher.decrypt(nonce, body, _associated(purpose, name, bound)))
        except (InvalidTag, ValueError) as error:
            raise SealError("the value was not sealed here, or not for this use") from error

    def _mac(self, purpose: str, name: str, message: bytes) -> str:
        return hmac.digest(self._need(purpose, name), message, sha256).hex()

    def _need(self, purpose: str, name: str) -> bytes:
        key = self.derive(purpose, name)
        if key is None:
            raise ValueError(name)
        return key


def _associated(purpose: str, name: str, bound: Mapping[str, Any] | None) -> bytes:
    return canonical([purpose, name, bound or {}])
