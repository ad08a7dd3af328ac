"""The health of a server behind the gateway, for the console and `/readyz`."""

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """The state of a connection. `UP` is connected; `IDLE` was closed because it was unused."""

    UNTRIED = "untried"
    UP = "up"
    IDLE = "idle"
    FAILING = "failing"


@dataclass(slots=True)
class Health:
    """The health of one connection; `since` is when its state began, in Unix seconds.

    `why` is the last failure, and may quote the server. `version` is the protocol version.
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
        """Mark the connection as closed because unused; the next call connects again."""
        self._become(State.IDLE)

    def _become(self, state: State) -> None:
        if self.state is not state:
            self.state = state
            self.since = time.time()


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """The health of one server, with counts over its connections.

    `worst` is a failing connection or, if none is, one that is up, else idle, else untried. It may
    quote the server, so show it only to people who may read the server's text.
    """

    name: str
    worst: Health
    connections: int
    opened: int
    failed: int

    @property
    def is_failing(self) -> bool:
        """Return whether a connection was lost or failed, and no new one has succeeded."""
        return self.worst.state is State.FAILING

    def to_dict(self, *, has_reasons: bool = False) -> dict[str, Any]:
        """Return the health as data; `has_reasons` adds the last failure (may quote the server)."""
        worst = self.worst
        document: dict[str, Any] = {
            "name": self.name,
            "state": str(worst.state),
            "since": worst.since,
            "version": worst.version,
            "connections": self.connections,
            "opened": self.opened,
            "failed": self.failed,
        }
        if has_reasons and worst.why:
            document["why"] = worst.why
        return document
