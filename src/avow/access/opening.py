"""From what an access.toml says to an `Access` that is ready."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from avow.access.bearer import Bearer
from avow.access.claims import Terms
from avow.access.issuer import Issuer
from avow.access.local import Local
from avow.access.machines import Machines
from avow.access.resource import Resource
from avow.access.settings import OAuth, Settings
from avow.access.together import Access, Together
from avow.access.verifiers import Introspected, Signed, Verifier
from avow.connect.credentials import Wallet
from avow.connect.fetch import Fetcher, open_fetcher
from avow.keys import Keyring
from avow.store import Store


@asynccontextmanager
async def open_access(
    settings: Settings | None,
    store: Store,
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
        machines = Machines(store, keys) if settings and settings.has_api_keys else None
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
