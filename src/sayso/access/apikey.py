"""API keys: how they look, how they are made, and what of them is kept.

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
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from sayso.errors import UsageError
from sayso.keys import Keyring
from sayso.schema import canonical
from sayso.store import ApiKeyRow

PREFIX: Final = "sayso_"
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
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


@dataclass(frozen=True, slots=True)
class KeyText:
    """A key as a caller writes it, taken apart."""

    id: str
    secret: str = field(repr=False)


def read_key(text: str) -> KeyText | None:
    """The parts of a key; `None` where it is none, or was mistyped."""
    found = _FORM.fullmatch(text)
    if found is None or checksum(text[:-_CHECK_LENGTH]) != found[3]:
        return None
    return KeyText(found[1], found[2])


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
    """A new key, and what is kept of it; it holds for `seconds`, or until it is taken back.

    Raises `UsageError` for a name, scope or role that is none.
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
    """Whether this is the secret of a key, and nobody has changed what the key may do.

    Takes the same time for every wrong secret.
    """
    return keys.verify(_PURPOSE, _message(row, secret), row.mac)


def _message(row: ApiKeyRow, secret: str) -> bytes:
    return canonical([row.id, secret, row.name, row.scopes, row.roles, row.created, row.expires])


def _words(words: Iterable[str], what: str) -> str:
    found = sorted(set(words))
    for one in found:
        if not one or not one.isprintable() or " " in one:
            raise UsageError(f"{one!r} cannot be a {what}")
    return json.dumps(found)


def _random(digits: str, length: int) -> str:
    return "".join(secrets.choice(digits) for _ in range(length))


def checksum(text: str) -> str:
    """CRC-32 in 62 digits: against mistakes, not against forgers."""
    number = zlib.crc32(text.encode())
    found = ""
    for _ in range(_CHECK_LENGTH):
        number, digit = divmod(number, len(_DIGITS))
        found = _DIGITS[digit] + found
    return found
