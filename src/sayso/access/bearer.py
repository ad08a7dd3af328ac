"""Access by bearer tokens: this gateway as an OAuth 2 resource server."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from sayso.access.claims import Verified
from sayso.access.refusal import UNAVAILABLE, Challenge, RefusedError, UnfitError
from sayso.access.request_info import RequestInfo
from sayso.access.resource import Resource, is_api
from sayso.access.token_cache import TokenCache
from sayso.access.verifiers import Introspected, Signed
from sayso.connect import Wallet
from sayso.errors import KeysError, UnreachableError
from sayso.policy import Principal

_log: Final = logging.getLogger(__name__)
_UNFIT_SECONDS: Final = 5.0
"""How long a refusal is cached, for clients that retry at once."""
_FAILED_SECONDS: Final = 1.0

_Failure = UnfitError | UnreachableError


@dataclass(slots=True)
class Bearer:
    """Access by tokens that one issuer has issued for this gateway.

    `wallet` keeps them if a server behind needs them exchanged.
    """

    resource: Resource
    verifier: Signed | Introspected
    wallet: Wallet | None = None
    now: Callable[[], float] = time.time
    _genuine: TokenCache[Verified] = field(default_factory=TokenCache[Verified], repr=False)
    # A cache of its own, so that a flood of invalid tokens evicts no valid one.
    _others: TokenCache[_Failure] = field(default_factory=TokenCache["_Failure"], repr=False)
    _asked: dict[str, anyio.Event] = field(default_factory=dict[str, anyio.Event], repr=False)

    async def identify(self, request: RequestInfo) -> Principal:
        challenge = self.challenge(request.path)
        try:
            token = request.bearer()
            if token is None:
                raise challenge.refuse()
            verified = await self._verified(token)
            self._check(verified, request.path)
        except UnfitError as unfit:
            raise challenge.refuse(unfit) from None
        except (UnreachableError, KeysError) as error:
            # Neither error contains a token.
            _log.warning("tokens cannot be verified: %s", error)
            sentence = "Tokens cannot be verified at the moment."
            raise RefusedError(UNAVAILABLE, sentence) from None
        # A token for the API for screens is not for servers.
        if self.wallet is not None and not is_api(request.path):
            self.wallet.put(verified.principal, token, expires=verified.expires)
        return verified.principal

    def metadata(self, path: str) -> dict[str, Any]:
        return self.resource.metadata(path)

    def challenge(self, path: str) -> Challenge:
        return Challenge(self.resource.metadata_url(path), self.resource.scopes)

    def _check(self, verified: Verified, path: str) -> None:
        if not verified.audiences & self.resource.audiences(path):
            raise UnfitError("The token is for another resource.")
        if self.now() >= verified.expires:
            raise UnfitError("The token has expired.")
        if verified.is_delegated and is_api(path):
            # An agent that acts for a person must not answer for them.
            raise UnfitError("The token is delegated: its holder acts for somebody else.")
        held = verified.principal.scopes or frozenset()
        if not held.issuperset(self.resource.scopes):
            raise UnfitError("The token lacks a scope.", "insufficient_scope")

    async def _verified(self, token: str) -> Verified:
        while (found := self._known(token)) is None and token in self._asked:
            await self._asked[token].wait()
        if found is None:
            found = await self._ask(token)
        if isinstance(found, UnfitError):
            # A new error, because a traceback grows with every raise.
            raise UnfitError(found.sentence, found.code)
        if isinstance(found, UnreachableError):
            raise found.with_traceback(None)
        return found

    def _known(self, token: str) -> Verified | _Failure | None:
        return self._genuine.get(token) or self._others.get(token)

    async def _ask(self, token: str) -> Verified | _Failure:
        done = self._asked[token] = anyio.Event()
        try:
            found = await self.verifier.verify(token)
        except UnfitError as error:
            self._others.put(token, error, seconds=_UNFIT_SECONDS)
            return error
        except UnreachableError as error:
            self._others.put(token, error, seconds=_FAILED_SECONDS)
            return error
        finally:
            del self._asked[token]
            done.set()
        self._genuine.put(token, found, seconds=self.verifier.seconds)
        return found
