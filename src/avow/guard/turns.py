"""Turns: the calls of one agent that must not run side by side, one after another as they came.

Whoever waits for a person lets the others go by, and takes its turn again before it goes on.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from enum import Enum, auto

import anyio


class _Place(Enum):
    """Where a call is: on its way here, waiting, running, away with a person, or out of line."""

    COMING = auto()
    WAITING = auto()
    RUNNING = auto()
    AWAY = auto()
    GONE = auto()


class Turns:
    """The line of one agent's calls. Made for one event loop."""

    def __init__(self) -> None:
        self._line: list[Turn] = []

    def draw(self) -> "Turn":
        """The next place in line; whoever draws it must `leave`."""
        turn = Turn(self)
        self._line.append(turn)
        return turn

    def may_run(self, turn: "Turn") -> bool:
        """Whether nobody runs, and nobody before this one is about to."""
        if any(one.place is _Place.RUNNING for one in self._line):
            return False
        before = self._line[: self._line.index(turn)]
        return all(one.place is _Place.AWAY for one in before)

    def drop(self, turn: "Turn") -> None:
        """Take one out of the line."""
        self._line.remove(turn)
        self.move()

    def move(self) -> None:
        """Let whoever may run now do so."""
        for one in self._line:
            if one.place is _Place.WAITING and self.may_run(one):
                one.go()
                return


class Turn:
    """One call's place in line."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._called = anyio.Event()
        self.place = _Place.COMING

    async def take(self) -> None:
        """Wait for the turn; who has left the line waits for nobody.

        When cancelled, whoever drew it leaves.
        """
        if self.place is _Place.GONE:
            return
        self.place = _Place.WAITING
        self._called = anyio.Event()
        self._turns.move()
        await self._called.wait()

    @asynccontextmanager
    async def away(self) -> AsyncGenerator[None]:
        """Let the others go by meanwhile; the turn is taken again at the end."""
        if self.place is not _Place.GONE:
            self.place = _Place.AWAY
            self._turns.move()
        yield
        await self.take()

    def go(self) -> None:
        """Run, as the only one."""
        self.place = _Place.RUNNING
        self._called.set()

    def leave(self) -> None:
        """Give the turn up for good; again is nothing."""
        if self.place is not _Place.GONE:
            self.place = _Place.GONE
            self._turns.drop(self)
