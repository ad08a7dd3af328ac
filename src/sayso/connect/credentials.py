"""Credentials for servers behind sayso. A server never gets the token that a caller sent.

With `client_credentials`, all callers share one token, which belongs to sayso. With
`token_exchange`, the authorization server gets the caller's token and issues another token.
"""

import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

from sayso.connect.fetch import ClientAuth, Fetcher, Reply, open_fetcher
from sayso.connect.kinds import CommandTarget, UpstreamAuth, UrlTarget
from sayso.connect.refreshing_cache import Fetched, RefreshingCache
from sayso.connect.web.authenticator import Authenticator
from sayso.errors import AuthenticationError, KeysError, UnreachableError
from sayso.policy import LOCAL, Principal

_MOST: Final = 1000
"""The number of cached callers' tokens; the least recently used is dropped first."""
_DEFAULT_SECONDS: Final = 60.0
_LONGEST_SECONDS: Final = 3600.0
_EARLY: Final = 0.8
_SPARE_SECONDS: Final = 5.0
_CLIENT_ERROR: Final = range(400, 500)
_EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
_ACCESS_TOKEN: Final = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 - a type, not a token


class Credentials(Protocol):
    """Credentials of sayso at one server.

    `headers` raises `AuthenticationError` if the caller has no token or the secret cannot be read,
    and `UnreachableError` if the authorization server does not answer. `forget` drops a refused
    token, unless it was just fetched: a server that refuses every token must not cause a token
    request for each call.
    """

    async def headers(self, principal: Principal) -> Mapping[str, str]: ...
    def forget(self, principal: Principal) -> None: ...


@dataclass(frozen=True, slots=True)
class OnBehalf:
    """A server's credentials on behalf of one caller: an `Authenticator`."""

    credentials: Credentials
    principal: Principal

    async def headers(self) -> Mapping[str, str]:
        return await self.credentials.headers(self.principal)

    def forget(self) -> None:
        self.credentials.forget(self.principal)


@dataclass(slots=True)
class Wallet:
    """The callers' own tokens, in memory until they expire, for token exchange.

    A caller whose token has other scopes is another principal, with a token of its own.
    """

    clock: Callable[[], float] = time.time
    _tokens: OrderedDict[Principal, tuple[str, float]] = field(
        default_factory=OrderedDict[Principal, tuple[str, float]], repr=False
    )

    def put(self, principal: Principal, token: str, *, expires: float) -> None:
        """Keep a token that was verified; `expires` in Unix seconds."""
        self._tokens[principal] = token, expires
        self._tokens.move_to_end(principal)
        while len(self._tokens) > _MOST:
            self._tokens.popitem(last=False)

    def get(self, principal: Principal) -> str | None:
        """Return the caller's newest token, if it has not expired."""
        token, expires = self._tokens.get(principal, (None, 0.0))
        return token if self.clock() < expires else None


def credentials_for(
    target: CommandTarget | UrlTarget, fetcher: Fetcher, wallet: Wallet
) -> Credentials | None:
    """Return the credentials of one server, if its entry has any."""
    if not isinstance(target, UrlTarget) or target.auth is None:
        return None
    if target.auth.is_exchange:
        return TokenExchange(target.auth, fetcher, wallet)
    return ClientCredentials(target.auth, fetcher)


@asynccontextmanager
async def open_proof(target: CommandTarget | UrlTarget) -> AsyncGenerator[Authenticator | None]:
    """Yield the authenticator for requests that sayso makes for itself, not for a caller."""
    async with open_fetcher() as fetcher:
        found = credentials_for(target, fetcher, Wallet())
        yield None if found is None else OnBehalf(found, Principal(LOCAL))


@dataclass(slots=True)
class ClientCredentials:
    """One token for all callers: sayso's own (RFC 6749, section 4.4)."""

    auth: UpstreamAuth
    fetcher: Fetcher
    clock: Callable[[], float] = time.monotonic
    _cache: RefreshingCache[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._cache = RefreshingCache(self._fetch, clock=self.clock)

    async def headers(self, principal: Principal) -> Mapping[str, str]:
        del principal
        return _bearer(await self._cache.get())

    def forget(self, principal: Principal) -> None:
        del principal
        self._cache.drop()

    async def _fetch(self) -> Fetched[str]:
        return await _token(self.fetcher, self.auth, {"grant_type": "client_credentials"})


@dataclass(slots=True)
class TokenExchange:
    """A token for each caller, in exchange for the caller's own token (RFC 8693)."""

    auth: UpstreamAuth
    fetcher: Fetcher
    wallet: Wallet
    clock: Callable[[], float] = time.monotonic
    _caches: OrderedDict[Principal, RefreshingCache[str]] = field(
        default_factory=OrderedDict[Principal, "RefreshingCache[str]"], repr=False
    )

    async def headers(self, principal: Principal) -> Mapping[str, str]:
        if self.wallet.get(principal) is None:
            self._caches.pop(principal, None)
            raise self._without_token()
        cache = self._caches.get(principal)
        if cache is None:
            fetch = partial(self._fetch, principal)
            cache = self._caches[principal] = RefreshingCache(fetch, clock=self.clock)
        self._caches.move_to_end(principal)
        while len(self._caches) > _MOST:
            self._caches.popitem(last=False)
        return _bearer(await cache.get())

    def forget(self, principal: Principal) -> None:
        if cache := self._caches.get(principal):
            cache.drop()

    async def _fetch(self, principal: Principal) -> Fetched[str]:
        own = self.wallet.get(principal)
        if own is None:
            raise self._without_token()
        form = {
            "grant_type": _EXCHANGE,
            "subject_token": own,
            "subject_token_type": _ACCESS_TOKEN,
            "requested_token_type": _ACCESS_TOKEN,
        }
        found = await _token(self.fetcher, self.auth, form)
        if found.value == own:
            what = (
                "the authorization server returned the caller's own token, which sayso does not use"
            )
            raise AuthenticationError(what, where=self.auth.shown)
        return found

    def _without_token(self) -> AuthenticationError:
        what = "this caller has no token to exchange"
        fix = "Call with an OAuth token that has not expired."
        return AuthenticationError(what, where=self.auth.shown, fix=fix)


def _bearer(token: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def _token(fetcher: Fetcher, auth: UpstreamAuth, form: Mapping[str, str]) -> Fetched[str]:
    proof = ClientAuth(auth.client_id, auth.client_secret, auth.is_secret_in_body)
    optional = {"scope": auth.scope, "resource": auth.resource, "audience": auth.audience}
    full_form = {**form, **{key: value for key, value in optional.items() if value is not None}}
    try:
        reply = await fetcher.post(auth.token_url, full_form, proof)
    except KeysError as error:
        what = f"the “client_secret” for {auth.shown} cannot be read: {error.what}"
        raise AuthenticationError(what, where=error.where, fix=error.fix) from error
    if reply.status in _CLIENT_ERROR:
        what = f"the authorization server refused a token: {reply.error}"
        fix = f"Check “sayso.auth” of client “{auth.client_id}” and its secret."
        raise AuthenticationError(what, where=auth.shown, fix=fix)
    if not reply.is_ok:
        raise UnreachableError(f"the authorization server failed: {reply.error}", where=auth.shown)
    return _read(reply, auth.shown)


def _read(reply: Reply, where: str) -> Fetched[str]:
    """Read the token in a response (RFC 6749, section 5.1)."""
    token = reply.body.get("access_token")
    kind = reply.body.get("token_type")
    is_sound = isinstance(token, str) and token.isascii() and token.isprintable()
    if not is_sound or not token or " " in token or str(kind).lower() != "bearer":
        raise UnreachableError("the response has no bearer token", where=where)
    seconds = _seconds(reply.body.get("expires_in"))
    usable = max(seconds - _SPARE_SECONDS, seconds / 2)
    return Fetched(str(token), min(seconds * _EARLY, usable), usable)


def _seconds(expires_in: object) -> float:
    if isinstance(expires_in, bool) or not isinstance(expires_in, int | float) or expires_in <= 0:
        return _DEFAULT_SECONDS
    return float(min(expires_in, _LONGEST_SECONDS))
