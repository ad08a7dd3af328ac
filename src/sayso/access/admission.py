"""Admission of requests: checks of `Host`, `Origin` and the caller."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from sayso.access.apikey import PREFIX, ApiKeyAuth
from sayso.access.bearer import Bearer
from sayso.access.claims import Terms
from sayso.access.issuer import Issuer
from sayso.access.loopback import LoopbackOnly
from sayso.access.origin import Names, is_own_host, is_own_origin
from sayso.access.refusal import RefusedError, UnfitError
from sayso.access.request_info import RequestInfo
from sayso.access.resource import Resource
from sayso.access.settings import OAuth, Settings
from sayso.access.verifiers import Introspected, Signed
from sayso.connect import Fetcher, Wallet, open_fetcher
from sayso.keys import Keyring
from sayso.policy import Principal
from sayso.store import ApiKeys


class Access(Protocol):
    """Identifies the caller of a request."""

    async def identify(self, request: RequestInfo) -> Principal:
        """Return the caller. Raises `RefusedError`, and `StoreError` if the store fails."""
        ...

    def metadata(self, path: str) -> dict[str, Any] | None:
        """Return the protected resource metadata of `path` (RFC 9728); `None` means 404."""
        ...


async def admit(request: RequestInfo, access: Access, names: Names) -> Principal:
    """Check a request's `Host` and `Origin` against `names`, and return its caller.

    Raises `RefusedError`, and `StoreError` if the store fails.
    """
    if not is_own_host(request.headers, names):
        raise RefusedError(421, "This gateway does not serve that host name.")
    if not is_own_origin(request.headers, names):
        raise RefusedError(403, "Requests from other web pages are not allowed.")
    return await access.identify(request)


@dataclass(frozen=True, slots=True)
class TokenOrApiKey:
    """Access by a person's token or a machine's API key, both in the header `Authorization`."""

    bearer: Bearer
    api_keys: ApiKeyAuth

    async def identify(self, request: RequestInfo) -> Principal:
        try:
            token = request.bearer()
            if token is None or not token.startswith(PREFIX):
                return await self.bearer.identify(request)
            return await self.api_keys.holder(token)
        except UnfitError as unfit:
            raise self.bearer.challenge(request.path).refuse(unfit) from None

    def metadata(self, path: str) -> dict[str, Any] | None:
        return self.bearer.metadata(path)


@asynccontextmanager
async def open_access(
    settings: Settings | None,
    api_keys: ApiKeys,
    keys: Keyring,
    *,
    url: str,
    wallet: Wallet | None = None,
) -> AsyncGenerator[Access]:
    """Open the access that `settings` describe; without settings, accept only this machine.

    `url` is the gateway's public URL. `wallet` stores callers' tokens for servers behind the
    gateway that require a token exchange. Nothing is fetched before the first call.
    """
    key_auth = bearer = None
    async with open_fetcher() as fetcher:
        if settings is not None and settings.has_api_keys:
            key_auth = ApiKeyAuth(api_keys, keys)
        if settings is not None and settings.oauth is not None:
            bearer = _bearer(settings.oauth, fetcher, url, wallet)
        if bearer is not None and key_auth is not None:
            yield TokenOrApiKey(bearer, key_auth)
        else:
            yield bearer or key_auth or LoopbackOnly()


def _bearer(oauth: OAuth, fetcher: Fetcher, url: str, wallet: Wallet | None) -> Bearer:
    resource = Resource(url, oauth.issuer, oauth.scopes, oauth.audience)
    terms = Terms(oauth.issuer, oauth.leeway, oauth.roles, oauth.tenant)
    asked = oauth.introspection
    if asked is not None:
        verifier = Introspected(terms, fetcher, asked.auth, asked.url, asked.seconds)
        return Bearer(resource, verifier, wallet)
    issuer = Issuer(oauth.issuer, fetcher, oauth.algorithms, oauth.jwks_url)
    return Bearer(resource, Signed(issuer, terms, oauth.typ), wallet)
