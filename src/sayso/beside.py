"""Background tasks that run during a block of code and end with it."""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio


@asynccontextmanager
async def beside(*works: Callable[[], Coroutine[Any, Any, Any]]) -> AsyncGenerator[None]:
    """Run `works` in the background until the block ends; then cancel them.

    An error of the block is raised unchanged. (A task group would wrap it in an exception group.)
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
