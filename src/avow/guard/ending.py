"""How a process ends: who waits is sent away at once, who runs gets some time, and is then told."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio


class GivenUpError(Exception):
    """The process could not wait any longer for a server's answer."""


@dataclass(slots=True)
class Ending:
    """How far a process is with ending.

    `is_near` says that requests should go elsewhere, `is_watched` that somebody asks for that;
    `is_over` says that no server is waited for any more. `running` are the tasks that wait for a
    server's answer.
    """

    is_near: bool = False
    is_watched: bool = False
    is_over: bool = False
    running: set["asyncio.Task[object] | None"] = field(
        default_factory=set["asyncio.Task[object] | None"]
    )
    _first: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def first(self, act: Callable[[], None]) -> None:
        """Have `act` done when the end begins: it lets go of what would wait for long."""
        self._first.append(act)

    def begin(self) -> None:
        """Let go of all that waits, which loses nothing."""
        self.is_near = True
        for act in self._first:
            act()

    def give_up(self) -> None:
        """End the wait for servers' answers: each call that does is told what is known of it."""
        self.is_over = True
        for task in [*self.running]:
            if task is not None:
                task.cancel()
