"""Validation of an ID token's claims (OpenID Connect Core, 3.1.3.7), and its person.

These functions do no I/O. The caller has verified the signature; the time is a parameter.
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.access import Console, Terms, UnfitError, read_claims
from sayso.console.entry.roles import Role, role_of

LEEWAY: Final = 30.0
"""The allowed difference to the issuer's clock, in seconds."""

_ASK: Final = "Ask the operator of this gateway."


class EntryError(Exception):
    """A refused login: the reason and what to do, without repeating any input."""

    def __init__(self, what: str, fix: str = "Log in again.", *, status: int = 403) -> None:
        self.what = what
        self.fix = fix
        self.status = status
        super().__init__(what)


@dataclass(frozen=True, slots=True)
class Person:
    """The person who has logged in, with the issuer's roles."""

    name: str
    role: Role
    roles: frozenset[str]


@dataclass(frozen=True, slots=True)
class Proof:
    """The login that an ID token must belong to, and the access token that came with it."""

    nonce: str
    access_token: str | None


def check_claims(
    claims: Mapping[str, Any], algorithm: str, settings: Console, proof: Proof, *, now: float
) -> None:
    """Raise `UnfitError` if an ID token is for another client or login, or has expired."""
    from joserfc.errors import JoseError  # noqa: PLC0415 - 40 ms, needed only for logins
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
        # Drop the cause, because it may contain claims.
        raise UnfitError("The token is for another login or client, or has expired.")


def _is_party(claims: Mapping[str, Any], client_id: str) -> bool:
    """Return whether the token was issued to us; with other audiences, `azp` must name us."""
    is_needed = claims.get("aud") not in (client_id, [client_id])
    party = claims.get("azp")
    return party == client_id or not (party or is_needed)


def _is_bound(at_hash: object, access_token: str | None, algorithm: str) -> bool:
    """Return whether `at_hash` matches the access token (section 3.1.3.6)."""
    if not at_hash or not access_token:
        return True
    name = "sha512" if algorithm.startswith("Ed") else f"sha{algorithm[2:]}"
    digest = hashlib.new(name, access_token.encode()).digest()
    half = urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()
    return at_hash == half


def person_of(claims: Mapping[str, Any], settings: Console, *, now: float) -> Person:
    """Return an ID token's person. Raises `EntryError` or `UnfitError` if they may not log in."""
    terms = Terms(settings.issuer, LEEWAY, settings.claim)
    verified = read_claims(claims, terms, now=now)
    if verified.is_delegated:
        raise EntryError("The token is delegated: another party acts for you.", _ASK)
    principal = verified.principal
    name = principal.subject
    words = principal.roles
    if settings.people is not None and name not in settings.people:
        raise EntryError("You are not on the list of people who may log in here.", _ASK)
    role = role_of(settings.roles, words)
    if role is None:
        raise EntryError("You have no role here.", _ASK)
    return Person(name, role, words)
