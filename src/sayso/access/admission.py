"""Admission of a request: by which name, from which page, and from whom."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from sayso.access.apikey import PREFIX, Machines
from sayso.access.bearer import Bearer
from sayso.access.claims import Terms
from sayso.access.issuer import Issuer
from sayso.access.loopback import Local
from sayso.access.origin import Names, is_own_host, is_own_origin
from sayso.access.refusal import RefusedError, UnfitError
from sayso.access.request_info import Arrival
from sayso.access.resource import Resource
from sayso.access.settings import OAuth, Settings
from sayso.access.verifiers import Introspected, Signed
from sayso.connect import Fetcher, Wallet, open_fetcher
from sayso.keys import Keyring
from sayso.policy import Principal
from sayso.store import ApiKeys


class Access(Protocol):
    """Identifies the caller of a request."""

    async def identify(self, arrival: Arrival) -> Principal:
        """Return the caller. Raises `RefusedError`, and `StoreError` where the store fails."""
        ...

    def metadata(self, path: str) -> dict[str, Any] | None:
        """Return the protected resource metadata of `path` (RFC 9728); `None` is 404."""
        ...


async def admit(arrival: Arrival, access: Access, names: Names) -> Principal:
    """Return the caller of a request that came by sayso's name and from no foreign page.

    Raises `RefusedError`, and `StoreError` where the store fails.
    """
    if not is_own_host(arrival.headers, names):
        raise RefusedError(421, "This gateway does not go by that name.")
    if not is_own_origin(arrival.headers, names):
        raise RefusedError(403, "Web pages of others may not call this gateway.")
    return await access.identify(arrival)


@dataclass(frozen=True, slots=True)
class Together:
    """People with tokens, and machines with API keys, over the same header."""

    bearer: Bearer
    machines: Machines

    async def identify(self, arrival: Arrival) -> Principal:
        """Take what looks like an API key for one, and for no token."""
        try:
            token = arrival.bearer()
            if token is None or not token.startswith(PREFIX):
                return await self.bearer.identify(arrival)
            return await self.machines.holder(token)
        except UnfitError as unfit:
            raise self.bearer.challenge(arrival.path).refuse(unfit) from None

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
    """Open the access that `settings` describe; without them, for callers on this machine.

    `url` is where others reach the gateway. `wallet` is given where some server behind wants
    callers' tokens exchanged. Nothing is fetched before the first call.
    """
    machines = bearer = None
    async with open_fetcher() as fetcher:
        if settings is not None and settings.has_api_keys:
            machines = Machines(api_keys, keys)
        if settings is not None and settings.oauth is not None:
            bearer = _bearer(settings.oauth, fetcher, url, wallet)
        if bearer is not None and machines is not None:
            yield Together(bearer, machines)
        else:
            yield bearer or machines or Local()


def _bearer(oauth: OAuth, fetcher: Fetcher, url: str, wallet: Wallet | None) -> Bearer:
    resource = Resource(url, oauth.issuer, oauth.scopes, oauth.audience)
    terms = Terms(oauth.issuer, oauth.leeway, oauth.roles, oauth.tenant)
    asked = oauth.introspection
    if asked is not None:
        verifier = Introspected(terms, fetcher, asked.auth, asked.url, asked.seconds)
        return Bearer(resource, verifier, wallet)
    issuer = Issuer(oauth.issuer, fetcher, oauth.algorithms, oauth.jwks_url)
    return Bearer(resource, Signed(issuer, terms, oauth.typ), wallet)
