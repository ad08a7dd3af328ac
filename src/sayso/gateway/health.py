"""The health of a server behind the gateway, as the console and `/readyz` show it."""

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """The state of a connection: never tried, connected, closed while unused, or failing."""

    UNTRIED = "untried"
    UP = "up"
    IDLE = "idle"
    FAILING = "failing"


@dataclass(slots=True)
class Health:
    """The health of one connection; `since` is when its state began, in Unix seconds.

    `why` is the last failure, and may quote the server. `version` is that of the protocol.
    """

    state: State = State.UNTRIED
    since: float = 0.0
    why: str | None = None
    version: str | None = None
    opened: int = 0
    failed: int = 0

    def is_up(self, version: str) -> None:
        self.opened += 1
        self.version = version
        self.why = None
        self._become(State.UP)

    def is_failing(self, why: str) -> None:
        self.failed += 1
        self.why = why
        self._become(State.FAILING)

    def is_idle(self) -> None:
        """It was let go of; the next call makes it anew."""
        self._become(State.IDLE)

    def _become(self, state: State) -> None:
        if self.state is not state:
            self.state = state
            self.since = time.time()


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """The health of one server: that of its worst connection, and how many there are.

    `worst` may only be shown to those who may see what servers say.
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
        """Return it as data; with `has_reasons` for those who may read what a server said."""
        worst = self.worst
        told: dict[str, Any] = {
            "name": self.name,
            "state": str(worst.state),
            "since": worst.since,
            "version": worst.version,
            "connections": self.connections,
            "opened": self.opened,
            "failed": self.failed,
        }
        if has_reasons and worst.why:
            told["why"] = worst.why
        return told
