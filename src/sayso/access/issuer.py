"""An issuer and its keys: where they are (RFC 8414), fetched once and kept, renewed when asked."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from sayso.access.keyset import Key, KeySet, read_keys
from sayso.access.refusal import UnfitError
from sayso.access.token import Header
from sayso.connect import Fetched, Fetcher, RefreshingCache, Reply, fault_of_url, is_private
from sayso.errors import UnreachableError

FRESH_SECONDS: Final = 600.0
USABLE_SECONDS: Final = 3600.0
"""How long keys are used while the issuer does not answer: no longer, since one may be revoked."""
RENEW_SECONDS: Final = 10.0
"""However many tokens name keys that are not there, no more often than this is looked for them."""


@dataclass(slots=True)
class Issuer:
    """Whose tokens are taken. Without `jwks_url` its own metadata says where its keys are."""

    issuer: str
    fetcher: Fetcher
    algorithms: Sequence[str]
    jwks_url: str | None = None
    clock: Callable[[], float] = time.monotonic
    _keys: RefreshingCache[KeySet] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._keys = RefreshingCache(self._fetch, cooldown=RENEW_SECONDS, clock=self.clock)

    async def key(self, header: Header) -> Key:
        """Return the key that a token says it was signed by.

        Raises `UnfitError` where the issuer has no such key, `UnreachableError` where there are
        no keys and it does not answer.
        """
        key = (await self._keys.get()).find(header.kid, header.algorithm)
        if key is None:
            # The issuer may have begun to sign with another key since.
            key = (await self._keys.renew()).find(header.kid, header.algorithm)
        if key is None:
            raise UnfitError("The token was signed by a key that is not known.")
        return key

    async def _fetch(self) -> Fetched[KeySet]:
        url = self.jwks_url
        if not url:
            document = await discover(self.fetcher, self.issuer)
            url = address_in(document, "jwks_uri", self.issuer)
        reply = await self.fetcher.get(url)
        keys = None
        if reply.is_ok:
            keys = read_keys(reply.body, self.algorithms)
        if keys is None:
            raise UnreachableError("there is no set of keys there", where=url)
        return Fetched(keys, FRESH_SECONDS, USABLE_SECONDS)


async def discover(fetcher: Fetcher, issuer: str) -> dict[str, Any]:
    """Return the issuer's metadata, which must be its own. Raises `UnreachableError`."""
    reply = Reply(0, {})
    for url in _metadata_urls(issuer):
        reply = await fetcher.get(url)
        if reply.is_ok:
            break
    if not reply.is_ok:
        fix = "Say where its keys are: jwks_url."
        raise UnreachableError("the issuer has no metadata", where=issuer, fix=fix)
    if reply.body.get("issuer") != issuer:
        # Otherwise anybody's metadata would do (RFC 8414, section 3.3).
        fix = "Write the issuer exactly as its metadata says it."
        raise UnreachableError("the metadata is of another issuer", where=issuer, fix=fix)
    return dict(reply.body)


def address_in(document: dict[str, Any], name: str, issuer: str) -> str:
    """Return an address in an issuer's metadata. Raises `UnreachableError` if it is unfit."""
    url = document.get(name)
    if not isinstance(url, str) or fault_of_url(url) or not is_private(url):
        raise UnreachableError(f"the metadata names no sound {name}", where=issuer)
    return url


def _metadata_urls(issuer: str) -> list[str]:
    """Follow RFC 8414, section 3.1, then OpenID Connect Discovery, both ways."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    root = f"{parts.scheme}://{parts.netloc}/.well-known"
    urls = [
        f"{root}/oauth-authorization-server{path}",
        f"{root}/openid-configuration{path}",
        f"{parts.scheme}://{parts.netloc}{path}/.well-known/openid-configuration",
    ]
    return list(dict.fromkeys(urls))
