"""An issuer of tokens and its keys, which are discovered (RFC 8414), cached and renewed."""

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
"""How long cached keys are used while the issuer does not answer, even if one was revoked."""
RENEW_SECONDS: Final = 10.0
"""The shortest interval between two renewals because of unknown keys."""


@dataclass(slots=True)
class Issuer:
    """An issuer of tokens. Without `jwks_url`, its metadata states the URL of its keys."""

    issuer: str
    fetcher: Fetcher
    algorithms: Sequence[str]
    jwks_url: str | None = None
    clock: Callable[[], float] = time.monotonic
    _keys: RefreshingCache[KeySet] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._keys = RefreshingCache(self._fetch, cooldown=RENEW_SECONDS, clock=self.clock)

    async def key(self, header: Header) -> Key:
        """Return the key that a token's header names.

        Raises `UnfitError` for an unknown key, and `UnreachableError` if no keys can be fetched.
        """
        key = (await self._keys.get()).find(header.kid, header.algorithm)
        if key is None:
            # Fetch the keys again, because the issuer may have rotated them.
            key = (await self._keys.renew()).find(header.kid, header.algorithm)
        if key is None:
            raise UnfitError("The token was signed with an unknown key.")
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
            raise UnreachableError("no valid key set (JWKS)", where=url)
        return Fetched(keys, FRESH_SECONDS, USABLE_SECONDS)


async def discover(fetcher: Fetcher, issuer: str) -> dict[str, Any]:
    """Return the issuer's metadata. Raises `UnreachableError` if it is missing or invalid."""
    reply = Reply(0, {})
    for url in _metadata_urls(issuer):
        reply = await fetcher.get(url)
        if reply.is_ok:
            break
    if not reply.is_ok:
        fix = "Set jwks_url to the URL of the issuer's keys."
        raise UnreachableError("the issuer has no metadata", where=issuer, fix=fix)
    if reply.body.get("issuer") != issuer:
        # RFC 8414, section 3.3 requires this check.
        fix = "Write the issuer exactly as in its metadata."
        raise UnreachableError("the metadata names another issuer", where=issuer, fix=fix)
    return dict(reply.body)


def address_in(document: dict[str, Any], name: str, issuer: str) -> str:
    """Return the URL `name` in an issuer's metadata. Raises `UnreachableError` if invalid."""
    url = document.get(name)
    if not isinstance(url, str) or fault_of_url(url) or not is_private(url):
        raise UnreachableError(f"the metadata has no valid {name}", where=issuer)
    return url


def _metadata_urls(issuer: str) -> list[str]:
    """Return the metadata's possible URLs, by RFC 8414, section 3.1, and OpenID Connect."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    root = f"{parts.scheme}://{parts.netloc}/.well-known"
    urls = [
        f"{root}/oauth-authorization-server{path}",
        f"{root}/openid-configuration{path}",
        f"{parts.scheme}://{parts.netloc}{path}/.well-known/openid-configuration",
    ]
    return list(dict.fromkeys(urls))
