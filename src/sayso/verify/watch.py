"""What an observer is to the run: it looks before a call and after it, and says what changed."""

from collections.abc import Sequence
from typing import Protocol

from sayso.sandbox import Layer
from sayso.trace import Effect


class Watcher(Protocol):
    """One observer of one running server. Calls are strictly one after the other.

    `begin` takes the state before a call, which may be what `end` saw last. `end` says what has
    changed since, with `life` unset, as effects of the call with that number. Both run after the
    server has come to rest.
    """

    @property
    def layer(self) -> Layer:
        """That it watches, and how."""
        ...

    async def begin(self) -> None:
        """Look before a call."""
        ...

    async def end(self, call: int) -> Sequence[Effect]:
        """Look after it."""
        ...
