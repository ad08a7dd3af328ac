"""Logging in: a link that works once, and the session that it opens.

The link reaches only whoever reads the terminal that avow runs in. It is never part of an answer
over HTTP, so a program that can merely send requests to this machine cannot log in.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

LINK_SECONDS: Final = 15 * 60.0
SESSION_SECONDS: Final = 12 * 3600
_PAUSE_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that is logged in. `csrf` stands in each of its forms."""

    csrf: str
    expires: float


class Login:
    """Hands out links and keeps sessions, in memory, and only the hashes of their secrets.

    `announce` is given each link that somebody asks for, to show it where only the operator sees.

    >>> login = Login(print, "http://127.0.0.1:8321")
    >>> token = login.link().partition("token=")[2]
    >>> session_id = login.open_session(token)
    >>> login.open_session(token) is None  # a link works once
    True
    """

    def __init__(
        self,
        announce: Callable[[str], None],
        base_url: str,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._announce = announce
        self._base_url = base_url.rstrip("/")
        self._clock = clock
        self._links: dict[bytes, float] = {}
        self._sessions: dict[bytes, Session] = {}
        self._announced = float("-inf")

    def link(self) -> str:
        """A fresh link. Links made before stay good: asking for one takes none from anybody."""
        now = self._clock()
        self._links = {one: expires for one, expires in self._links.items() if expires > now}
        token = secrets.token_urlsafe(32)
        self._links[_digest(token)] = now + LINK_SECONDS
        return f"{self._base_url}/console/login?token={token}"

    def announce_link(self) -> None:
        """Announce a fresh link, unless one was announced less than ten seconds ago."""
        now = self._clock()
        if abs(now - self._announced) >= _PAUSE_SECONDS:
            self._announced = now
            self._announce(self.link())

    def is_good(self, token: str) -> bool:
        """Whether a link with this token would log in; looking does not use it up."""
        found = _find(self._links, token)
        return found is not None and self._links[found] > self._clock()

    def open_session(self, token: str) -> str | None:
        """Use a link up and return the new session's id, or `None` when the link is no good."""
        if not self.is_good(token):
            return None
        del self._links[_digest(token)]
        now = self._clock()
        self._sessions = {key: one for key, one in self._sessions.items() if one.expires > now}
        session_id = secrets.token_urlsafe(32)
        session = Session(csrf=secrets.token_urlsafe(32), expires=now + SESSION_SECONDS)
        self._sessions[_digest(session_id)] = session
        return session_id

    def session(self, session_id: str) -> Session | None:
        """The session of this id while it lasts."""
        found = _find(self._sessions, session_id)
        if found is None or self._sessions[found].expires <= self._clock():
            return None
        return self._sessions[found]

    def close_session(self, session_id: str) -> None:
        """Log out; an id that is not known is nothing to close."""
        self._sessions.pop(_digest(session_id), None)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _find(known: Iterable[bytes], secret: str) -> bytes | None:
    """The hash of `secret` if it is among `known`; how long it takes tells nothing of which."""
    wanted, found = _digest(secret), None
    for one in known:
        if hmac.compare_digest(one, wanted):
            found = one
    return found
