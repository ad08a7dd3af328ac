"""One-time login links, and the sessions that they open.

A gateway that a person starts prints a link, and so does `sayso console`. No HTTP response contains
a link, and a gateway that a client starts prints none, so that callers cannot log in. With an
issuer (`oidc`) there are no links.
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
"""The person who logged in with a link: the machine's only user."""

LINK_SECONDS: Final = 15 * 60.0
SESSION_SECONDS: Final = 12 * 3600
_MAX_ROLES_CHARACTERS: Final = 1000
"""The maximum size of a session's roles, because browsers limit a cookie to about 4000 bytes."""

_LINK: Final = "console link"
_SESSION: Final = "console session"
_FORM: Final = "console form"


@dataclass(frozen=True, slots=True)
class Session:
    """A login session. `csrf` is the token in its forms.

    `role` is the person's role in the console. `roles` are the issuer's roles for this person; a
    policy may name them as reviewers.
    """

    csrf: str
    expires: float
    person: str = PERSON
    role: Role = Role.ADMIN
    roles: frozenset[str] = frozenset()

    def may(self, role: str) -> bool:
        return self.role.covers(Role(role))


@dataclass(frozen=True, slots=True)
class _Pass:
    """The content of a token with a valid signature; `key` is the signing key's ID."""

    id: str
    expires: float
    key: str
    body: str


class Login:
    """Makes signed links and sessions. Every process with the same keys and store accepts them.

    The store contains only the ids of used links and closed sessions. `stamp` is a digest of the
    login settings; a session with another stamp is invalid. `takes_links` enables links.
    `is_caller` returns whether a local port belongs to a client of the gateway.
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
        """Return a new link; earlier links stay valid."""
        return f"{self._base_url}/console/login?token={self._make(_LINK, LINK_SECONDS)}"

    async def is_from_caller(self, port: int | None) -> bool:
        """Return whether a local `port` belongs to a caller's process."""
        if self._is_caller is None or port is None:
            return False
        return await run_sync(self._is_caller, port)

    async def is_good(self, token: str) -> bool:
        """Return whether a link's token is valid, without using it up."""
        return self._takes_links and await self._good(_LINK, token) is not None

    async def open_session(self, token: str) -> str | None:
        """Use up a link and return the new session's id; `None` for an invalid link."""
        content = self._read(_LINK, token)
        if not self._takes_links or content is None or not await self._spend(_LINK, content):
            return None
        return self._make(_SESSION, SESSION_SECONDS, _packed(PERSON, Role.ADMIN, (), self._stamp))

    def open_for(
        self, person: str, role: Role, roles: Iterable[str] = (), *, seconds: float
    ) -> str:
        body = _packed(person, role, roles, self._stamp)
        return self._make(_SESSION, min(seconds, SESSION_SECONDS), body)

    async def session(self, session_id: str) -> Session | None:
        content = await self._good(_SESSION, session_id)
        if content is None:
            return None
        person, role, roles, stamp = json.loads(urlsafe_b64decode(f"{content.body}=="))
        if stamp != self._stamp:
            return None
        key = self._keys.derive(_FORM, content.key) or b""
        csrf = hmac.digest(key, content.id.encode(), sha256).hex()
        return Session(csrf, content.expires, person, Role(role), frozenset(roles))

    async def close_session(self, session_id: str) -> None:
        content = self._read(_SESSION, session_id)
        if content is not None:
            await self._spend(_SESSION, content)

    def _make(self, purpose: str, seconds: float, body: str = "") -> str:
        text = f"{secrets.token_urlsafe(24)}.{self._clock() + seconds:.0f}.{body}"
        return f"{text}.{self._keys.sign(purpose, text.encode())}"

    def _read(self, purpose: str, token: str) -> _Pass | None:
        """Return a token's content; `None` if it is forged or has expired."""
        text, _, signature = token.rpartition(".")
        if not token.isascii() or not self._keys.verify(purpose, text.encode(), signature):
            return None
        name, expires, body = text.split(".")
        if float(expires) <= self._clock():
            return None
        return _Pass(name, float(expires), signature.partition(":")[0], body)

    async def _good(self, purpose: str, token: str) -> _Pass | None:
        content = self._read(purpose, token)
        if content is None or await self._tokens.is_spent(_name(purpose, content)):
            return None
        return content

    async def _spend(self, purpose: str, content: _Pass) -> bool:
        now = self._clock()
        return await self._tokens.spend(_name(purpose, content), now=now, expires=content.expires)


def _packed(person: str, role: Role, roles: Iterable[str] = (), stamp: str = "") -> str:
    """Return a session's content for its token, without roles if there are too many."""
    listed = sorted(roles)
    if sum(map(len, map(json.dumps, listed))) > _MAX_ROLES_CHARACTERS:
        listed = list[str]()
    text = json.dumps([person, role, listed, stamp], ensure_ascii=False)
    # Remove the padding `=`, because some servers put such a cookie in quotes.
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _name(purpose: str, content: _Pass) -> str:
    return f"{purpose} {content.id}"
