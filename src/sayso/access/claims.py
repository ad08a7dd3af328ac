"""Validation of a genuine token's claims, from a JWT (RFC 9068) or introspection (RFC 7662).

These functions do no I/O; the time is a parameter.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from sayso.access.refusal import UnfitError
from sayso.fields import is_number
from sayso.policy import Principal, is_reserved
from sayso.schema import is_hidden

KEY_SUBJECT: Final = "key:"
"""The prefix of the subjects of API keys."""

_KINDS: Final = ("token_type", "token_use", "typ")
_ACCESS_KINDS: Final = frozenset({"bearer", "access", "access_token", "at+jwt", "jwt"})
_OF_OTHERS: Final = ("at_hash", "c_hash", "s_hash", "events")
"""Claims of ID tokens (OpenID Connect Core, 3.3.2.11) and of security events (RFC 8417)."""
_SCOPES: Final = ("scope", "scp")
_NOT_ACCESS: Final = "The token is not an access token."
_LONGEST_NAME: Final = 255  # of `sub`, OpenID Connect Core, section 2


@dataclass(frozen=True, slots=True)
class Terms:
    """The requirements on a token.

    `roles` and `tenant` name the claims to read them from, dotted if nested. If `tenant` is set, a
    token without this claim is refused.
    """

    issuer: str
    leeway: float = 30.0
    roles: str = "roles"
    tenant: str | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """An authenticated caller, its token's audiences, and the expiry in Unix seconds.

    `is_delegated` is true if another party acts for the caller (RFC 8693, section 4.1).
    """

    principal: Principal
    audiences: frozenset[str]
    expires: float
    is_delegated: bool = False


def read_claims(
    claims: Mapping[str, Any], terms: Terms, *, now: float, is_answer: bool = False
) -> Verified:
    """Return the caller of a genuine token. Raises `UnfitError` if the claims break `terms`.

    With `is_answer`, the claims come from introspection and may omit issuer and expiry.
    """
    issuer = claims.get("iss", terms.issuer if is_answer else None)
    if issuer != terms.issuer:
        raise UnfitError("The token is from another issuer.")
    if "cnf" in claims:
        # Such a token needs a proof of possession (RFC 7800), which sayso does not check.
        raise UnfitError("The token is bound to a key, so it is not a bearer token.")
    expires = _moment(claims, "exp", None if is_answer else 0.0)
    if expires is not None and now >= expires + terms.leeway:
        raise UnfitError("The token has expired.")
    for name in ("nbf", "iat"):
        begins = _moment(claims, name, None)
        if begins is not None and now < begins - terms.leeway:
            raise UnfitError("The token is not valid yet.")
    tenant = None
    if terms.tenant is not None:
        tenant = read_tenant(claims, terms.tenant)
    principal = Principal(
        _subject(claims),
        client=_client(claims),
        scopes=_words(claims.get(_SCOPES[0], claims.get(_SCOPES[1])), is_spaced=True),
        roles=_words(_at(claims, terms.roles), is_spaced=False),
        tenant=tenant,
    )
    until = (math.inf if expires is None else expires) + terms.leeway
    audiences = _words(claims.get("aud"), is_spaced=False)
    return Verified(principal, audiences, until, is_delegated=claims.get("act") is not None)


def read_tenant(claims: Mapping[str, Any], claim: str) -> str:
    """Return the tenant that `claim` names. Raises `UnfitError` if the token lacks the claim."""
    tenant = _name(_at(claims, claim))
    if tenant is None:
        raise UnfitError("The token has no tenant.")
    return tenant


def check_access(claims: Mapping[str, Any]) -> None:
    """Raise `UnfitError` for a refresh or ID token, or an unknown kind of token.

    Issuers state the kind in `token_type` (RFC 7662, section 2.2), `token_use`, or `typ`.
    """
    for name in _KINDS:
        kind = claims.get(name)
        if kind is None:
            continue
        if (
            not isinstance(kind, str)
            or kind.strip().lower().removeprefix("application/") not in _ACCESS_KINDS
        ):
            raise UnfitError(_NOT_ACCESS)
    # A nonce marks an ID token. Some issuers also add it to access tokens, which have scopes.
    is_of_login = "nonce" in claims and not any(claims.get(name) for name in _SCOPES)
    if is_of_login or any(name in claims for name in _OF_OTHERS):
        raise UnfitError(_NOT_ACCESS)


def _moment(claims: Mapping[str, Any], name: str, missing: float | None) -> float | None:
    value = claims.get(name)
    if value is None:
        return missing
    if not is_number(value):
        raise UnfitError("The token contains an invalid time.")
    return float(value)


def _subject(claims: Mapping[str, Any]) -> str:
    value = claims.get("sub")
    if isinstance(value, str) and is_reserved(value[: _LONGEST_NAME + 1]):
        raise UnfitError("The token's subject is a reserved name.")
    subject = _name(value)
    if subject is None:
        raise UnfitError("The token has no subject.")
    return subject


def _client(claims: Mapping[str, Any]) -> str:
    """Return the client (RFC 9068, section 2.2; OpenID Connect's `azp`), otherwise the actor."""
    actor = claims.get("act")
    if actor is None:
        actor = {}
    if not isinstance(actor, dict):
        raise UnfitError("The token contains an invalid actor.")
    acts = _name(cast("dict[str, object]", actor).get("sub"))
    return _name(claims.get("client_id", claims.get("azp"))) or acts or "unknown"


def _name(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME:
        raise UnfitError("The token contains an invalid name.")
    # Refuse extra blanks, because `amy` and `amy ` look like the same person.
    if any(map(is_hidden, value)) or value != " ".join(value.split()):
        raise UnfitError("The token contains a name with hidden characters.")
    return value


def _at(claims: Mapping[str, Any], path: str) -> object:
    if path in claims:
        return claims[path]
    member: object = claims
    for step in path.split("."):
        if not isinstance(member, dict):
            return None
        member = cast("dict[str, object]", member).get(step)
    return member


def _words(value: object, *, is_spaced: bool) -> frozenset[str]:
    """Return a claim's words: a list's items, or a text, split at spaces with `is_spaced`."""
    if value is None:
        return frozenset()
    if isinstance(value, str):
        return frozenset(value.split(" ") if is_spaced else [value]) - {""}
    words = cast("list[object]", value)
    if not isinstance(value, list) or not all(isinstance(word, str) for word in words):
        raise UnfitError("The token contains an invalid list.")
    return frozenset(cast("list[str]", words)) - {""}
