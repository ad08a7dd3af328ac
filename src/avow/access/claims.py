"""What a token says once it is known to be genuine: whether it holds here, and for whom.

The same rules for what stands in a JWT (RFC 9068) and for what an issuer answers (RFC 7662).
Pure: time is given.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from avow.access.refusal import UnfitError
from avow.policy import LOCAL, Principal
from avow.schema.plain import is_unseen

KEY_SUBJECT: Final = "key:"
"""How the subjects of API keys begin."""

_LONGEST_NAME: Final = 255  # of `sub`, OpenID Connect Core, section 2


@dataclass(frozen=True, slots=True)
class Terms:
    """What a token must say. `roles` is the claim with the roles, dotted where it is nested."""

    issuer: str
    leeway: float = 30.0
    roles: str = "roles"


@dataclass(frozen=True, slots=True)
class Verified:
    """A caller who has proved who it is, for which resources, and until when (Unix seconds)."""

    principal: Principal
    audiences: frozenset[str]
    expires: float


def read_claims(
    claims: Mapping[str, Any], terms: Terms, *, now: float, is_answer: bool = False
) -> Verified:
    """Who a genuine token is for. Raises `UnfitError` where it does not hold now or here.

    With `is_answer` the issuer has just said all this itself: then it need not say again that it
    is the issuer, or until when the token holds.
    """
    issuer = claims.get("iss", terms.issuer if is_answer else None)
    if issuer != terms.issuer:
        raise UnfitError("The token was issued by somebody else.")
    if "cnf" in claims:
        # It must come with a proof that only its owner can make (RFC 7800); avow checks none.
        raise UnfitError("The token is bound to a key, and cannot be used as a bearer token.")
    expires = _moment(claims, "exp", None if is_answer else 0.0)
    if expires is not None and now >= expires + terms.leeway:
        raise UnfitError("The token has expired.")
    for name in ("nbf", "iat"):
        begins = _moment(claims, name, None)
        if begins is not None and now < begins - terms.leeway:
            raise UnfitError("The token is not valid yet.")
    principal = Principal(
        _subject(claims),
        client=_client(claims),
        scopes=_words(claims.get("scope", claims.get("scp")), is_spaced=True),
        roles=_words(_at(claims, terms.roles), is_spaced=False),
    )
    until = math.inf if expires is None else expires + terms.leeway
    return Verified(principal, _words(claims.get("aud"), is_spaced=False), until)


def _moment(claims: Mapping[str, Any], name: str, missing: float | None) -> float | None:
    value = claims.get(name)
    if value is None:
        return missing
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UnfitError("The token holds a time that is none.")
    return float(value)


def _subject(claims: Mapping[str, Any]) -> str:
    subject = _name(claims.get("sub"))
    if subject is None:
        raise UnfitError("The token does not say whom it is for.")
    if subject == LOCAL or subject.startswith(KEY_SUBJECT):
        raise UnfitError("The token is for a name that avow gives to others.")
    return subject


def _client(claims: Mapping[str, Any]) -> str:
    """Through which client (RFC 9068, section 2.2; `azp` of OpenID Connect)."""
    return _name(claims.get("client_id", claims.get("azp"))) or "unknown"


def _name(value: object) -> str | None:
    """A name that reads the same wherever it is shown or kept."""
    if value is None:
        return None
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME:
        raise UnfitError("The token holds a name that is none.")
    if any(is_unseen(one) for one in value):
        raise UnfitError("The token holds a name with hidden characters.")
    return value


def _at(claims: Mapping[str, Any], path: str) -> object:
    """The claim of this name, or what stands at the end of a dotted path."""
    if path in claims:
        return claims[path]
    found: object = claims
    for step in path.split("."):
        if not isinstance(found, dict):
            return None
        found = cast("dict[str, object]", found).get(step)
    return found


def _words(value: object, *, is_spaced: bool) -> frozenset[str]:
    """The words of a claim: a list of texts, or one text (of several words with `is_spaced`)."""
    if value is None:
        return frozenset()
    if isinstance(value, str):
        return frozenset(value.split(" ") if is_spaced else [value]) - {""}
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(one, str) for one in items):
        raise UnfitError("The token holds a list that is none.")
    return frozenset(cast("list[str]", items)) - {""}
