"""What a step of the guard is: its name, the calls it applies to, and its work."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

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
