"""Callers with tokens of an authorization server: this gateway as an OAuth 2 resource server."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from sayso.access.claims import Verified
from sayso.access.refusal import UNAVAILABLE, Challenge, RefusedError, UnfitError
from sayso.access.request_info import Arrival
from sayso.access.resource import Resource, is_api
from sayso.access.token_cache import Recent
from sayso.access.verifiers import Introspected, Signed
from sayso.connect import Wallet
from sayso.errors import KeysError, UnreachableError
from sayso.policy import Principal

_log: Final = logging.getLogger(__name__)
_UNFIT_SECONDS: Final = 5.0
"""How long a refusal is remembered: a client that tries again at once asks nobody."""
_FAILED_SECONDS: Final = 1.0

_Failure = UnfitError | UnreachableError


@dataclass(slots=True)
class Bearer:
    """Takes tokens that one issuer has issued for this gateway.

    `wallet` keeps them where a server behind wants them exchanged; nothing else does.
    """

    resource: Resource
    verifier: Signed | Introspected
    wallet: Wallet | None = None
    now: Callable[[], float] = time.time
    _genuine: Recent[Verified] = field(default_factory=Recent[Verified], repr=False)
    # Apart, so that a flood of made-up tokens drives out no genuine one.
    _others: Recent[_Failure] = field(default_factory=Recent["_Failure"], repr=False)
    _asked: dict[str, anyio.Event] = field(default_factory=dict[str, anyio.Event], repr=False)

    async def identify(self, arrival: Arrival) -> Principal:
        challenge = self.challenge(arrival.path)
        try:
            token = arrival.bearer()
            if token is None:
                raise challenge.refuse()
            verified = await self._verified(token)
            self._check(verified, arrival.path)
        except UnfitError as unfit:
            raise challenge.refuse(unfit) from None
        except (UnreachableError, KeysError) as error:
            # Without a token in it: neither of them ever holds one.
            _log.warning("tokens cannot be verified: %s", error)
            sentence = "Tokens cannot be verified at the moment."
            raise RefusedError(UNAVAILABLE, sentence) from None
        # A token for screens is for no server behind.
        if self.wallet is not None and not is_api(arrival.path):
            self.wallet.put(verified.principal, token, expires=verified.expires)
        return verified.principal

    def metadata(self, path: str) -> dict[str, Any]:
        return self.resource.metadata(path)

    def challenge(self, path: str) -> Challenge:
        return Challenge(self.resource.metadata_url(path), self.resource.scopes)

    def _check(self, found: Verified, path: str) -> None:
        """Raise where a genuine token is not for this, not now, or not enough."""
        if not found.audiences & self.resource.audiences(path):
            raise UnfitError("The token is for another resource.")
        if self.now() >= found.expires:
            raise UnfitError("The token has expired.")
        if found.is_delegated and is_api(path):
            # Who acts for a person, as an agent does, does not answer for them.
            raise UnfitError("The token is for somebody who acts for another.")
        held = found.principal.scopes or frozenset()
        if not held.issuperset(self.resource.scopes):
            raise UnfitError("The token lacks a scope.", "insufficient_scope")

    async def _verified(self, token: str) -> Verified:
        """Verify a token once, however many requests bring it at a time."""
        while (found := self._known(token)) is None and token in self._asked:
            await self._asked[token].wait()
        if found is None:
            found = await self._ask(token)
        if isinstance(found, UnfitError):
            # A new one each time: a traceback grows with every raise.
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
