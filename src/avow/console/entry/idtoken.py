"""What an ID token says: whether it holds here (OpenID Connect Core, 3.1.3.7), and for whom.

Pure: its signature has been verified, and time is given.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from avow.access import Console
from avow.access.claims import Terms, read_claims
from avow.access.refusal import UnfitError
from avow.console.entry.roles import Role, role_of
from avow.policy import is_reserved

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
    from authlib.oidc.core import CodeIDToken  # noqa: PLC0415 - an extra
    from joserfc.errors import JoseError  # noqa: PLC0415 - it comes with authlib

    told: Any = CodeIDToken(
        dict(claims),
        {"alg": algorithm},
        {
            "iss": {"essential": True, "value": settings.issuer},
            "aud": {"essential": True, "value": settings.client_id},
        },
        {
            "client_id": settings.client_id,
            "nonce": proof.nonce,
            "access_token": proof.access_token,
        },
    )
    try:
        told.validate(int(now), int(LEEWAY))
    except (JoseError, TypeError, ValueError):
        # Without the cause: it may hold what the token says.
        raise UnfitError("The token is for another login, for somebody else, or over.") from None


def person_of(claims: Mapping[str, Any], settings: Console, *, now: float) -> Person:
    """Whom an ID token that holds lets in. Raises `EntryError`, and `UnfitError` for bad claims."""
    terms = Terms(settings.issuer, LEEWAY, settings.claim)
    verified = read_claims(claims, terms, now=now)
    if verified.is_delegated:
        raise EntryError("Somebody else acts in this name.", _ASK)
    principal = verified.principal
    name, words = principal.subject, principal.roles
    if is_reserved(name):
        raise EntryError("You have a name that avow gives to others.", _ASK)
    if settings.people is not None and name not in settings.people:
        raise EntryError("You are not among the people who may log in here.", _ASK)
    role = role_of(settings.roles, words)
    if role is None:
        raise EntryError("You have no role here.", _ASK)
    return Person(name, role, words)
