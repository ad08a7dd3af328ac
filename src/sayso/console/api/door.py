"""Who is at a screen: somebody who is logged in to the console, or a caller with a token."""

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
"""The header that brings a session's token: no page of others can send it with a cookie."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks: `session` is what they may do, where they may do anything at a screen.

    `principal` is the caller of a token, who sees the tools that it may call; a session of the
    console sees what the console shows.
    """

    session: Session | None
    principal: Principal | None = None

    def within(self, role: Role) -> Session:
        """What they may do, where that covers `role`. Raises `ProblemError`."""
        if self.session is None or not self.session.role.covers(role):
            what = f"This needs the role “{role}”, which you do not have. Nothing was done."
            raise ProblemError(403, "role", what)
        return self.session


class Door(Protocol):
    """A way in."""

    async def enter(self, request: Request) -> Visitor:
        """Who asks; of whoever changes something, that a page of sayso's own sent it.

        Raises `ProblemError`, `RefusedError` of `access`, and `StoreError`.
        """
        ...


@dataclass(frozen=True, slots=True)
class SessionDoor:
    """For the console's own origin, by its cookie."""

    pages: Pages

    async def enter(self, request: Request) -> Visitor:
        """See `Door.enter`."""
        session = await self.pages.session_of(request)
        if session is None:
            way = {"WWW-Authenticate": 'Link realm="sayso console"'}
            raise ProblemError(401, "session", "Log in to the console first.", headers=way)
        if request.method not in ("GET", "HEAD") and not _has_token(request, session):
            what = f"This belongs to another session: {CSRF} is not its token. Nothing was done."
            raise ProblemError(403, "csrf", what)
        return Visitor(session)


@dataclass(frozen=True, slots=True)
class CallerDoor:
    """A way in for screens anywhere, by a token. Without `screens` it shows and answers nothing."""

    access: Access
    screens: Screens = field(default_factory=Screens)

    async def enter(self, request: Request) -> Visitor:
        """See `Door.enter`."""
        principal = await self.access.identify(RequestInfo.of(request.scope))
        return Visitor(self.session_of(principal), principal)

    def session_of(self, principal: Principal) -> Session | None:
        """What a caller may do at a screen. One that need not prove who it is may do nothing."""
        name = principal.subject
        # Names of API keys are reserved too, and only a key that was checked brings one.
        is_free = name.startswith(KEY_SUBJECT) or not is_reserved(name)
        is_proved = principal.is_known and is_free
        if not is_proved or not may_use(self.screens, name, principal.client):
            return None
        role = role_of(self.screens.roles, principal.roles)
        if role is None:
            return None
        return Session("", math.inf, name, role, principal.roles)


async def is_within(door: Door, request: Request, role: Role) -> bool:
    """Whether whoever asked is still known, and still has this role."""
    try:
        (await door.enter(request)).within(role)
    except (ProblemError, RefusedError):
        return False
    return True


def _has_token(request: Request, session: Session) -> bool:
    said = request.headers.get(CSRF, "").encode("utf-8", "replace")
    return hmac.compare_digest(said, session.csrf.encode())
