"""API keys of machines: format, creation and verification.

A key is `sayso_ID_SECRET` and a checksum. Secret scanners recognize the prefix, and the checksum
distinguishes a mistyped key from an invalid one.

The database stores a MAC of the secret and the key's permissions, made with a signing key that is
kept elsewhere. So a reader of the database learns no API key, and a writer can neither create a key
nor add permissions. A fast hash is enough, because 256 random bits cannot be guessed.
"""

import json
import re
import secrets
import string
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sayso.access.claims import KEY_SUBJECT
from sayso.access.refusal import Challenge, UnfitError
from sayso.access.request_info import RequestInfo
from sayso.access.token_cache import TokenCache
from sayso.errors import UsageError
from sayso.keys import Keyring
from sayso.policy import Principal
from sayso.schema import canonical
from sayso.store import ApiKeyRow, ApiKeys

PREFIX: Final = "sayso_"
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
KEY_SECONDS: Final = 2.0
"""How long a replica caches a key, and so may accept it after its revocation."""
_HOUR: Final = 3600.0
_INVALID: Final = "The API key is not valid here."
_MISTYPED: Final = "The API key is incomplete or mistyped: was all of it copied?"
_PURPOSE: Final = "api key"
_ID_DIGITS: Final = string.digits + string.ascii_lowercase
_DIGITS: Final = _ID_DIGITS + string.ascii_uppercase
_ID_LENGTH: Final = 12
_SECRET_LENGTH: Final = 43
"""The digits of the secret: 43 digits of 62 values each are just over 256 bits."""
_CHECK_LENGTH: Final = 6
_FORM: Final = re.compile(
    rf"{PREFIX}([0-9a-z]{{{_ID_LENGTH}}})_([0-9A-Za-z]{{{_SECRET_LENGTH}}})"
    rf"([0-9A-Za-z]{{{_CHECK_LENGTH}}})"
)


@dataclass(slots=True)
class ApiKeyAuth:
    """Access by the API keys of `sayso keys create`. Subjects are `key:` and the key's name."""

    api_keys: ApiKeys
    keys: Keyring = field(repr=False)
    now: Callable[[], float] = time.time
    recent: TokenCache[tuple[Principal, float]] = field(
        default_factory=TokenCache["tuple[Principal, float]"], repr=False
    )
    # Verified for an unknown id, so that the response takes as long as for a wrong secret.
    _decoy: ApiKeyRow = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _, self._decoy = make_api_key(self.keys, "decoy", now=0.0, by="")

    async def identify(self, request: RequestInfo) -> Principal:
        challenge = Challenge()
        try:
            token = request.bearer()
            if token is None:
                raise challenge.refuse()
            return await self.holder(token)
        except UnfitError as unfit:
            raise challenge.refuse(unfit) from None

    def metadata(self, path: str) -> dict[str, Any] | None:
        del path

    async def holder(self, token: str) -> Principal:
        """Return a key's holder. Raises `UnfitError` for an invalid key, and `StoreError`."""
        principal, expires = self.recent.get(token) or await self._look(token)
        if self.now() >= expires:
            raise UnfitError(_INVALID)
        return principal

    async def _look(self, token: str) -> tuple[Principal, float]:
        parts = read_key(token)
        if parts is None:
            raise UnfitError(_MISTYPED)
        number, secret = parts
        row = await self.api_keys.find(number)
        is_valid = is_genuine(self.keys, row or self._decoy, secret)
        if row is None or not is_valid or row.revoked_at is not None:
            raise UnfitError(_INVALID)
        # Store the time of use by the hour, to limit it to one write an hour.
        hour = self.now() // _HOUR * _HOUR
        if (row.used or 0.0) < hour:
            await self.api_keys.touch(row.id, at=hour)
        principal = Principal(
            f"{KEY_SUBJECT}{row.name}",
            scopes=frozenset(json.loads(row.scopes)),
            roles=frozenset(json.loads(row.roles)),
        )
        expires = float("inf") if row.expires is None else row.expires
        self.recent.put(token, (principal, expires), seconds=KEY_SECONDS)
        return principal, expires


def read_key(text: str) -> tuple[str, str] | None:
    """Return a key's id and secret; `None` if the text is mistyped or not a key."""
    match = _FORM.fullmatch(text)
    if match is None or checksum(text[:-_CHECK_LENGTH]) != match[3]:
        return None
    return match[1], match[2]


def make_api_key(
    keys: Keyring,
    name: str,
    *,
    scopes: Iterable[str] = (),
    roles: Iterable[str] = (),
    now: float,
    seconds: float | None = None,
    by: str,
) -> tuple[str, ApiKeyRow]:
    """Return a new key, valid for `seconds` or until revoked, and its row for the store.

    Raises `UsageError` for an invalid name, scope or role.
    """
    if not NAME.fullmatch(name):
        fix = "Use up to 64 letters, digits and . _ -"
        raise UsageError(f"invalid key name {name!r}", fix=fix)
    number = _random(_ID_DIGITS, _ID_LENGTH)
    secret = _random(_DIGITS, _SECRET_LENGTH)
    row = ApiKeyRow(
        id=number,
        name=name,
        scopes=_words(scopes, "scope"),
        roles=_words(roles, "role"),
        created=now,
        created_by=by,
        expires=None if seconds is None else now + seconds,
        mac="",
    )
    text = f"{PREFIX}{number}_{secret}"
    mac = keys.sign(_PURPOSE, _message(row, secret))
    return f"{text}{checksum(text)}", replace(row, mac=mac)


def is_genuine(keys: Keyring, row: ApiKeyRow, secret: str) -> bool:
    """Return, in constant time, whether `secret` matches and the permissions are unchanged."""
    return keys.verify(_PURPOSE, _message(row, secret), row.mac)


def _message(row: ApiKeyRow, secret: str) -> bytes:
    return canonical([row.id, secret, row.name, row.scopes, row.roles, row.created, row.expires])


def _words(words: Iterable[str], what: str) -> str:
    distinct = sorted(set(words))
    for word in distinct:
        if not word or not word.isprintable() or " " in word:
            raise UsageError(f"invalid {what} {word!r}")
    return json.dumps(distinct)


def _random(digits: str, length: int) -> str:
    return "".join(secrets.choice(digits) for _ in range(length))


def checksum(text: str) -> str:
    """Return the CRC-32 of a text in base 62, which detects typing mistakes, but not forgery."""
    number = zlib.crc32(text.encode())
    digits = ""
    for _ in range(_CHECK_LENGTH):
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits
