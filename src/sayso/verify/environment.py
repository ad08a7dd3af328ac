"""The environment of a server under test: a box, this process, or a URL."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

from sayso.sandbox import CONTAINING, Layer
from sayso.verify.confirm import Cleared, Shrink, Suspicion
from sayso.verify.grader import Grader
from sayso.verify.judge import Confirmed, ToolEvidence
from sayso.verify.observed_server import ObservedServer

COMPARED_OUTPUT: Final = Layer("output", is_active=True, detail="two calls with the same arguments")


def no_containment(detail: str) -> tuple[Layer, ...]:
    """Return all layers of containment, inactive for the reason `detail`."""
    return tuple(Layer(name, is_active=False, detail=detail) for name in sorted(CONTAINING))


class Environment(Protocol):
    """Starts a server and confirms suspicions.

    The layers `holding` and `observing` it are known once a server was started. `limit` is why
    nothing can be supported here, or empty. `has_fresh_state` says whether each start has the same
    state, `is_safe` whether any tool may be called. `grader` is `None` if other calls teach
    nothing.
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
        """Start or connect to the server with all observers; number calls after `number`."""
        ...

    async def confirm(
        self, suspicion: Suspicion, evidence: ToolEvidence, shrink: Shrink
    ) -> Confirmed | Cleared | str:
        """Return the reproduced effects, `CLEARED`, or why they were not reproduced."""
        ...
