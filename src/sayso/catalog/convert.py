"""Conversion of any kind of tool to the catalog's tool."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from sayso.catalog.tool import Tool, make_tool
from sayso.errors import UsageError
from sayso.intent import Trust


def as_tool(given: object, *, server: str = "", trust: Trust | None = None) -> Tool:
    """Return the catalog tool for any kind of tool.

    `given` is a catalog tool (returned unchanged), an entry of `tools/list`, a tool of the SDK or
    of FastMCP, or a `ToolDefinition`. Hints are read raw: `"true"` is not `true`. `trust` is
    `cautious` by default, and `trusted` for a `ToolDefinition`, which is your own. Raises
    `UsageError` for any other object.

    >>> as_tool({"name": "notes_list", "annotations": {"readOnlyHint": True}}).level
    <Level.READ: 'read'>
    """
    if isinstance(given, Tool):
        return given
    if callable(getattr(given, "to_mcp_schema", None)):
        # The author has declared everything, so nothing is inferred.
        return make_tool(server, raw_of(given), trust=trust or Trust.TRUSTED, infer=False)
    return make_tool(server, raw_of(given), trust=trust or Trust.CAUTIOUS)


def as_tools(
    given: Iterable[object], *, server: str = "", trust: Trust | None = None
) -> list[Tool]:
    """Return the catalog tools for tools of any kind that `as_tool` accepts.

    >>> [tool.name for tool in as_tools([{"name": "notes_list"}, {"name": "note_delete"}])]
    ['notes_list', 'note_delete']
    """
    return [as_tool(tool, server=server, trust=trust) for tool in given]


def raw_of(given: object) -> Mapping[str, Any]:
    """Return a tool as an entry of `tools/list`. Raises `UsageError` if `given` is no tool.

    >>> raw_of({"name": "notes_list"})
    {'name': 'notes_list'}
    """
    if isinstance(given, Tool):
        return given.raw
    if isinstance(given, Mapping):
        return cast("Mapping[str, Any]", given)
    raw = _written(given)
    if not isinstance(raw, Mapping):
        what = f"{type(given).__name__} is not a tool"
        raise UsageError(what, fix="Pass sayso's tools, entries of tools/list, or the SDK's tools.")
    return cast("Mapping[str, Any]", raw)


def _written(given: object) -> object:
    if isinstance(given, type):
        return None
    for name in ("to_mcp_schema", "to_mcp_tool"):
        write = cast("Callable[[], object] | None", getattr(given, name, None))
        if callable(write):
            written = write()
            return cast("object", written) if isinstance(written, Mapping) else _dumped(written)
    return _dumped(given)


def _dumped(given: object) -> object:
    dump = cast("Callable[..., object] | None", getattr(given, "model_dump", None))
    if not callable(dump):
        return None
    return dump(mode="json", by_alias=True, exclude_none=True)
