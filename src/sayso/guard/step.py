"""A step of the guard: its name, the calls it applies to, and its work."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from sayso.guard.call import Answer, Call
from sayso.guard.context import GuardContext, Then

Applies = Callable[[Call], bool]
Check = Callable[[GuardContext, Call], Awaitable[Answer | None]]
Wrap = Callable[[GuardContext, Call, Then], Awaitable[Answer]]


def every_call(_: Call) -> bool:
    """Apply to every call."""
    return True


@dataclass(frozen=True, slots=True)
class Step:
    """A step that answers the call, or returns `None` to let it continue."""

    name: str
    applies: Applies
    run: Check


@dataclass(frozen=True, slots=True)
class WrappingStep:
    """A step around the later steps: it takes the call through them, and gets their answer."""

    name: str
    applies: Applies
    run: Wrap


class Trail(Protocol):
    """An observer of one call. Its methods must not raise."""

    def reach(self, step: str) -> None:
        """Note that the call reaches a step, perhaps again in a retry."""
        ...

    def end(self, answer: Answer | None, error: BaseException | None) -> None:
        """Note that the call ends with an answer, an error or a cancellation."""
        ...


Watch = Callable[[Call], Trail]
"""A function that returns the observer of a call, before its first step."""
