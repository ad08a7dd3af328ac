"""The console's addresses, whose pages are imported when the first of them is asked for.

They are a good part of what a gateway would else begin with, in time and in memory, and most
processes of a gateway never show one.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import cast

import anyio
from anyio.to_thread import run_sync
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Receive, Scope, Send

from sayso.access import API
from sayso.console.home import HOME

Make = Callable[[], Sequence[BaseRoute]]


class _Later:
    def __init__(self, make: Make) -> None:
        self._make = make
        self._made: Sequence[Route | Mount] = ()
        self._making = anyio.Lock()

    async def routes(self) -> Sequence[Route | Mount]:
        async with self._making:
            if not self._made:
                # In a thread, so that calls go on meanwhile.
                await run_sync(import_module, "sayso.console.routes")
                self._made = cast("Sequence[Route | Mount]", self._make())
        return self._made


class _Part:
    def __init__(self, later: _Later, index: int) -> None:
        self._later = later
        self._index = index

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        routes = await self._later.routes()
        await routes[self._index].app(scope, receive, send)


def later_routes(make: Make) -> list[BaseRoute]:
    """The console's routes, which `make` has from `sayso.console.make_routes` when it is called."""
    later = _Later(make)
    return [
        Route("/", _Part(later, 0)),
        Route(HOME, _Part(later, 1)),
        Mount(HOME, _Part(later, 2)),
        Mount(API, _Part(later, 3)),
    ]
