"""How a server behind the gateway fares, as the console and `/readyz` show it."""

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """Never tried, connected, let go of while nobody needs it, or failing."""

    UNTRIED = "untried"
    UP = "up"
    IDLE = "idle"
    FAILING = "failing"


@dataclass(slots=True)
class Health:
    """How one connection fares; `since` is when its state began, in Unix seconds.

    `why` is the error of the last failure, for a person who may see it: it may quote the server.
    `version` is that of the protocol, and `opened` and `failed` count connections.
    """

    state: State = State.UNTRIED
    since: float = 0.0
    why: str | None = None
    version: str | None = None
    opened: int = 0
    failed: int = 0

    def is_up(self, version: str) -> None:
        """A connection was made."""
        self.opened += 1
        self.version = version
        self.why = None
        self._become(State.UP)

    def is_failing(self, why: str) -> None:
        """A connection could not be made, or was lost."""
        self.failed += 1
        self.why = why
        self._become(State.FAILING)

    def is_idle(self) -> None:
        """It was let go of; the next call makes it anew."""
        self._become(State.IDLE)

    def _become(self, state: State) -> None:
        if self.state is not state:
            self.state, self.since = state, time.time()


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """One server: how the worst of its connections fares that are needed, and how many there are.

    `worst` is shared with nobody who may not see what servers say.
    """

    name: str
    worst: Health
    connections: int
    opened: int
    failed: int

    @property
    def is_failing(self) -> bool:
        """Whether a connection was lost, or could not be made, and none was made since."""
        return self.worst.state is State.FAILING

    def to_dict(self, *, has_reasons: bool = False) -> dict[str, Any]:
        """As data; with `has_reasons` for those who may read what a server said."""
        worst = self.worst
        reasons = {"why": worst.why} if has_reasons and worst.why else {}
        return {
            "name": self.name,
            "state": str(worst.state),
            "since": worst.since,
            "version": worst.version,
            "connections": self.connections,
            "opened": self.opened,
            "failed": self.failed,
            **reasons,
        }
