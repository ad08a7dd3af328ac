"""Two ways to verify a token: by its signature, or by introspection.

`verify` raises `UnfitError` for an invalid token, and `UnreachableError` or `KeysError` if the
token cannot be verified. `seconds` is how long a result may be cached.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from sayso.access.claims import Terms, Verified, check_access, read_claims
from sayso.access.issuer import Issuer, address_in, discover
from sayso.access.refusal import UnfitError
from sayso.access.token import read_header, read_signed
from sayso.connect import ClientAuth, Fetched, Fetcher, RefreshingCache
from sayso.errors import TimedOutError, UnreachableError

SIGNED_SECONDS: Final = 60.0
"""How long a verified signature is cached, even if its key is revoked in the meantime."""
_AT_ONCE: Final = 16
_METADATA_SECONDS: Final = 3600.0


@dataclass(slots=True)
class Signed:
    """Verifies signed tokens (JWTs, RFC 9068)."""

    issuer: Issuer
    terms: Terms
    typ: str | None = None
    seconds: float = SIGNED_SECONDS
    now: Callable[[], float] = time.time

    async def verify(self, token: str) -> Verified:
        header = read_header(token, self.issuer.algorithms, self.typ)
        key = await self.issuer.key(header)
        claims = read_signed(token, header, key)
        check_access(claims)
        return read_claims(claims, self.terms, now=self.now())


@dataclass(slots=True)
class Introspected:
    """Verifies tokens by introspection (RFC 7662), at most 16 at once."""

    terms: Terms
    fetcher: Fetcher
    auth: ClientAuth = field(repr=False)
    url: str | None = None
    seconds: float = 30.0
    now: Callable[[], float] = time.time
    _endpoint: RefreshingCache[str] = field(init=False, repr=False)
    _turn: anyio.CapacityLimiter = field(
        default_factory=lambda: anyio.CapacityLimiter(_AT_ONCE), repr=False
    )

    def __post_init__(self) -> None:
        self._endpoint = RefreshingCache(self._discover)

    async def verify(self, token: str) -> Verified:
        url = self.url or await self._endpoint.get()
        try:
            with anyio.fail_after(self.fetcher.seconds):
                await self._turn.acquire()
        except TimeoutError:
            raise TimedOutError(
                "too many tokens are waiting for introspection", where=url
            ) from None
        try:
            form = {"token": token, "token_type_hint": "access_token"}
            reply = await self.fetcher.post(url, form, self.auth)
        finally:
            self._turn.release()
        if not reply.is_ok:
            what = f"token introspection failed: {reply.error}"
            raise UnreachableError(what, where=url)
        return self._read(reply.body)

    def _read(self, answer: Mapping[str, Any]) -> Verified:
        if answer.get("active") is not True:
            raise UnfitError("The token is not valid here.")
        check_access(answer)
        return read_claims(answer, self.terms, now=self.now(), is_answer=True)

    async def _discover(self) -> Fetched[str]:
        document = await discover(self.fetcher, self.terms.issuer)
        url = address_in(document, "introspection_endpoint", self.terms.issuer)
        return Fetched(url, _METADATA_SECONDS, math.inf)
