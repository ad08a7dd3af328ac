"""Where a server runs for a session of calls: in containment, in this process, behind a URL."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from sayso.sandbox import Layer
from sayso.verify.confirm import Cleared, Shrink, Suspicion
from sayso.verify.grader import Grader
from sayso.verify.judge import Confirmed, ToolEvidence
from sayso.verify.observed_server import ObservedServer


class Environment(Protocol):
    """Starts a server, and tries again what a call has made suspicious.

    `holding` are the layers that contain it, `observing` those that watch it; both are known once
    a stage was opened. `limit` is why nothing can be supported here, empty where it can.
    `has_fresh_state` says whether each stage begins with the same state as the first, `is_safe`
    whether any tool may be called. `grader` is `None` where nothing is learnt from other calls.
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

    @property
    def is_safe(self) -> bool: ...

    @property
    def grader(self) -> Grader | None: ...

    def start(self, *, number: int = 0) -> AbstractAsyncContextManager[ObservedServer]:
        """Start the server, or connect to it, with all observers; calls count from `number` on."""
        ...

    async def confirm(
        self, suspicion: Suspicion, evidence: ToolEvidence, shrink: Shrink
    ) -> Confirmed | Cleared | str:
        """What was shown again, that there is nothing to it, or why nothing was shown."""
        ...
