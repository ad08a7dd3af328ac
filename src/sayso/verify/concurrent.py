"""Work on several items at once. A task group alone would raise its errors in a group."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

from sayso.errors import SaysoError

T = TypeVar("T")
R = TypeVar("R")


async def do_all(work: Callable[[T], Awaitable[R]], items: Sequence[T]) -> list[R]:
    """Return `work` of each item, in order, all at once. The first error ends the others."""
    results: dict[int, R] = {}
    errors: list[SaysoError] = []

    async with anyio.create_task_group() as group:

        async def do(place: int, item: T) -> None:
            try:
                results[place] = await work(item)
            except SaysoError as error:
                errors.append(error)
                group.cancel_scope.cancel()

        for place, item in enumerate(items):
            group.start_soon(do, place, item)
    if errors:
        raise errors[0]
    return [results[place] for place in range(len(items))]
