"""Keys in use: the first one signs and seals, all of them verify and open."""

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
    """The name of a key, which tells nothing of it: the same on every machine that has it."""
    return hmac.digest(key, b"sayso key id", sha256).hex()[:_ID_DIGITS]


@dataclass(frozen=True, slots=True)
class Keyring:
    """Keys by id. `active` names the one that signs; the others were active once.

    Each purpose gets a key of its own, derived from the one that was given (HMAC as in RFC 5869,
    expand with one block), so that a signature made for one means nothing for another.
    """

    active: str
    _keys: Mapping[str, bytes] = field(repr=False)

    @classmethod
    def of(cls, keys: Sequence[bytes]) -> Self:
        """A ring of keys of 32 bytes, the active one first."""
        return cls(key_id(keys[0]), {key_id(key): key for key in keys})

    @property
    def ids(self) -> tuple[str, ...]:
        """The names of all keys, the active one first."""
        return tuple(self._keys)

    def derive(self, purpose: str, name: str | None = None) -> bytes | None:
        """The key for one purpose from the key of this name; `None` where there is none."""
        key = self._keys.get(self.active if name is None else name)
        if key is None:
            return None
        return hmac.digest(key, f"{purpose}\x01".encode(), sha256)

    def sign(self, purpose: str, message: bytes) -> str:
        """`id:mac`, both in hexadecimal, by the active key."""
        return f"{self.active}:{self._mac(purpose, self.active, message)}"

    def verify(self, purpose: str, message: bytes, signature: str) -> bool:
        """Whether one of the keys signed it; takes the same time for every wrong signature."""
        name, _, mac = signature.partition(":")
        if name not in self._keys:
            return False
        return hmac.compare_digest(self._mac(purpose, name, message).encode(), mac.encode())

    def seal(self, purpose: str, value: Any, *, bound: Mapping[str, Any] | None = None) -> str:
        """JSON `value` sealed with AES-256-GCM; it opens only with the same `bound`."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - 20 ms, for those who seal

        nonce = secrets.token_bytes(_NONCE_BYTES)
        cipher = AESGCM(self._need(purpose, self.active))
        text = json.dumps(value, ensure_ascii=False).encode()
        sealed = cipher.encrypt(nonce, text, _associated(purpose, self.active, bound))
        return f"{self.active}.{(nonce + sealed).hex()}"

    def open(self, purpose: str, sealed: str, *, bound: Mapping[str, Any] | None = None) -> Any:
        """What was sealed. Raises `SealError` for anything else, and does not say what differs."""
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
            raise SealError("this was not sealed here, or not for this") from error

    def _mac(self, purpose: str, name: str, message: bytes) -> str:
        return hmac.digest(self._need(purpose, name), message, sha256).hex()

    def _need(self, purpose: str, name: str) -> bytes:
        key = self.derive(purpose, name)
        if key is None:
            raise ValueError(name)
        return key


def _associated(purpose: str, name: str, bound: Mapping[str, Any] | None) -> bytes:
    return canonical([purpose, name, bound or {}])
