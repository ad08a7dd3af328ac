"""Background tasks that run during a block of code and end with it."""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio


@asynccontextmanager
async def beside(*works: Callable[[], Coroutine[Any, Any, Any]]) -> AsyncGenerator[None]:
    """Run `works` until the block is left; then they are cancelled.

    An error of the block is raised unchanged, and not in an exception group as by a task group.
    """
    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        for work in works:
            group.start_soon(work)
        try:
            yield
        except Exception as error:  # noqa: BLE001 - raised again below, outside the group that would wrap it
            failure = error
        finally:
            group.cancel_scope.cancel()
    if failure is not None:
        raise failure
