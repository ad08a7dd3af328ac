"""Who a request comes from, however callers prove that here."""

from dataclasses import dataclass
from typing import Any, Protocol

from sayso.access.api_key_auth import Machines
from sayso.access.apikey import PREFIX
from sayso.access.bearer import Bearer
from sayso.access.refusal import UnfitError
from sayso.access.request_info import Arrival
from sayso.policy import Principal


class Access(Protocol):
    """Says who a request comes from."""

    async def identify(self, arrival: Arrival) -> Principal:
        """Who it is. Raises `RefusedError`, and `StoreError` where the store fails."""
        ...

    def metadata(self, path: str) -> dict[str, Any] | None:
        """What `/.well-known/oauth-protected-resource` and `path` answers; `None` is 404."""
        ...


@dataclass(frozen=True, slots=True)
class Together:
    """People with tokens, and machines with API keys, over the same header."""

    bearer: Bearer
    machines: Machines

    async def identify(self, arrival: Arrival) -> Principal:
        """See `Access.identify`. What looks like an API key is one, and no token."""
        try:
            token = arrival.bearer()
            if token is None or not token.startswith(PREFIX):
                return await self.bearer.identify(arrival)
            return await self.machines.holder(token)
        except UnfitError as unfit:
            raise self.bearer.challenge(arrival.path).refuse(unfit) from None

    def metadata(self, path: str) -> dict[str, Any] | None:
        """See `Access.metadata`."""
        return self.bearer.metadata(path)
