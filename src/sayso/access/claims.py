"""The claims of a genuine token: whether it holds here, and for whom.

The same rules for what stands in a JWT (RFC 9068) and for what an issuer answers (RFC 7662).
Pure: time is given.
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
"""How the subjects of API keys begin."""

_KINDS: Final = ("token_type", "token_use", "typ")
_ACCESS_KINDS: Final = frozenset({"bearer", "access", "access_token", "at+jwt", "jwt"})
_OF_OTHERS: Final = ("at_hash", "c_hash", "s_hash", "events")
"""Claims of ID tokens (OpenID Connect Core, 3.3.2.11) and of security events (RFC 8417)."""
_SCOPES: Final = ("scope", "scp")
_NOT_ACCESS: Final = "The token is no access token."
_LONGEST_NAME: Final = 255  # of `sub`, OpenID Connect Core, section 2


@dataclass(frozen=True, slots=True)
class Terms:
    """What a token must say. `roles` is the claim with the roles, dotted where it is nested.

    `tenant` is the claim with the tenant, also dotted; a token without it is refused.
    """

    issuer: str
    leeway: float = 30.0
    roles: str = "roles"
    tenant: str | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """A caller who has proved who it is, for which resources, and until when (Unix seconds).

    `is_delegated` is whether somebody else acts for them (RFC 8693, section 4.1).
    """

    principal: Principal
    audiences: frozenset[str]
    expires: float
    is_delegated: bool = False


def read_claims(
    claims: Mapping[str, Any], terms: Terms, *, now: float, is_answer: bool = False
) -> Verified:
    """Return who a genuine token is for. Raises `UnfitError` if it does not hold now or here.

    With `is_answer` the issuer has just said all this itself: then it need not say again that it
    is the issuer, or until when the token holds.
    """
    issuer = claims.get("iss", terms.issuer if is_answer else None)
    if issuer != terms.issuer:
        raise UnfitError("The token was issued by somebody else.")
    if "cnf" in claims:
        # It must come with a proof that only its owner can make (RFC 7800); sayso checks none.
        raise UnfitError("The token is bound to a key, and cannot be used as a bearer token.")
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
    """Return the tenant that `claim` names. Raises `UnfitError` for a token without one."""
    tenant = _name(_at(claims, claim))
    if tenant is None:
        raise UnfitError("The token does not say for which tenant it is.")
    return tenant


def check_access(claims: Mapping[str, Any]) -> None:
    """Raise `UnfitError` for a genuine token that is no access token: a refresh or an ID token.

    Issuers name the kind differently: `token_type` (RFC 7662, section 2.2), `token_use`, or `typ`
    among the claims. A kind that is not known is refused.
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
    # Some issuers leave the nonce of a login in its access tokens, too, but those have scopes.
    is_of_login = "nonce" in claims and not any(claims.get(name) for name in _SCOPES)
    if is_of_login or any(name in claims for name in _OF_OTHERS):
        raise UnfitError(_NOT_ACCESS)


def _moment(claims: Mapping[str, Any], name: str, missing: float | None) -> float | None:
    value = claims.get(name)
    if value is None:
        return missing
    if not is_number(value):
        raise UnfitError("The token holds a time that is none.")
    return float(value)


def _subject(claims: Mapping[str, Any]) -> str:
    value = claims.get("sub")
    if isinstance(value, str) and is_reserved(value[: _LONGEST_NAME + 1]):
        raise UnfitError("The token is for a name that sayso gives to others.")
    subject = _name(value)
    if subject is None:
        raise UnfitError("The token does not say whom it is for.")
    return subject


def _client(claims: Mapping[str, Any]) -> str:
    """Return the client (RFC 9068, section 2.2; `azp` of OpenID Connect), or who acts."""
    actor = claims.get("act")
    if actor is None:
        actor = {}
    if not isinstance(actor, dict):
        raise UnfitError("The token holds an actor that is none.")
    acts = _name(cast("dict[str, object]", actor).get("sub"))
    return _name(claims.get("client_id", claims.get("azp"))) or acts or "unknown"


def _name(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME:
        raise UnfitError("The token holds a name that is none.")
    # What only blanks tell apart reads the same: `amy` and `amy `.
    if any(map(is_hidden, value)) or value != " ".join(value.split()):
        raise UnfitError("The token holds a name with hidden characters.")
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
    """Return the words of a claim: a list, or a text (of several words with `is_spaced`)."""
    if value is None:
        return frozenset()
    if isinstance(value, str):
        return frozenset(value.split(" ") if is_spaced else [value]) - {""}
    if not isinstance(value, list):
        raise UnfitError("The token holds a list that is none.")
    items = cast("list[object]", value)
    if not all(isinstance(word, str) for word in items):
        raise UnfitError("The token holds a list that is none.")
    return frozenset(cast("list[str]", items)) - {""}
