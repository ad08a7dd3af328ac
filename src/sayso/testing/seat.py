"""A server with a guard of a test's own. The only file that knows how `bind` sits in a server.

The author's server stays as it is: a test gets a copy of the SDK's server inside, with a door and
a guard of its own. Several of them can be open at once, each with its own caller, policy and
people; they share the author's tools.
"""

import contextlib
import copy
from collections.abc import AsyncGenerator, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from mcp.server.lowlevel import Server

from sayso.approvals import Channel
from sayso.policy import Policy, Principal
from sayso.serve import Middleware, Runtime, Settings, framework_of


@dataclass(frozen=True, slots=True)
class Terms:
    """Under what a test uses a server; `store` keeps its record. `None` is as its author has it."""

    store: str
    principal: Principal | None = None
    policy: Policy | None = None
    channels: Sequence[Channel] = ()
    patience: float = 45.0


def lowlevel_of(server: object) -> Server[Any]:
    """The SDK's server inside of `server`. Raises `UsageError` for what is no server."""
    if isinstance(server, Server):
        return server  # pyright: ignore[reportUnknownVariableType] - of any state
    return framework_of(server).lowlevel


def door_of(lowlevel: Server[Any]) -> Middleware | None:
    """The door that `bind` has put in, if it has."""
    return next(
        (middleware for middleware in lowlevel.middleware if isinstance(middleware, Middleware)),
        None,
    )


def settings_of(door: Middleware) -> Settings:
    """What the author's guard is made of."""
    return door.runtime.settings


def declared_in(door: Middleware) -> list[Any]:
    """The entries of all tools as their author declares them, once they were listed."""
    return [dict(tool.raw) for tool in door.registry.tools.values()]


def seated(lowlevel: Server[Any], door: Middleware, terms: Terms) -> Server[Any]:
    """The same server under other terms; opened and closed as a client comes and goes."""
    found = settings_of(door)
    settings = replace(
        found,
        store=terms.store,
        policy=terms.policy or found.policy,
        channels=terms.channels,
        patience=terms.patience,
        console=None,
    )
    own = replace(door, principal=terms.principal or door.principal)
    engine = Runtime(settings, own.find, own.run)
    own.runtime = engine
    view = copy.copy(lowlevel)
    view.middleware = [
        own if middleware is door else middleware for middleware in lowlevel.middleware
    ]

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncGenerator[Any]:
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(engine.opened())
            # The author's guard opens with the author's lifespan, and must not touch their store.
            with _apart(door.runtime, terms):
                state = await stack.enter_async_context(lowlevel.lifespan(lowlevel))
            yield state

    view.lifespan = lifespan
    return view


_moved: Final[dict[int, tuple[int, Settings]]] = {}
"""How many have put an engine's store elsewhere, and what its settings were before."""


@contextlib.contextmanager
def _apart(engine: Runtime, terms: Terms) -> Generator[None]:
    """While entered, it opens at the store of `terms`, for their caller if there is one."""
    count, before = _moved.get(id(engine), (0, engine.settings))
    _moved[id(engine)] = (count + 1, before)
    has_principal = before.has_principal or terms.principal is not None
    engine.settings = replace(before, store=terms.store, has_principal=has_principal)
    try:
        yield
    finally:
        count, before = _moved.pop(id(engine))
        if count > 1:
            _moved[id(engine)] = (count - 1, before)
        else:
            engine.settings = before
