"""The shutdown of a process: waiting calls end at once, running calls get some time.

`begin` ends calls that wait for a person. `give_up` cancels the tasks that wait for a server's
answer; the step `execute` turns that into an error, which `outcome` records. Both must end before
uvicorn's own shutdown, which cancels tasks even in shielded scopes. `cli.drain` sets the times.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio


class GivenUpError(Exception):
    """The process cannot wait any longer for a server's answer."""


@dataclass(slots=True)
class Shutdown:
    """The progress of a shutdown.

    `is_near`: new requests should go to another process. `is_watched`: a load balancer probes this
    process. `is_over`: no call may wait for a server. `tasks`: the tasks that wait for a server.
    """

    is_near: bool = False
    is_watched: bool = False
    is_over: bool = False
    tasks: set["asyncio.Task[object] | None"] = field(
        default_factory=set["asyncio.Task[object] | None"]
    )
    _on_begin: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def on_begin(self, act: Callable[[], None]) -> None:
        """Register `act`, which ends long waits when the shutdown begins."""
        self._on_begin.append(act)

    def begin(self) -> None:
        self.is_near = True
        for act in self._on_begin:
            act()

    def give_up(self) -> None:
        """Cancel all waits for servers; each call then ends with an error about its outcome."""
        self.is_over = True
        for task in [*self.tasks]:
            if task is not None:
                task.cancel()
