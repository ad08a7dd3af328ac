"""From what an access.toml says to an `Access` that is ready."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from sayso.access.api_key_auth import Machines
from sayso.access.bearer import Bearer
from sayso.access.chain import Access, Together
from sayso.access.claims import Terms
from sayso.access.issuer import Issuer
from sayso.access.loopback import Local
from sayso.access.resource import Resource
from sayso.access.settings import OAuth, Settings
from sayso.access.verifiers import Introspected, Signed, Verifier
from sayso.connect import Fetcher, Wallet, open_fetcher
from sayso.keys import Keyring
from sayso.store import ApiKeys


@asynccontextmanager
async def open_access(
    settings: Settings | None,
    api_keys: ApiKeys,
    keys: Keyring,
    *,
    url: str,
    wallet: Wallet | None = None,
) -> AsyncGenerator[Access]:
    """Who may call, as `settings` say; without them, whoever is on this machine.

    `url` is where others reach the gateway. `wallet` is given where some server behind wants
    callers' tokens exchanged. Nothing is fetched before somebody calls.
    """
    async with open_fetcher() as fetcher:
        machines = Machines(api_keys, keys) if settings and settings.has_api_keys else None
        oauth = settings.oauth if settings else None
        bearer = None if oauth is None else _bearer(oauth, fetcher, url, wallet)
        if bearer is not None and machines is not None:
            yield Together(bearer, machines)
        else:
            yield bearer or machines or Local()


def _bearer(oauth: OAuth, fetcher: Fetcher, url: str, wallet: Wallet | None) -> Bearer:
    resource = Resource(url, oauth.issuer, oauth.scopes, oauth.audience)
    return Bearer(resource, _verifier(oauth, fetcher), wallet)


def _verifier(oauth: OAuth, fetcher: Fetcher) -> Verifier:
    terms = Terms(oauth.issuer, oauth.leeway, oauth.roles, oauth.tenant)
    if (asked := oauth.introspection) is not None:
        return Introspected(terms, fetcher, asked.auth, asked.url, asked.seconds)
    return Signed(Issuer(oauth.issuer, fetcher, oauth.algorithms, oauth.jwks_url), terms, oauth.typ)
