"""Session tokens of the handshake eras: signed, so that any replica can read them."""

import secrets
import time
from base64 import b32decode, b32encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from sayso.keys import Keyring

_PURPOSE: Final = "session"
_SECONDS: Final = 7 * 86_400.0
_MAX_CAPABILITIES_BYTES: Final = 2_048
"""The maximum size of capabilities in a token, because the token is sent in a header."""
_KNOWN: Final = ("roots", "sampling", "elicitation", "tasks")


class SessionToken(msgspec.Struct, frozen=True, array_like=True):
    """The content of a session token; `replica` issued the token, `expires` is in Unix seconds."""

    id: str
    subject: str
    client: str
    version: str
    capabilities: dict[str, Any]
    replica: str
    expires: float


@dataclass(frozen=True, slots=True)
class SessionTokens:
    """The session tokens of one endpoint of a gateway, whose replicas share their keys.

    `path` is the path of the endpoint; a token of one endpoint is invalid at another.
    """

    keys: Keyring
    replica: str = ""
    path: str = ""
    clock: Callable[[], float] = time.time

    def make(self, *, subject: str, client: str, version: str, capabilities: dict[str, Any]) -> str:
        if len(msgspec.json.encode(capabilities)) > _MAX_CAPABILITIES_BYTES:
            # Keep only the known capabilities' names, because their details may have any length.
            capabilities = {key: {} for key in capabilities if key in _KNOWN}
        content = SessionToken(
            id=secrets.token_hex(12),
            subject=subject,
            client=client,
            version=version,
            capabilities=capabilities,
            replica=self.replica,
            expires=self.clock() + _SECONDS,
        )
        # Use lower case, because some clients change all header values to lower case.
        body = b32encode(msgspec.json.encode(content)).rstrip(b"=").lower()
        return f"{body.decode()}.{self.keys.sign(self._purpose, body)}"

    def read(self, token: str, *, subject: str) -> SessionToken | None:
        """Read a token; return `None` if it is forged, expired or another caller's."""
        text, _, signature = token.partition(".")
        if not token.isascii() or not self.keys.verify(self._purpose, text.encode(), signature):
            return None
        content = msgspec.json.decode(
            b32decode(text.upper() + "=" * (-len(text) % 8)), type=SessionToken
        )
        if content.subject != subject or content.expires <= self.clock():
            return None
        return content

    @property
    def _purpose(self) -> str:
        return f"{_PURPOSE} {self.path}"
