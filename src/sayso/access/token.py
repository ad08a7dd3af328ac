"""The header and the signature of a JSON Web Token.

joserfc verifies signatures. Keys come only from the issuer, never from the header (`jwk`, `jku`,
`x5c`, `x5u`).
"""

import re
from base64 import urlsafe_b64decode
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from sayso.access.keyset import Key
from sayso.access.refusal import UnfitError
from sayso.errors import UsageError
from sayso.schema import parse_json

TYPES: Final = ("at+jwt", "JWT")
_FORM: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_LONGEST_KID: Final = 200
_INVALID: Final = "The token is not valid here."


@dataclass(frozen=True, slots=True)
class Header:
    """The algorithm and key ID in a token's header."""

    algorithm: str
    kid: str | None


def read_header(token: str, algorithms: Collection[str], typ: str | None) -> Header:
    """Return the header of a token. Raises `UnfitError` for a header that sayso does not accept.

    `typ` is the required type (RFC 9068, section 2.1). Without it, any of `TYPES` is accepted, and
    a token without a type too, because many issuers omit it.
    """
    if not _FORM.fullmatch(token):
        raise UnfitError(_INVALID)
    header = _object(token.partition(".")[0])
    algorithm = header.get("alg")
    kid = header.get("kid")
    if algorithm not in algorithms or "crit" in header:
        raise UnfitError(_INVALID)
    if header.get("b64", True) is not True:
        # RFC 7797, section 7 forbids unencoded claims in a JWT.
        raise UnfitError(_INVALID)
    if not isinstance(kid, str | None) or len(kid or "") > _LONGEST_KID:
        raise UnfitError(_INVALID)
    _check_type(header.get("typ"), typ)
    return Header(str(algorithm), kid)


def read_signed(token: str, header: Header, key: Key) -> Mapping[str, Any]:
    """Return a token's claims. Raises `UnfitError` if this key did not sign the token."""
    from joserfc.errors import JoseError  # noqa: PLC0415 - 40 ms, needed only to verify
    from joserfc.jws import JWSRegistry  # noqa: PLC0415

    signed, _, signature = token.rpartition(".")
    algorithm = JWSRegistry.algorithms[header.algorithm]
    try:
        algorithm.check_key(key.public)
        is_genuine = algorithm.verify(signed.encode(), _decode(signature), key.public)
    except (JoseError, ValueError):
        # Drop the cause, because it may contain the token.
        raise UnfitError(_INVALID) from None
    if not is_genuine:
        raise UnfitError(_INVALID)
    return _object(signed.partition(".")[2])


def _check_type(value: object, typ: str | None) -> None:
    if value is None and typ is None:
        return
    types = TYPES if typ is None else (typ,)
    accepted = [name.lower() for name in types]
    # Issuers may write or omit the prefix `application/` (RFC 7515, section 4.1.9).
    if not isinstance(value, str) or value.lower().removeprefix("application/") not in accepted:
        raise UnfitError("The token is of another type.")


def _object(part: str) -> dict[str, Any]:
    """Return a token's part, decoded. Unlike joserfc, `parse_json` refuses duplicate names."""
    try:
        value = parse_json(_decode(part))
    except (UsageError, ValueError):
        raise UnfitError(_INVALID) from None
    if not isinstance(value, dict):
        raise UnfitError(_INVALID)
    return cast("dict[str, Any]", value)


def _decode(part: str) -> bytes:
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))
