"""Looking on while calls take their steps, from one place: no step knows of it."""

from collections.abc import Callable
from typing import Protocol

from sayso.guard.call import Answer, Call


class Trail(Protocol):
    """What one who looks on keeps of one call. Must not raise: the call goes on either way."""

    def reach(self, step: str) -> None:
        """The call goes into this step; into some more than once, where it is tried again."""
        ...

    def end(self, answer: Answer | None, error: BaseException | None) -> None:
        """The call has its answer, or ends with an error; a cancellation is one too."""
        ...


Watch = Callable[[Call], Trail]
"""Begins the trail of a call, before its first step."""
