"""Authentication of API requests: by a console session, or by a caller's token."""

import hmac
import math
from dataclasses import dataclass, field
from typing import Final, Protocol

from starlette.requests import Request

from sayso.access import KEY_SUBJECT, Access, RefusedError, RequestInfo, Screens, may_use
from sayso.console.api.problem import ProblemError
from sayso.console.entry.login import Session
from sayso.console.entry.roles import Role, role_of
from sayso.console.pages import Pages
from sayso.policy import Principal, is_reserved

CSRF: Final = "X-CSRF-Token"
"""The header with a session's CSRF token, which other pages cannot send."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """An authenticated visitor, who without a `session` may see tools but not questions.

    `principal` is a token's caller, who sees only its own tools; a console session sees all.
    """

    session: Session | None
    principal: Principal | None = None

    def require(self, role: Role) -> Session:
        """Return the session if it covers `role`. Raises `ProblemError`."""
        if self.session is None or not self.session.role.covers(role):
            what = f"This requires the role “{role}”. Nothing was done."
            raise ProblemError(403, "role", what)
        return self.session


class Authentication(Protocol):
    """Authenticates API requests."""

    async def authenticate(self, request: Request) -> Visitor:
        """Return the visitor. Raises `ProblemError`, `RefusedError` and `StoreError`."""
        ...


@dataclass(frozen=True, slots=True)
class SessionAuthentication:
    """Authentication by the console's cookie, for its own origin."""

    pages: Pages

    async def authenticate(self, request: Request) -> Visitor:
        session = await self.pages.session_of(request)
        if session is None:
            way = {"WWW-Authenticate": 'Link realm="sayso console"'}
            raise ProblemError(401, "session", "Log in to the console first.", headers=way)
        if request.method not in ("GET", "HEAD") and not _has_token(request, session):
            what = f"{CSRF} is not this session's token. Nothing was done."
            raise ProblemError(403, "csrf", what)
        return Visitor(session)


@dataclass(frozen=True, slots=True)
class TokenAuthentication:
    """Authentication by a caller's token. Only roles in `screens` give the caller a session."""

    access: Access
    screens: Screens = field(default_factory=Screens)

    async def authenticate(self, request: Request) -> Visitor:
        principal = await self.access.identify(RequestInfo.of(request.scope))
        return Visitor(self.session_of(principal), principal)

    def session_of(self, principal: Principal) -> Session | None:
        """Return a caller's session; `None` if the caller is not authenticated or has no role."""
        name = principal.subject
        # The reserved names of API keys are accepted, because only a verified key has one.
        is_allowed_name = name.startswith(KEY_SUBJECT) or not is_reserved(name)
        is_valid = principal.is_known and is_allowed_name
        if not is_valid or not may_use(self.screens, name, principal.client):
            return None
        role = role_of(self.screens.roles, principal.roles)
        if role is None:
            return None
        return Session("", math.inf, name, role, principal.roles)


async def has_role(authentication: Authentication, request: Request, role: Role) -> bool:
    """Return whether a request is still authenticated with this role."""
    try:
        (await authentication.authenticate(request)).require(role)
    except (ProblemError, RefusedError):
        return False
    return True


def _has_token(request: Request, session: Session) -> bool:
    token = request.headers.get(CSRF, "").encode("utf-8", "replace")
    return hmac.compare_digest(token, session.csrf.encode())
