"""Asynchronous work on behalf of a plain function, where no event loop runs yet."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
import anyio.lowlevel

from sayso.errors import UsageError

T = TypeVar("T")


def run_here(work: Callable[[], Awaitable[T]], *, where: str, instead: str) -> T:
    """What `work` gives, in an event loop of its own.

    Raises `UsageError` where one runs already: `where` is who was called there, and `instead` what
    to write.
    """
    if _is_running():
        raise UsageError("an event loop runs here already", where=where, fix=f"Write {instead}.")
    return anyio.run(work)


def _is_running() -> bool:
    try:
        anyio.lowlevel.current_token()
    except RuntimeError:
        return False
    return True
