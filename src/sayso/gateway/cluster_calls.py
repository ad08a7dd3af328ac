"""The active calls in all processes of the gateway."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import anyio

from sayso.gateway.replicas import ReplicaClient
from sayso.guard import ActiveCalls

_SECONDS: Final = 0.5
"""The time limit for answers from other processes. It is short, because a web page waits."""

_FIND: Final = "run"
_STOP: Final = "stop"


class Reached(NamedTuple):
    """The progress of a call, its total, and the server's message; each `None` if not reported."""

    done: float | None
    total: float | None
    text: str | None


@dataclass(slots=True)
class ClusterCalls:
    """The active calls of all processes; this process is searched before the others."""

    active_calls: ActiveCalls
    replica_client: ReplicaClient

    def __post_init__(self) -> None:
        self.replica_client.handlers[_FIND] = self._found
        self.replica_client.handlers[_STOP] = self._stopped

    async def find(self, call: str) -> Reached | None:
        """Return the progress of a call; `None` if no process has it."""
        progress = await self._found(call)
        if progress is None:
            with anyio.move_on_after(_SECONDS):
                progress = next(iter(await self.replica_client.send_all(_FIND, call)), None)
        return None if progress is None else Reached(*progress)

    async def stop(self, call: str, *, by: str) -> bool:
        """Stop a call in any process; return whether it was active."""
        if self.active_calls.stop(call, by):
            return True
        return any(await self.replica_client.send_all(_STOP, [call, by]))

    async def _found(self, call: Any) -> list[Any] | None:
        active = self.active_calls.find(call)
        return active and [active.done, active.total, active.text]

    async def _stopped(self, body: Any) -> bool | None:
        call, by = body
        return self.active_calls.stop(call, by) or None
