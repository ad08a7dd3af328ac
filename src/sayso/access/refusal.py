"""The refusal of a request before its body is read: status, challenge, and a sentence.

A refusal never repeats text that the caller sent.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_STATUS: Final = {"invalid_request": 400, "invalid_token": 401, "insufficient_scope": 403}
RETRY_SECONDS: Final = 5


class RefusedError(Exception):
    """A refused request; `www_authenticate` is the challenge (RFC 6750, section 3)."""

    def __init__(self, status: int, sentence: str, www_authenticate: str | None = None) -> None:
        self.status = status
        self.sentence = sentence
        self.www_authenticate = www_authenticate
        super().__init__(sentence)

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
        if self.www_authenticate is not None:
            headers.append((b"www-authenticate", self.www_authenticate.encode("ascii")))
        if self.status == UNAVAILABLE:
            headers.append((b"retry-after", str(RETRY_SECONDS).encode()))
        return headers

    @property
    def body(self) -> bytes:
        return json.dumps({"error": self.sentence}, ensure_ascii=False).encode()


UNAVAILABLE: Final = 503


class UnfitError(Exception):
    """An invalid token. It has an error code of RFC 6750, section 3.1, and a sentence."""

    def __init__(self, sentence: str, code: str = "invalid_token") -> None:
        self.sentence = sentence
        self.code = code
        super().__init__(sentence)


@dataclass(frozen=True, slots=True)
class Challenge:
    """A `WWW-Authenticate` challenge: metadata URL (RFC 9728, section 5.1) and scopes."""

    metadata_url: str | None = None
    scopes: Iterable[str] = ()

    def refuse(self, unfit: UnfitError | None = None) -> RefusedError:
        parts: list[str] = []
        if unfit is not None:
            parts += [f'error="{unfit.code}"', f'error_description="{unfit.sentence}"']
        if self.metadata_url is not None:
            parts.append(f'resource_metadata="{self.metadata_url}"')
        if scope := " ".join(sorted(self.scopes)):
            parts.append(f'scope="{scope}"')
        challenge = f"Bearer {', '.join(parts)}".rstrip()
        if unfit is None:
            return RefusedError(401, "Authenticate to call this.", challenge)
        return RefusedError(_STATUS[unfit.code], unfit.sentence, challenge)
