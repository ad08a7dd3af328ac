"""The shutdown of a process: waiting calls end at once, running calls get some time.

`begin` ends what only waits. `give_up` cancels the tasks that wait for a server's answer, and the
step `execute` turns that into an error that `outcome` records. uvicorn's own shutdown cancels tasks
through every shield; nothing may be left for it then. `cli.drain` sets the times.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio


class GivenUpError(Exception):
    """The process could not wait any longer for a server's answer."""


@dataclass(slots=True)
class Shutdown:
    """How far the shutdown of a process is.

    `is_near` says that requests should go elsewhere, and `is_watched` that a load balancer asks for
    that. `is_over` says that no call waits for a server any more. `tasks` are the tasks that wait
    for a server's answer.
    """

    is_near: bool = False
    is_watched: bool = False
    is_over: bool = False
    tasks: set["asyncio.Task[object] | None"] = field(
        default_factory=set["asyncio.Task[object] | None"]
    )
    _on_begin: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def on_begin(self, act: Callable[[], None]) -> None:
        """Call `act` when the shutdown begins, to end what would wait for long."""
        self._on_begin.append(act)

    def begin(self) -> None:
        self.is_near = True
        for act in self._on_begin:
            act()

    def give_up(self) -> None:
        """Cancel the wait for servers' answers; each call is answered with what is known of it."""
        self.is_over = True
        for task in [*self.tasks]:
            if task is not None:
                task.cancel()
