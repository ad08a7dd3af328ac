"""Copies of a bound server with a test's own guard.

Only this module knows how `bind` changes a server. The author's server does not change: a test gets
a copy of the SDK's server with its own middleware and guard. Several copies can be open at once,
each with its own caller, policy and approver; they share the author's tools.
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
class GuardOptions:
    """The test's settings of a guard; `None` keeps the author's setting."""

    store: str
    principal: Principal | None = None
    policy: Policy | None = None
    channels: Sequence[Channel] = ()
    patience: float = 45.0


def lowlevel_of(server: object) -> Server[Any]:
    """Return the SDK's server inside `server`. Raises `UsageError` if it is not a server."""
    if isinstance(server, Server):
        return server  # pyright: ignore[reportUnknownVariableType] - of any state
    return framework_of(server).lowlevel


def middleware_of(lowlevel: Server[Any]) -> Middleware | None:
    """Return the middleware of `bind`, if the server is bound."""
    return next((entry for entry in lowlevel.middleware if isinstance(entry, Middleware)), None)


def settings_of(middleware: Middleware) -> Settings:
    """Return the settings of the author's guard."""
    return middleware.runtime.settings


def declared_in(middleware: Middleware) -> list[Any]:
    """Return the entries of all listed tools as their author declares them."""
    return [dict(tool.raw) for tool in middleware.registry.tools.values()]


def with_own_guard(
    lowlevel: Server[Any], middleware: Middleware, options: GuardOptions
) -> Server[Any]:
    """Return a copy of the server with its own guard, which is open while a client is connected."""
    author = settings_of(middleware)
    settings = replace(
        author,
        store=options.store,
        policy=options.policy or author.policy,
        channels=options.channels,
        patience=options.patience,
        console=None,
    )
    own = replace(middleware, principal=options.principal or middleware.principal)
    runtime = Runtime(settings, own.find, own.run)
    own.runtime = runtime
    view = copy.copy(lowlevel)
    view.middleware = [own if entry is middleware else entry for entry in lowlevel.middleware]

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncGenerator[Any]:
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(runtime.opened())
            # The author's guard opens with the author's lifespan, and must not use their store.
            with _diverted(middleware.runtime, options):
                state = await stack.enter_async_context(lowlevel.lifespan(lowlevel))
            yield state

    view.lifespan = lifespan
    return view


_diversions: Final[dict[int, tuple[int, Settings]]] = {}
"""For each diverted runtime, the number of users and its original settings."""


@contextlib.contextmanager
def _diverted(engine: Runtime, options: GuardOptions) -> Generator[None]:
    """Make a runtime open the store of `options` while the context is active."""
    count, before = _diversions.get(id(engine), (0, engine.settings))
    _diversions[id(engine)] = (count + 1, before)
    has_principal = before.has_principal or options.principal is not None
    engine.settings = replace(before, store=options.store, has_principal=has_principal)
    try:
        yield
    finally:
        count, before = _diversions.pop(id(engine))
        if count > 1:
            _diversions[id(engine)] = (count - 1, before)
        else:
            engine.settings = before
