"""A check that a framework runs the same function for which the guard decided.

After the decision, the framework's lookups, middleware and versions may still select another
function. So the check is at the framework's last lookup. The check also stops a tool that calls
another tool by name, because the guard has not seen that call.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

from sayso.errors import UsageError
from sayso.serve.call_context import Running, current_call
from sayso.serve.functions import is_same_function

_CHECKED: Final = "__sayso_entering__"
_JUDGED: Final = ("name", "description", "inputSchema", "annotations")
"""The fields that identify a listed tool. Versions of a tool have the same name."""


class BypassError(UsageError):
    """A call that would run another function than the one for which the guard decided."""


def watch_manager(manager: Any) -> None:
    """Check each tool that an `MCPServer` runs."""
    if getattr(manager.call_tool, _CHECKED, False):
        return
    original = manager.call_tool

    async def call_tool(name: str, *args: Any, **kwargs: Any) -> Any:
        now = current_call()
        tool = manager.get_tool(name)
        if now is not None and tool is not None and now.server is manager:
            _check(now, name, tool.fn)
        return await original(name, *args, **kwargs)

    setattr(call_tool, _CHECKED, True)
    manager.call_tool = call_tool


def watch_components() -> None:
    """Check each tool that a `FastMCP` runs, including tools of mounted servers."""
    from fastmcp.server.providers.fastmcp_provider import FastMCPProviderTool  # noqa: PLC0415 - an extra, imported where it is used
    from fastmcp.tools.base import Tool  # noqa: PLC0415 - as above

    for kind in (Tool, FastMCPProviderTool):
        original = kind._run  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - FastMCP enters tools by it, and has no public way
        if not getattr(original, _CHECKED, False):
            kind._run = _checked(original)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - as above


def _checked(original: Callable[[Any, dict[str, Any]], Any]) -> Any:
    @functools.wraps(original)
    async def run(self: Any, arguments: dict[str, Any]) -> Any:
        now = current_call()
        if now is None or not _is_of(now.server, _current_server()):
            return await original(self, arguments)
        outer = now.entered
        if outer is None:
            _check(now, self.name, getattr(self, "fn", None), _wire(self))
        elif (self.name, self.version) not in _delegates(outer):
            raise _bypassed(now, self.name)
        now.entered = self
        try:
            return await original(self, arguments)
        finally:
            now.entered = outer

    setattr(run, _CHECKED, True)
    return run


def _check(
    now: Running,
    name: str,
    function: Callable[..., Any] | None,
    wire: Mapping[str, Any] | None = None,
) -> None:
    is_other = wire is not None and not _is_listed(wire, now.raw)
    if name != now.call.name or is_other or not _holds(function, now.function):
        raise _bypassed(now, name)


def _is_listed(wire: Mapping[str, Any], raw: Mapping[str, Any]) -> bool:
    """Return whether a tool is the listed one. FastMCP lists schemas with each `$ref` resolved."""
    differing = [key for key in _JUDGED if wire.get(key) != raw.get(key)]
    if differing != ["inputSchema"]:
        return not differing
    from fastmcp.utilities.json_schema import dereference_refs  # noqa: PLC0415 - as above

    return dereference_refs(wire["inputSchema"]) == raw.get("inputSchema")


def _holds(function: Callable[..., Any] | None, judged: Callable[..., Any] | None) -> bool:
    return (function is None and judged is None) or is_same_function(function, judged)


def _bypassed(now: Running, name: str) -> BypassError:
    now.is_bypassed = True
    what = f"the tool {name!r} was called without sayso's guard"
    return BypassError(what, fix="Call the tool through a client of the bound server.")


def _delegates(tool: Any) -> set[tuple[str, str | None]]:
    delegates: set[tuple[str, str | None]] = set()
    inner = tool
    while inner is not None:
        name = getattr(inner, "_original_name", None)
        if isinstance(name, str):
            delegates.add((name, inner.version))
        inner = getattr(inner, "parent_tool", None)
    return delegates


def _is_of(bound: Any, server: Any) -> bool:
    if server is None or bound is None:
        return False
    return server is bound or any(_is_of(mounted, server) for mounted in mounted_in(bound))


def mounted_in(server: Any) -> list[Any]:
    """Return the servers that are mounted in a `FastMCP`."""
    servers: list[Any] = []
    for provider in server.providers:
        inner = provider
        while (wrapped := getattr(inner, "_inner", None)) is not None:
            inner = wrapped
        mounted = getattr(inner, "server", None)
        if mounted is not None:
            servers.append(mounted)
    return servers


def _current_server() -> Any:
    from fastmcp.server.dependencies import get_context  # noqa: PLC0415 - as above

    try:
        return get_context().fastmcp
    except RuntimeError:
        return None


def _wire(tool: Any) -> dict[str, Any]:
    return tool.to_mcp_tool().model_dump(mode="json", by_alias=True, exclude_none=True)
