"""A queue that runs the calls of one agent one after another, if they must not overlap.

While a call waits for a person, later calls may run. Then that call waits for its turn again.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from enum import Enum, auto

import anyio


class _Place(Enum):
    """The state of a call. `COMING`: not ready yet. `AWAY`: a person decides. `GONE`: has left."""

    COMING = auto()
    WAITING = auto()
    RUNNING = auto()
    AWAY = auto()
    GONE = auto()


class CallQueue:
    """A queue of one agent's calls, for one event loop."""

    def __init__(self) -> None:
        self._line: list[Turn] = []

    def draw(self) -> "Turn":
        """Return a new place at the end of the queue. The caller must call its `leave` later."""
        turn = Turn(self)
        self._line.append(turn)
        return turn

    def may_run(self, turn: "Turn") -> bool:
        """Return whether no call runs and all calls before this one wait for a person."""
        if any(other.place is _Place.RUNNING for other in self._line):
            return False
        before = self._line[: self._line.index(turn)]
        return all(other.place is _Place.AWAY for other in before)

    def drop(self, turn: "Turn") -> None:
        self._line.remove(turn)
        self.move()

    def move(self) -> None:
        """Start the first waiting call that may run now."""
        for turn in self._line:
            if turn.place is _Place.WAITING and self.may_run(turn):
                turn.go()
                return


class Turn:
    """The place of one call in the queue."""

    def __init__(self, queue: CallQueue) -> None:
        self._queue = queue
        self._called = anyio.Event()
        self.place = _Place.COMING

    async def take(self) -> None:
        """Wait for the turn; return at once if the call has left the queue.

        A cancelled call keeps its place until `leave` is called.
        """
        if self.place is _Place.GONE:
            return
        self.place = _Place.WAITING
        self._called = anyio.Event()
        self._queue.move()
        await self._called.wait()

    @asynccontextmanager
    async def away(self) -> AsyncGenerator[None]:
        """Let later calls run during the block, and wait for the turn again at its end."""
        if self.place is not _Place.GONE:
            self.place = _Place.AWAY
            self._queue.move()
        yield
        await self.take()

    def go(self) -> None:
        self.place = _Place.RUNNING
        self._called.set()

    def leave(self) -> None:
        """Leave the queue; leaving twice has no effect."""
        if self.place is not _Place.GONE:
            self.place = _Place.GONE
            self._queue.drop(self)
