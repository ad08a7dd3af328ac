"""A server's tools as it lists them, read once: what most assertions are about."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, Final, TypeVar

import anyio
import anyio.lowlevel

from sayso.catalog import Tool, read_tools
from sayso.connect import SavedTarget
from sayso.errors import UsageError
from sayso.testing.session import SECONDS, open_session, target_of

T = TypeVar("T")

_MOST_NAMES: Final = 12


@dataclass(frozen=True, slots=True)
class Surface:
    """The tools of one server; `problems` are about entries of its list that are no tools.

    `is_bound` tells that they are declared with sayso, and so how to declare them better.

    >>> Surface("crm", ()).problems
    ()
    """

    name: str
    tools: tuple[Tool, ...]
    problems: tuple[str, ...] = ()
    is_bound: bool = False

    def tool(self, name: str) -> Tool:
        """The tool of this name. Raises `UsageError` with those that were perhaps meant."""
        names = [tool.name for tool in self.tools]
        if name in names:
            return self.tools[names.index(name)]
        shown = names[:_MOST_NAMES]
        if len(names) > _MOST_NAMES:
            shown.append("…")
        fix = likely(name, names) or f"Its tools are: {', '.join(shown) or 'none'}."
        raise UsageError(f"there is no tool {name!r}", where=self.name, fix=fix)


def likely(name: str, names: Iterable[str]) -> str | None:
    """Return a question after the name that was perhaps meant; `None` if none is close.

    >>> likely("raed", ["read", "write"])
    "Did you mean 'read'?"
    """
    close = get_close_matches(name, [str(known) for known in names], n=1)
    if not close:
        return None
    return f"Did you mean {close[0]!r}?"


async def read_surface(server: object, *, timeout: float = SECONDS) -> Surface:
    """The tools of `server`, all of them: no guard hides any; `timeout` in seconds.

    Raises a `SaysoError` that says why they cannot be had.

    >>> import anyio
    >>> from mcp.server import MCPServer
    >>> anyio.run(read_surface, MCPServer("crm")).name
    'crm'
    """
    target = target_of(server)
    if isinstance(target, SavedTarget):
        return _made(target.name, list(target.tools))
    found: Any = None
    async with open_session(target or server, timeout=timeout) as session:
        try:
            entries = await session.entries()
            found = _made(session.name, entries, is_bound=session.declared is not None)
        except Exception as error:  # noqa: BLE001 - raised below, outside of the groups of tasks
            found = error
    if isinstance(found, Surface):
        return found
    raise found


def surface_of(server: object, *, where: str, instead: str | None = None) -> Surface:
    """`server` itself where it is a surface, else what is read of it now.

    Raises `UsageError` inside of an event loop; `where` is the assertion that was called, and
    `instead` how it is to be written there.
    """
    if isinstance(server, Surface):
        return server
    usual = f"{where}(await sayso.testing.read_surface(server), …)"
    return run_here(partial(read_surface, server), where=where, instead=instead or usual)


def _made(name: str, entries: list[Any], *, is_bound: bool = False) -> Surface:
    tools, problems = read_tools(name, entries)
    names = [tool.name for tool in tools]
    twice = sorted({name for name in names if names.count(name) > 1})
    problems += [f"{name}: two tools are called {tool!r}" for tool in twice]
    return Surface(name, tuple(tools), tuple(problems), is_bound)


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
