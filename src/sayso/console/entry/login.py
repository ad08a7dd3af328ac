"""Logging in: a link that works once, and the session that it opens.

A link is printed where a person starts the gateway, and by `sayso console`. It is never part of an
answer over HTTP, and never printed where a client started the gateway, so a caller cannot log in.
With an issuer (`oidc`) there are no links: people log in with their accounts.
"""

import hmac
import json
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from anyio.to_thread import run_sync

from sayso.console.entry.roles import Role
from sayso.keys import Keyring
from sayso.store import Tokens

PERSON: Final = "console"
"""The person who logged in by a link: the one person of a machine."""

LINK_SECONDS: Final = 15 * 60.0
SESSION_SECONDS: Final = 12 * 3600
_MOST_ROLES: Final = 1000
"""Characters: a browser keeps a cookie of four thousand bytes and no longer one."""

_LINK: Final = "console link"
_SESSION: Final = "console session"
_FORM: Final = "console form"


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that is logged in. `csrf` stands in each of its forms.

    `person` is who sits before it, as records name them, and `role` what they may do. `roles` are
    those that their issuer says: a policy may name them as reviewers.
    """

    csrf: str
    expires: float
    person: str = PERSON
    role: Role = Role.ADMIN
    roles: frozenset[str] = frozenset()

    def may(self, role: str) -> bool:
        """Whether whoever is logged in has this role, or one that may do more."""
        return self.role.covers(Role(role))


@dataclass(frozen=True, slots=True)
class _Pass:
    """What a token says, once its signature has been checked; `key` is who signed it."""

    id: str
    expires: float
    key: str
    body: str


class Login:
    """Hands out links, and sessions for them, that every process with these keys and store knows.

    Both are signed; nothing is kept but the names of links that were used and of sessions that
    were ended. `stamp` names the rules by which people log in with an issuer: a session that was
    opened under others is void. Without `takes_links` no link opens one. `is_caller` tells of the
    port that a browser on this machine connects from whether a client of the gateway has it open.
    """

    def __init__(
        self,
        base_url: str,
        *,
        tokens: Tokens,
        keys: Keyring,
        clock: Callable[[], float] = time.time,
        stamp: str = "",
        takes_links: bool = True,
        is_caller: Callable[[int], bool] | None = None,
    ) -> None:
        self._stamp = stamp
        self._takes_links = takes_links
        self._is_caller = is_caller
        self._base_url = base_url.rstrip("/")
        self._tokens = tokens
        self._keys = keys
        self._clock = clock

    def link(self) -> str:
        """A fresh link. Links made before stay good: asking for one takes none from anybody."""
        return f"{self._base_url}/console/login?token={self._make(_LINK, LINK_SECONDS)}"

    async def is_from_caller(self, port: int | None) -> bool:
        """Return whether a connection from this machine's `port` is of a caller's own programs."""
        if self._is_caller is None or port is None:
            return False
        return await run_sync(self._is_caller, port)

    async def is_good(self, token: str) -> bool:
        """Whether a link with this token would log in; looking does not use it up."""
        return self._takes_links and await self._good(_LINK, token) is not None

    async def open_session(self, token: str) -> str | None:
        """Use a link up and return the new session's id, or `None` when the link is no good."""
        found = self._read(_LINK, token)
        if not self._takes_links or found is None or not await self._spend(_LINK, found):
            return None
        return self._make(_SESSION, SESSION_SECONDS, _packed(PERSON, Role.ADMIN, (), self._stamp))

    def open_for(
        self, person: str, role: Role, roles: Iterable[str] = (), *, seconds: float
    ) -> str:
        """The id of a new session for somebody who has proved who they are elsewhere."""
        body = _packed(person, role, roles, self._stamp)
        return self._make(_SESSION, min(seconds, SESSION_SECONDS), body)

    async def session(self, session_id: str) -> Session | None:
        """The session of this id while it lasts."""
        found = await self._good(_SESSION, session_id)
        if found is None:
            return None
        person, role, roles, stamp = json.loads(urlsafe_b64decode(f"{found.body}=="))
        if stamp != self._stamp:
            return None
        key = self._keys.derive(_FORM, found.key) or b""
        csrf = hmac.digest(key, found.id.encode(), sha256).hex()
        return Session(csrf, found.expires, person, Role(role), frozenset(roles))

    async def close_session(self, session_id: str) -> None:
        """Log out, everywhere; an id that is not known is nothing to close."""
        found = self._read(_SESSION, session_id)
        if found is not None:
            await self._spend(_SESSION, found)

    def _make(self, purpose: str, seconds: float, body: str = "") -> str:
        text = f"{secrets.token_urlsafe(24)}.{self._clock() + seconds:.0f}.{body}"
        return f"{text}.{self._keys.sign(purpose, text.encode())}"

    def _read(self, purpose: str, token: str) -> _Pass | None:
        """What a token says; `None` for a forged one, and one that has expired."""
        text, _, signature = token.rpartition(".")
        if not token.isascii() or not self._keys.verify(purpose, text.encode(), signature):
            return None
        name, expires, body = text.split(".")
        if float(expires) <= self._clock():
            return None
        return _Pass(name, float(expires), signature.partition(":")[0], body)

    async def _good(self, purpose: str, token: str) -> _Pass | None:
        found = self._read(purpose, token)
        if found is None or await self._tokens.is_spent(_name(purpose, found)):
            return None
        return found

    async def _spend(self, purpose: str, found: _Pass) -> bool:
        now = self._clock()
        return await self._tokens.spend(_name(purpose, found), now=now, expires=found.expires)


def _packed(person: str, role: Role, roles: Iterable[str] = (), stamp: str = "") -> str:
    """Who a session is for, as it stands in its token. Roles that do not fit are left out, all."""
    held = sorted(roles)
    if sum(map(len, map(json.dumps, held))) > _MOST_ROLES:
        held = list[str]()
    text = json.dumps([person, role, held, stamp], ensure_ascii=False)
    # Without its padding, for which some would put the cookie between quotes.
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _name(purpose: str, found: _Pass) -> str:
    return f"{purpose} {found.id}"
