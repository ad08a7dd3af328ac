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
    """A step that answers the call itself, or returns `None` to let it go on."""

    name: str
    applies: Applies
    run: Check


@dataclass(frozen=True, slots=True)
class WrappingStep:
    """A step around the steps after it: it takes the call through them, and sees their answer."""

    name: str
    applies: Applies
    run: Wrap


class Trail(Protocol):
    """An observer's view of one call; no step knows of it. Its methods must not raise."""

    def reach(self, step: str) -> None:
        """Note that the call reaches a step; some more than once, where it is tried again."""
        ...

    def end(self, answer: Answer | None, error: BaseException | None) -> None:
        """Note that the call has its answer, or ends with an error or a cancellation."""
        ...


Watch = Callable[[Call], Trail]
"""Begins the trail of a call, before its first step."""
