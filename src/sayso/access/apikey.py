"""API keys of machines, which cannot log in: how keys are made, kept and taken.

`sayso_ID_SECRET` and a checksum: a scanner of repositories knows one when it sees it, and a typing
mistake is told from a key that does not hold.

Of a key only a MAC is kept, over its secret and all that it may do, by a key that is not in the
database. So whoever reads the database has no key, and whoever writes it can neither make one nor
widen one. A slow hash would gain nothing: it makes guessing dear where people choose the secret,
and 256 random bits cannot be guessed.
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
from sayso.access.request_info import Arrival
from sayso.access.token_cache import Recent
from sayso.errors import UsageError
from sayso.keys import Keyring
from sayso.policy import Principal
from sayso.schema import canonical
from sayso.store import ApiKeyRow, ApiKeys

PREFIX: Final = "sayso_"
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
KEY_SECONDS: Final = 2.0
"""How long a key that was taken back may still be taken, on any replica."""
_HOUR: Final = 3600.0
_INVALID: Final = "The API key is not valid here."
_MISTYPED: Final = "This is no whole API key: was all of it copied?"
_PURPOSE: Final = "api key"
_ID_DIGITS: Final = string.digits + string.ascii_lowercase
_DIGITS: Final = _ID_DIGITS + string.ascii_uppercase
_ID_LENGTH: Final = 12
_SECRET_LENGTH: Final = 43
"""Of 62 digits: just over 256 bits."""
_CHECK_LENGTH: Final = 6
_FORM: Final = re.compile(
    rf"{PREFIX}([0-9a-z]{{{_ID_LENGTH}}})_([0-9A-Za-z]{{{_SECRET_LENGTH}}})"
    rf"([0-9A-Za-z]{{{_CHECK_LENGTH}}})"
)


@dataclass(slots=True)
class Machines:
    """Takes the API keys that `sayso keys create` has made. Subjects are `key:` and the name."""

    api_keys: ApiKeys
    keys: Keyring = field(repr=False)
    now: Callable[[], float] = time.time
    recent: Recent[tuple[Principal, float]] = field(
        default_factory=Recent["tuple[Principal, float]"], repr=False
    )
    # So that an id that is not there takes as long as a wrong secret.
    _nobody: ApiKeyRow = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _, self._nobody = make_api_key(self.keys, "nobody", now=0.0, by="")

    async def identify(self, arrival: Arrival) -> Principal:
        challenge = Challenge()
        try:
            token = arrival.bearer()
            if token is None:
                raise challenge.refuse()
            return await self.holder(token)
        except UnfitError as unfit:
            raise challenge.refuse(unfit) from None

    def metadata(self, path: str) -> dict[str, Any] | None:
        del path

    async def holder(self, token: str) -> Principal:
        """Return whose key this is. Raises `UnfitError`, and `StoreError` if the store fails."""
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
        is_held = is_genuine(self.keys, row or self._nobody, secret)
        if row is None or not is_held or row.revoked_at is not None:
            raise UnfitError(_INVALID)
        # By the hour: that tells whether a key is in use, at one write an hour.
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
    """Return the id and the secret of a key; `None` if it was mistyped, or is no key."""
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
    """Return a new key, valid for `seconds` or until it is taken back, and what is kept of it.

    Raises `UsageError` for an invalid name, scope or role.
    """
    if not NAME.fullmatch(name):
        fix = "Up to 64 letters, digits and . _ - will do."
        raise UsageError(f"{name!r} cannot be the name of a key", fix=fix)
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
    """Return whether `secret` is a key's, and what the key may do is as it was made.

    Takes the same time for every wrong secret.
    """
    return keys.verify(_PURPOSE, _message(row, secret), row.mac)


def _message(row: ApiKeyRow, secret: str) -> bytes:
    return canonical([row.id, secret, row.name, row.scopes, row.roles, row.created, row.expires])


def _words(words: Iterable[str], what: str) -> str:
    distinct = sorted(set(words))
    for word in distinct:
        if not word or not word.isprintable() or " " in word:
            raise UsageError(f"{word!r} cannot be a {what}")
    return json.dumps(distinct)


def _random(digits: str, length: int) -> str:
    return "".join(secrets.choice(digits) for _ in range(length))


def checksum(text: str) -> str:
    """Return the CRC-32 in 62 digits: against mistakes, not against forgers."""
    number = zlib.crc32(text.encode())
    digits = ""
    for _ in range(_CHECK_LENGTH):
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits
