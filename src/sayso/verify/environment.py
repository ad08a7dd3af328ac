"""The environment of a server under test: a sandbox, this process, or a URL."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

from sayso.sandbox import CONTAINING, Layer
from sayso.verify.confirm import Shrink
from sayso.verify.grader import Grader
from sayso.verify.judge import Confirmed, ToolEvidence
from sayso.verify.observed_server import ObservedServer
from sayso.verify.suspicion import Cleared, Suspicion

COMPARED_OUTPUT: Final = Layer("output", is_active=True, detail="two calls with the same arguments")


def no_containment(detail: str) -> tuple[Layer, ...]:
    """Return all layers of containment, inactive for the reason `detail`."""
    return tuple(Layer(name, is_active=False, detail=detail) for name in sorted(CONTAINING))


class Environment(Protocol):
    """Starts a server and confirms suspicions.

    `holding` are the layers of containment and `observing` those of observation, known after the
    first start. `limit` is the reason why no hint can be supported here, or empty. With
    `has_fresh_state`, each start has the same state. With `is_safe`, any tool may be called.
    `grader` is `None` if other calls cannot change a grade.
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
        """Start the server, or connect to it, with all observers. Call numbers follow `number`.

        Waits while as many servers run as may run at once.
        """
        ...

    async def confirm(
        self, suspicion: Suspicion, evidence: ToolEvidence, shrink: Shrink
    ) -> Confirmed | Cleared | str:
        """Return the reproduced effects, why they are harmless, or why nobody is accused."""
        ...
