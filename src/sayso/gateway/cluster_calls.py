"""The calls under way in all processes of the gateway."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import anyio

from sayso.gateway.replicas import ReplicaClient
from sayso.guard import ActiveCalls

_SECONDS: Final = 0.5
"""How long others may take to say how far a call is: a page waits for it."""

_FIND: Final = "run"
_STOP: Final = "stop"


class Reached(NamedTuple):
    """The progress of a call, its total, and its server's message, if the server says them."""

    done: float | None
    total: float | None
    text: str | None


@dataclass(slots=True)
class Runs:
    """Looks here first, and asks the other processes only about what is not here."""

    active_calls: ActiveCalls
    replica_client: ReplicaClient

    def __post_init__(self) -> None:
        self.replica_client.handlers[_FIND] = self._found
        self.replica_client.handlers[_STOP] = self._stopped

    async def find(self, call: str) -> Reached | None:
        """Return the progress of a call; `None` where no process has it."""
        told = await self._found(call)
        if told is None:
            with anyio.move_on_after(_SECONDS):
                told = next(iter(await self.replica_client.send_all(_FIND, call)), None)
        if told is None:
            return None
        return Reached(*told)

    async def stop(self, call: str, *, by: str) -> bool:
        """Stop a call wherever it is; return whether it was there to stop."""
        if self.active_calls.stop(call, by):
            return True
        return any(await self.replica_client.send_all(_STOP, [call, by]))

    async def _found(self, call: Any) -> list[Any] | None:
        active = self.active_calls.find(call)
        return active and [active.done, active.total, active.text]

    async def _stopped(self, body: Any) -> bool | None:
        call, by = body
        return self.active_calls.stop(call, by) or None
