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
"""How long the refusal of a token is cached, because clients may retry at once."""
_FAILED_SECONDS: Final = 1.0

_Failure = UnfitError | UnreachableError


@dataclass(slots=True)
class Bearer:
    """Access by tokens that one issuer has issued for this gateway.

    `wallet`, if set, stores callers' tokens for servers that require a token exchange.
    """

    resource: Resource
    verifier: Signed | Introspected
    wallet: Wallet | None = None
    now: Callable[[], float] = time.time
    _genuine: TokenCache[Verified] = field(default_factory=TokenCache[Verified], repr=False)
    # A separate cache for failures, so that a flood of invalid tokens evicts no valid one.
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
            # Safe to log, because neither error contains a token.
            _log.warning("tokens cannot be verified: %s", error)
            sentence = "Tokens cannot be verified at the moment."
            raise RefusedError(UNAVAILABLE, sentence) from None
        # A token for the console's API is never exchanged for a server's.
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
            # An agent that acts for a person must not answer questions as this person.
            raise UnfitError("The token is delegated: its holder acts for another person.")
        held = verified.principal.scopes or frozenset()
        if not held.issuperset(self.resource.scopes):
            raise UnfitError("The token lacks a scope.", "insufficient_scope")

    async def _verified(self, token: str) -> Verified:
        while (result := self._known(token)) is None and token in self._asked:
            await self._asked[token].wait()
        if result is None:
            result = await self._ask(token)
        if isinstance(result, UnfitError):
            # Raise a copy: each raise would make the cached error's traceback longer.
            raise UnfitError(result.sentence, result.code)
        if isinstance(result, UnreachableError):
            raise result.with_traceback(None)
        return result

    def _known(self, token: str) -> Verified | _Failure | None:
        return self._genuine.get(token) or self._others.get(token)

    async def _ask(self, token: str) -> Verified | _Failure:
        done = self._asked[token] = anyio.Event()
        try:
            verified = await self.verifier.verify(token)
        except UnfitError as error:
            self._others.put(token, error, seconds=_UNFIT_SECONDS)
            return error
        except UnreachableError as error:
            self._others.put(token, error, seconds=_FAILED_SECONDS)
            return error
        finally:
            del self._asked[token]
            done.set()
        self._genuine.put(token, verified, seconds=self.verifier.seconds)
        return verified
