"""Callers with API keys: machines, which cannot log in."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from sayso.access.apikey import is_genuine, make_api_key, read_key
from sayso.access.claims import KEY_SUBJECT
from sayso.access.refusal import Challenge, UnfitError
from sayso.access.request_info import Arrival
from sayso.access.token_cache import Recent
from sayso.keys import Keyring
from sayso.policy import Principal
from sayso.store import ApiKeyRow, ApiKeys

KEY_SECONDS: Final = 2.0
"""How long a key that was taken back may still be taken, on any replica."""
_HOUR: Final = 3600.0
_INVALID: Final = "The API key is not valid here."
_MISTYPED: Final = "This is no whole API key: was all of it copied?"


@dataclass(slots=True)
class Machines:
    """Takes the API keys that `sayso keys create` has made. Subjects are `key:` and the name."""

    api_keys: ApiKeys
    keys: Keyring = field(repr=False)
    now: Callable[[], float] = time.time
    recent: Recent[tuple[Principal, float]] = field(
        default_factory=Recent["tuple[Principal, float]"], repr=False
    )
    # So that an id that is not there takes as long as a wrong secret.
    _nobody: ApiKeyRow = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _, self._nobody = make_api_key(self.keys, "nobody", now=0.0, by="")

    async def identify(self, arrival: Arrival) -> Principal:
        """Which machine a request comes from. Raises `RefusedError`."""
        challenge = Challenge()
        try:
            token = arrival.bearer()
            if token is None:
                raise challenge.refuse()
            return await self.holder(token)
        except UnfitError as unfit:
            raise challenge.refuse(unfit) from None

    def metadata(self, path: str) -> dict[str, Any] | None:
        """None: nobody issues keys but whoever runs sayso."""
        del path

    async def holder(self, token: str) -> Principal:
        """Whose key this is. Raises `UnfitError`, and `StoreError` where that cannot be told."""
        found = self.recent.get(token) or await self._look(token)
        principal, expires = found
        if self.now() >= expires:
            raise UnfitError(_INVALID)
        return principal

    async def _look(self, token: str) -> tuple[Principal, float]:
        text = read_key(token)
        if text is None:
            raise UnfitError(_MISTYPED)
        row = await self.api_keys.find(text.id)
        is_held = is_genuine(self.keys, row or self._nobody, text.secret)
        if row is None or not is_held or row.revoked_at is not None:
            raise UnfitError(_INVALID)
        await self._note_use(row)
        found = _principal(row), float("inf") if row.expires is None else row.expires
        self.recent.put(token, found, seconds=KEY_SECONDS)
        return found

    async def _note_use(self, row: ApiKeyRow) -> None:
        """Write down the hour: that tells whether a key is in use, at one write an hour."""
        hour = self.now() // _HOUR * _HOUR
        if (row.used or 0.0) < hour:
            await self.api_keys.touch(row.id, at=hour)


def _principal(row: ApiKeyRow) -> Principal:
    return Principal(
        f"{KEY_SUBJECT}{row.name}",
        scopes=frozenset(json.loads(row.scopes)),
        roles=frozenset(json.loads(row.roles)),
    )
