"""What runs a server for a course of calls, and tries again what a call has made suspicious."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from sayso.catalog import Tool
from sayso.sandbox import Layer
from sayso.verify.call import Made
from sayso.verify.confirm import Cleared, Shrink, Suspicion
from sayso.verify.judge import Confirmed, Hearing
from sayso.verify.sandboxed_server import Stage


class Host(Protocol):
    """A server in containment, in this process, or behind a URL.

    `holding` are the layers that contain it, `observing` those that watch it; both are known once
    a stage was opened. `limit` is why nothing can be supported here, empty where it can.
    `has_fresh_state` says whether each stage begins with the same state as the first.
    """

    @property
    def holding(self) -> Sequence[Layer]: ...

    @property
    def observing(self) -> Sequence[Layer]: ...

    @property
    def notes(self) -> tuple[str, ...]: ...

    @property
    def limit(self) -> str: ...

    @property
    def has_fresh_state(self) -> bool: ...

    def stage(self, *, number: int = 0) -> AbstractAsyncContextManager[Stage]:
        """Start the server, or connect to it, with all observers; calls count from `number` on."""
        ...

    def why_not(self, tool: Tool) -> str:
        """Why a tool must not be called here; empty where it may."""
        ...

    def learn(self, made: Sequence[Made]) -> None:
        """Take in what is known once tools were called."""
        ...

    def again(self, made: Made) -> Made:
        """A call graded again, by all that is known now."""
        ...

    async def confirm(
        self, suspicion: Suspicion, hearing: Hearing, shrink: Shrink
    ) -> Confirmed | Cleared | str:
        """What was shown again, that there is nothing to it, or why nothing was shown."""
        ...
