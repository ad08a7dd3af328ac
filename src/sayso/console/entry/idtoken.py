"""What an ID token says: whether it holds here (OpenID Connect Core, 3.1.3.7), and for whom.

Pure: its signature has been verified, and time is given.
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.access import Console, Terms, UnfitError, read_claims
from sayso.console.entry.roles import Role, role_of
from sayso.policy import is_reserved

LEEWAY: Final = 30.0
"""Seconds that the issuer's clock may be apart from ours."""

_ASK: Final = "Ask whoever runs this gateway."


class EntryError(Exception):
    """Why somebody is not let in, and what to do; nothing that was sent is repeated in it."""

    def __init__(self, what: str, fix: str = "Log in again.", *, status: int = 403) -> None:
        self.what = what
        self.fix = fix
        self.status = status
        super().__init__(what)


@dataclass(frozen=True, slots=True)
class Person:
    """Who has logged in, as records name them, with what the issuer says of them."""

    name: str
    role: Role
    roles: frozenset[str]


@dataclass(frozen=True, slots=True)
class Proof:
    """What an ID token must belong to: one login, and the access token that came with it."""

    nonce: str
    access_token: str | None


def check_claims(
    claims: Mapping[str, Any], algorithm: str, settings: Console, proof: Proof, *, now: float
) -> None:
    """Raise `UnfitError` where an ID token is not for us, not for this login, or over."""
    from joserfc.errors import JoseError  # noqa: PLC0415 - 40 ms, for those who log in
    from joserfc.jwt import JWTClaimsRegistry  # noqa: PLC0415

    registry = JWTClaimsRegistry(
        int(now),
        int(LEEWAY),
        iss={"essential": True, "value": settings.issuer},
        sub={"essential": True},
        aud={"essential": True, "value": settings.client_id},
        exp={"essential": True},
        iat={"essential": True},
    )
    try:
        registry.validate(dict(claims))
        is_ours = (
            claims.get("nonce") == proof.nonce
            and _is_party(claims, settings.client_id)
            and _is_bound(claims.get("at_hash"), proof.access_token, algorithm)
            and isinstance(claims.get("auth_time") or 0, int | float)
            and isinstance(claims.get("amr") or [], list)
        )
    except (JoseError, TypeError, ValueError):
        is_ours = False
    if not is_ours:
        # Without the cause: it may hold what the token says.
        raise UnfitError("The token is for another login, for somebody else, or over.")


def _is_party(claims: Mapping[str, Any], client_id: str) -> bool:
    """Whether the token was issued to us: `azp` says so, where there are other audiences."""
    is_needed = claims.get("aud") not in (client_id, [client_id])
    party = claims.get("azp")
    return party == client_id or not (party or is_needed)


def _is_bound(at_hash: object, access_token: str | None, algorithm: str) -> bool:
    """Whether `at_hash` is of the access token that came along (section 3.1.3.6)."""
    if not at_hash or not access_token:
        return True
    name = "sha512" if algorithm.startswith("Ed") else f"sha{algorithm[2:]}"
    digest = hashlib.new(name, access_token.encode()).digest()
    half = urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()
    return at_hash == half


def person_of(claims: Mapping[str, Any], settings: Console, *, now: float) -> Person:
    """Whom an ID token that holds lets in. Raises `EntryError`, and `UnfitError` for bad claims."""
    terms = Terms(settings.issuer, LEEWAY, settings.claim)
    verified = read_claims(claims, terms, now=now)
    if verified.is_delegated:
        raise EntryError("Somebody else acts in this name.", _ASK)
    principal = verified.principal
    name = principal.subject
    words = principal.roles
    if is_reserved(name):
        raise EntryError("You have a name that sayso gives to others.", _ASK)
    if settings.people is not None and name not in settings.people:
        raise EntryError("You are not among the people who may log in here.", _ASK)
    role = role_of(settings.roles, words)
    if role is None:
        raise EntryError("You have no role here.", _ASK)
    return Person(name, role, words)
