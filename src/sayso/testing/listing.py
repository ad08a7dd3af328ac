"""The tools that a server lists, as assertions read them."""

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
from sayso.testing.session import TIMEOUT_SECONDS, open_session, target_of

T = TypeVar("T")

_MAX_NAMED: Final = 12


@dataclass(frozen=True, slots=True)
class Surface:
    """The tools of one server, and the `problems` of invalid entries.

    `is_bound` says whether they are declared with sayso, which decides the advice in messages.

    >>> Surface("crm", ()).problems
    ()
    """

    name: str
    tools: tuple[Tool, ...]
    problems: tuple[str, ...] = ()
    is_bound: bool = False

    def tool(self, name: str) -> Tool:
        """Return the tool of this name. Raises `UsageError` with similar names."""
        names = [tool.name for tool in self.tools]
        if name in names:
            return self.tools[names.index(name)]
        shown = names[:_MAX_NAMED]
        if len(names) > _MAX_NAMED:
            shown.append("…")
        fix = likely(name, names) or f"Its tools: {', '.join(shown) or 'none'}."
        raise UsageError(f"no tool {name!r}", where=self.name, fix=fix)


def likely(name: str, names: Iterable[str]) -> str | None:
    """Return a suggestion of the most similar name; `None` without one.

    >>> likely("raed", ["read", "write"])
    "Did you mean 'read'?"
    """
    close = get_close_matches(name, [str(known) for known in names], n=1)
    return f"Did you mean {close[0]!r}?" if close else None


async def read_surface(server: object, *, timeout: float = TIMEOUT_SECONDS) -> Surface:
    """Read all tools of `server`, including those that its guard would hide.

    `timeout` is in seconds. Raises `SaysoError`.

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
        except Exception as error:  # noqa: BLE001 - raised below, outside of task groups
            found = error
    if isinstance(found, Surface):
        return found
    raise found


def surface_of(server: object, *, where: str, instead: str | None = None) -> Surface:
    """Return `server` if it is a surface, or read its surface.

    Raises `UsageError` inside an event loop, which names the assertion `where` and suggests to
    write `instead`.
    """
    if isinstance(server, Surface):
        return server
    usual = f"{where}(await sayso.testing.read_surface(server), …)"
    return run_here(partial(read_surface, server), where=where, instead=instead or usual)


def _made(name: str, entries: list[Any], *, is_bound: bool = False) -> Surface:
    tools, problems = read_tools(name, entries)
    names = [tool.name for tool in tools]
    twice = sorted({name for name in names if names.count(name) > 1})
    problems += [f"{name}: two tools are named {tool!r}" for tool in twice]
    return Surface(name, tuple(tools), tuple(problems), is_bound)


def run_here(work: Callable[[], Awaitable[T]], *, where: str, instead: str) -> T:
    """Run `work` in a new event loop, and return its result.

    Raises `UsageError` inside a running one, which names the function `where` and suggests to write
    `instead`.
    """
    try:
        anyio.lowlevel.current_token()
    except RuntimeError:
        return anyio.run(work)
    raise UsageError("an event loop is already running", where=where, fix=f"Write {instead}.")
