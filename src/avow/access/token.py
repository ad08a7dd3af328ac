"""A JSON Web Token: what its header asks for, and whether its signature holds.

PyJWT does the signatures. It comes with the MCP SDK, so it costs nobody a package. What a header
says of keys (`jwk`, `jku`, `x5c`, `x5u`) is never looked at: keys come from the issuer alone.
"""

import re
from base64 import urlsafe_b64decode
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from avow.access.keyset import Key
from avow.access.refusal import UnfitError
from avow.errors import UsageError
from avow.schema import parse_json

TYPES: Final = ("at+jwt", "JWT")
_FORM: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_LONGEST_KID: Final = 200
_INVALID: Final = "The token is not valid here."


@dataclass(frozen=True, slots=True)
class Header:
    """Which key a token says it was signed by, and how."""

    algorithm: str
    kid: str | None


def read_header(token: str, algorithms: Collection[str], typ: str | None) -> Header:
    """The header of a token. Raises `UnfitError` for one that could never be verified.

    `typ` is the only type that is taken (RFC 9068, section 2.1); without it either of `TYPES`, or
    none at all, since many issuers do not say.
    """
    header = _object(token.partition(".")[0]) if _FORM.fullmatch(token) else None
    if header is None:
        raise UnfitError(_INVALID)
    algorithm, kid = header.get("alg"), header.get("kid")
    if algorithm not in algorithms or "crit" in header:
        raise UnfitError(_INVALID)
    if not isinstance(kid, str | None) or len(kid or "") > _LONGEST_KID:
        raise UnfitError(_INVALID)
    _check_type(header.get("typ"), typ)
    return Header(str(algorithm), kid)


def read_signed(token: str, header: Header, key: Key) -> Mapping[str, Any]:
    """The claims of a token that this key has signed. Raises `UnfitError`."""
    import jwt  # noqa: PLC0415 - 40 ms, for those who verify

    reader = jwt.PyJWS()
    # PyJWT knows it by its older name alone.
    reader.register_algorithm("Ed25519", jwt.get_algorithm_by_name("EdDSA"))
    try:
        found = reader.decode_complete(token, key.public, algorithms=[header.algorithm])
    except (jwt.PyJWTError, ValueError):
        # Without the cause: it may hold the token.
        raise UnfitError(_INVALID) from None
    claims = _parsed(found["payload"])
    if claims is None:
        raise UnfitError(_INVALID)
    return claims


def _check_type(said: object, typ: str | None) -> None:
    if said is None and typ is None:
        return
    taken = [one.lower() for one in (TYPES if typ is None else (typ,))]
    # The prefix may be left out where nothing but it has a slash (RFC 7515, section 4.1.9).
    if not isinstance(said, str) or said.lower().removeprefix("application/") not in taken:
        raise UnfitError("The token is of another type.")


def _object(part: str) -> dict[str, Any] | None:
    try:
        return _parsed(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except ValueError:
        return None


def _parsed(text: bytes) -> dict[str, Any] | None:
    try:
        value = parse_json(text)
    except UsageError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None
