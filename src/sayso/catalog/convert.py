"""One kind of tool: whatever a caller has as a tool, made into sayso's."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from sayso.catalog.tool import Tool, make_tool
from sayso.errors import UsageError
from sayso.intent import Trust


def as_tool(given: object, *, server: str = "", trust: Trust | None = None) -> Tool:
    """Return the catalog's tool for what is given.

    `given` is a catalog tool (returned as it is), an entry of `tools/list`, a tool of the SDK or
    of FastMCP, or a `ToolDefinition`. Hints are read raw: an entry's `"true"` is no `true`.
    `trust` is how far the declared hints count: `cautious` by default, and `trusted` for a
    `ToolDefinition`, which is your own. Raises `UsageError` for what is no tool.

    >>> as_tool({"name": "notes_list", "annotations": {"readOnlyHint": True}}).level
    <Level.READ: 'read'>
    """
    if isinstance(given, Tool):
        return given
    if callable(getattr(given, "to_mcp_schema", None)):
        # Its author has said all of it, so its texts suggest nothing.
        return make_tool(server, raw_of(given), trust=trust or Trust.TRUSTED, infer=False)
    return make_tool(server, raw_of(given), trust=trust or Trust.CAUTIOUS)


def as_tools(
    given: Iterable[object], *, server: str = "", trust: Trust | None = None
) -> list[Tool]:
    """Return the catalog's tools for all that is given; see `as_tool`.

    >>> [tool.name for tool in as_tools([{"name": "notes_list"}, {"name": "note_delete"}])]
    ['notes_list', 'note_delete']
    """
    return [as_tool(tool, server=server, trust=trust) for tool in given]


def raw_of(given: object) -> Mapping[str, Any]:
    """Return a tool as its entry of `tools/list`. Raises `UsageError` for what is no tool.

    >>> raw_of({"name": "notes_list"})
    {'name': 'notes_list'}
    """
    if isinstance(given, Tool):
        return given.raw
    if isinstance(given, Mapping):
        return cast("Mapping[str, Any]", given)
    found = _written(given)
    if not isinstance(found, Mapping):
        what = f"{type(given).__name__} is no tool"
        fix = "Give sayso's tools, entries of tools/list, or the SDK's tools."
        raise UsageError(what, fix=fix)
    return cast("Mapping[str, Any]", found)


def _written(given: object) -> object:
    if isinstance(given, type):
        return None
    for name in ("to_mcp_schema", "to_mcp_tool"):
        write = cast("Callable[[], object] | None", getattr(given, name, None))
        if callable(write):
            found = write()
            if isinstance(found, Mapping):
                return cast("Mapping[str, Any]", found)
            return _dumped(found)
    return _dumped(given)


def _dumped(given: object) -> object:
    dump = cast("Callable[..., object] | None", getattr(given, "model_dump", None))
    if not callable(dump):
        return None
    return dump(mode="json", by_alias=True, exclude_none=True)
