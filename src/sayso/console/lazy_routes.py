"""Routes of the console that import its pages with the first request.

The pages cost start time and memory, and most processes of a gateway never show one.
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


class _LazyRoutes:
    def __init__(self, make: Make) -> None:
        self._make = make
        self._made: Sequence[Route | Mount] = ()
        self._making = anyio.Lock()

    async def routes(self) -> Sequence[Route | Mount]:
        async with self._making:
            if not self._made:
                # Import in a thread, so that other requests are not blocked.
                await run_sync(import_module, "sayso.console.routes")
                self._made = cast("Sequence[Route | Mount]", self._make())
        return self._made


class _LazyApp:
    def __init__(self, lazy: _LazyRoutes, index: int) -> None:
        self._lazy = lazy
        self._index = index

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        routes = await self._lazy.routes()
        await routes[self._index].app(scope, receive, send)


def make_lazy_routes(make: Make) -> list[BaseRoute]:
    """Return the console's routes. The first request gets the real ones from `make`."""
    lazy = _LazyRoutes(make)
    return [
        Route("/", _LazyApp(lazy, 0)),
        Route(HOME, _LazyApp(lazy, 1)),
        Mount(HOME, _LazyApp(lazy, 2)),
        Mount(API, _LazyApp(lazy, 3)),
    ]
